"""Stream managers carry each frame once and in order over connections that are lost, believe nobody who proves nothing, and press back."""

from __future__ import annotations

from random import Random

import pytest

from ouzel.planner.settings import Delivery, Settings
from ouzel.runtime.protocol.back_pressure import FORGET_MS
from ouzel.runtime.protocol.cluster.links import INTRODUCTION_LOOKS, INTRODUCTION_MS, STRANGERS_MAX
from ouzel.runtime.protocol.pace import LATER_S, REST_REPORT_MS
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import pack_header
from tests.effort import seeds
from tests.protocol.cluster.wires import TOKEN, Cluster, TaskEnd, frame

HIGH, LOW = 4_000, 1_000
REPORT_MS = 1e3 * LATER_S
SMALL = Settings(high_watermark_bytes=HIGH, low_watermark_bytes=LOW)
UNTRACKED = Settings(delivery=Delivery.AT_MOST_ONCE, high_watermark_bytes=HIGH, low_watermark_bytes=LOW)
ONCE = Settings(delivery=Delivery.EFFECTIVELY_ONCE, high_watermark_bytes=HIGH, low_watermark_bytes=LOW)
END = -1


def linked(settings: Settings = Settings(), seed: int = 0) -> Cluster:
    cluster = Cluster(settings, seed=seed)
    cluster.send_plan()
    cluster.dial_all()
    cluster.run()
    return cluster


def read(cluster: Cluster, *tasks: TaskEnd) -> None:
    cluster.run()
    for task in tasks:
        task.read()


def greet(**hello: object) -> bytes:
    return pack_header(wire_pb2.HELLO, 0, wire_pb2.Header(hello=wire_pb2.Hello(**hello)))  # type: ignore[arg-type]


def test_frames_go_to_tasks_here_and_in_other_containers() -> None:
    cluster = linked()
    spout, here, there = map(cluster.connect_task, (1, 3, 4))
    spout.send(frame(1, destination=3), frame(2, destination=4), frame(3, destination=3))
    read(cluster, here, there)
    assert (here.ids(), there.ids()) == ([1, 3], [2])


def test_frames_wait_for_a_task_and_for_a_container_that_come_late() -> None:
    cluster = Cluster()
    spout = cluster.connect_task(1)
    spout.send(frame(1, destination=3), frame(2, destination=4))
    cluster.run()
    assert cluster.machines[1].is_waiting
    cluster.send_plan()
    cluster.dial_all()
    here, there, *_ = map(cluster.connect_task, (3, 4, 2, 5))
    read(cluster, here, there)
    assert (here.ids(), there.ids()) == ([1], [2])
    assert not cluster.machines[1].is_waiting


@pytest.mark.parametrize("seed", seeds())
def test_a_connection_lost_at_any_byte_loses_and_doubles_no_frame(seed: int) -> None:
    random, cluster = Random(seed), linked(seed=seed)
    cluster.gives = random.choice([50, 300, 1 << 20])
    spout, bolt = cluster.connect_task(1), cluster.connect_task(4)
    sent = 0
    for _ in range(30):
        count = random.randrange(40)
        spout.send(*(frame(sent + one, destination=4, size=8 * random.randrange(20)) for one in range(count)))
        sent += count
        cluster.run(rounds=random.randrange(20))
        if random.random() < 0.4:
            cluster.cut_between(1, 2, random.randrange(3_000))
            if random.random() < 0.5:
                cluster.dial_all()
        read(cluster, bolt)
        if random.random() < 0.5:
            cluster.tick()
            cluster.dial_all()
    cluster.dial_all()
    read(cluster, bolt)
    assert bolt.ids() == list(range(sent)), f"replay with seed={seed}"


def test_a_connection_that_is_dialled_anew_ends_the_one_before() -> None:
    """What was unread on it had been counted as not arrived, was sent again, and was then read on both."""
    cluster = linked()
    spout, bolt = cluster.connect_task(1), cluster.connect_task(4)
    cluster.gives = 40
    cluster.cut_between(1, 2)
    cluster.run()
    cluster.dial_all()
    cluster.run()
    spout.send(*(frame(number, destination=4) for number in range(50)))
    cluster.run(rounds=3)
    cluster.cut_between(1, 2)
    cluster.dial_all()
    read(cluster, bolt)
    assert bolt.ids() == list(range(50))


def test_a_stream_manager_that_was_started_again_gets_what_still_waits() -> None:
    cluster = linked()
    spout, bolt = cluster.connect_task(1), cluster.connect_task(4)
    spout.send(*(frame(number, destination=4) for number in range(70)))
    read(cluster, bolt)
    cluster.start(2)
    spout.send(frame(70, destination=4))
    cluster.run()
    cluster.send_plan()
    cluster.dial_all()
    bolt = cluster.connect_task(4)
    read(cluster, bolt)
    assert bolt.ids()[-1] == 70
    assert len(bolt.ids()) == len(set(bolt.ids())) <= 7, "of those before, only what the dead one had not acknowledged"


def test_tasks_hear_of_the_plan_when_they_come_and_when_it_changes() -> None:
    cluster = Cluster()
    early = cluster.connect_task(1)
    read(cluster, early)
    assert early.frames == [], "nothing is asked before there is a plan"
    cluster.send_plan(pause=7, version=8)
    late = cluster.connect_task(3)
    read(cluster, early, late)
    for task in (early, late):
        assert {(one.header().plan.version, one.header().plan.pause) for one in task.frames} == {(8, 7)}


def test_a_plan_of_an_older_leadership_is_dropped() -> None:
    cluster = Cluster()
    task = cluster.connect_task(1)
    read(cluster, task)
    for version, leadership in ((8, 1), (5, 2), (9, 1), (6, 2)):
        cluster.send_plan(version=version, leadership=leadership)
        read(cluster, task)
    assert [one.header().plan.version for one in task.frames] == [8, 5, 6]


@pytest.mark.parametrize(
    "greeting",
    [
        greet(task=3, token=b"no token"),
        greet(task=4, token=TOKEN),
        greet(task=99, token=TOKEN),
        greet(container=2, nonce=b"short"),
        frame(1, destination=3).view,
        pack_header(wire_pb2.PROOF, 0, wire_pb2.Header(hello=wire_pb2.Hello(proof=b"x" * 32))),
        pack_header(wire_pb2.CHALLENGE, 0, wire_pb2.Header(hello=wire_pb2.Hello(nonce=b"x" * 16, proof=b"x" * 32))),
        greet(task=3, token=TOKEN) + greet(task=3, token=TOKEN),
    ],
)
def test_who_proves_nothing_is_hung_up_on(greeting: bytes) -> None:
    cluster = linked()
    bolt = cluster.connect_task(3)
    stranger = cluster.connect(1, bytes(greeting))
    read(cluster, stranger, bolt)
    assert stranger.kinds()[-1:] == [END]
    assert bolt.ids() == []


def test_a_proof_that_was_overheard_is_worth_nothing_again() -> None:
    cluster = linked()
    hello = greet(container=2, incarnation=2, nonce=b"n" * 16)
    overheard = cluster.connect(1, hello)
    read(cluster, overheard)
    assert overheard.kinds() == [wire_pb2.CHALLENGE]
    again = cluster.connect(1, hello)
    read(cluster, again)
    assert again.frames[0].header().hello.nonce != overheard.frames[0].header().hello.nonce


def test_strangers_are_let_go_when_they_had_time_and_when_they_are_many() -> None:
    cluster = Cluster()
    known, stranger = cluster.connect_task(1), cluster.connect(1, b"")
    cluster.run()
    for _ in range(2 * INTRODUCTION_LOOKS):
        cluster.tick(by_ms=0.0)
    read(cluster, stranger)
    assert stranger.kinds() == [], "however often somebody looks, no time has passed"
    cluster.tick(by_ms=INTRODUCTION_MS + 1)
    read(cluster, known, stranger)
    assert (known.kinds(), stranger.kinds()) == ([], [END])
    many = [cluster.connect(1, b"") for _ in range(STRANGERS_MAX + 2)]
    cluster.tick()
    read(cluster, *many)
    assert [one.kinds() for one in many] == [[END]] * 2 + [[]] * STRANGERS_MAX


def test_a_task_that_reads_nothing_holds_back_those_who_feed_it_and_no_others() -> None:
    cluster = linked(SMALL)
    first, second = cluster.connect_task(1), cluster.connect_task(2)
    bolt, other = cluster.connect_task(3, room=64), cluster.connect_task(4)
    first.send(*(frame(number, destination=3, size=1_000) for number in range(5)))
    read(cluster, first, second, other)
    for spout in (first, second):
        assert [one.header().source for one in spout.frames if one.kind == wire_pb2.SLOW] == [3]
    assert wire_pb2.SLOW not in other.kinds()
    bolt.incoming.room = 1 << 20
    cluster.touch(1, 3)
    read(cluster, first, second, bolt)
    assert first.kinds()[-1] == second.kinds()[-1] == wire_pb2.RELIEVED
    assert bolt.ids() == list(range(5))


def test_while_a_task_pauses_its_rows_stay_and_acks_pass() -> None:
    cluster = linked(SMALL)
    bolt, peer = cluster.connect_task(3), cluster.connect_task(1)
    peer.send(frame(0, wire_pb2.SLOW, destination=3, source=5))
    peer.send(
        frame(1, destination=3), frame(2, wire_pb2.ACK, destination=3), frame(3, wire_pb2.WATERMARK, destination=3)
    )
    read(cluster, bolt)
    assert bolt.kinds() == [wire_pb2.SLOW, wire_pb2.ACK]
    peer.send(frame(4, wire_pb2.RELIEVED, destination=3, source=5))
    read(cluster, bolt)
    assert bolt.kinds()[2:] == [wire_pb2.DATA, wire_pb2.WATERMARK, wire_pb2.RELIEVED]


def test_a_pause_that_is_not_repeated_is_forgotten() -> None:
    """Whoever said it died: nobody needs to say that it is over."""
    cluster = linked(SMALL)
    bolt, peer = cluster.connect_task(3), cluster.connect_task(1)
    peer.send(frame(0, wire_pb2.SLOW, destination=3, source=5), frame(1, destination=3))
    cluster.run()
    cluster.tick(FORGET_MS - 1)
    read(cluster, bolt)
    assert bolt.ids() == []
    cluster.tick(1)
    read(cluster, bolt)
    assert bolt.ids() == [1]


def test_a_task_that_has_died_takes_no_link_from_the_one_after_it_though_it_is_read_later() -> None:
    cluster = linked()
    died = cluster.connect_task(3)
    died.outgoing.lose()
    bolt = cluster.connect_task(3)
    for end in reversed(cluster.ends[-2:]):
        cluster._read(end)
    cluster.run()
    cluster.connect_task(1).send(frame(7, destination=3))
    cluster.run()
    read(cluster, bolt)
    assert bolt.ids() == [7]


@pytest.mark.parametrize(("settings", "all_come"), [(SMALL, False), (ONCE, False), (UNTRACKED, True)])
def test_what_nobody_fetches_is_dropped_only_where_it_is_replayed(settings: Settings, all_come: bool) -> None:
    cluster = linked(settings)
    spout = cluster.connect_task(1)
    spout.send(*(frame(number, destination=3, size=1_000) for number in range(40)))
    cluster.run()
    bolt = cluster.connect_task(3)
    read(cluster, bolt)
    report = cluster.machines[1].report_if_due(0, cluster.now)
    assert report is not None
    assert (len(bolt.ids()) == 40) == (report.dropped == 0) == all_come
    assert bolt.ids() == list(range(len(bolt.ids())))


@pytest.mark.parametrize(("settings", "told"), [(SMALL, [1, 2]), (ONCE, [1, 2]), (UNTRACKED, [])])
def test_while_a_frame_takes_long_to_arrive_its_holders_hear_that_it_is_not_lost(
    settings: Settings, told: list[int]
) -> None:
    cluster = linked(settings)
    tasks = {task: cluster.connect_task(task) for task in (1, 2, 4)}
    cluster.run()
    cluster.now += 1
    for machine in (cluster.machines[1],):
        machine.on_tick(cluster.now, [3])
    read(cluster, *tasks.values())
    assert [task for task, end in tasks.items() if wire_pb2.STALLED in end.kinds()] == told


def test_small_frames_gather_while_more_arrives_and_large_ones_go() -> None:
    cluster = linked()
    machine, bolt, other = cluster.machines[1], cluster.connect_task(3), cluster.connect_task(5)
    spout = cluster.connect_task(1)
    cluster.run()
    machine.take_due(cluster.now, busy=False)
    spout.send(frame(1, destination=3), frame(2, destination=5, size=100_000))
    cluster.run(busy=True)
    read_now = [one.read() or one.ids() for one in (bolt, other)]
    assert read_now == [[], [2]]
    cluster.now += Settings().cache_drain_ms
    cluster.run(busy=True)
    bolt.read()
    assert bolt.ids() == [1]


def test_who_has_waited_longest_is_dialled_first() -> None:
    cluster = Cluster(containers=4)
    machine = cluster.machines[1]
    cluster.send_plan()
    assert [one.container for one in machine.next_dials()] == [2, 3, 4]
    machine.on_dialling(2, 10.0)
    machine.on_dialling(3, 5.0)
    assert [one.container for one in machine.next_dials()] == [4, 3, 2]
    cluster.dial(machine, machine.next_dials()[0])
    assert [one.container for one in machine.next_dials()] == [3, 2], "one that is on its way is not dialled again"


def test_reports_come_seldom_while_all_is_quiet() -> None:
    machine = Cluster().machines[1]
    assert machine.report_if_due(10, 0.0) is not None
    assert machine.report_if_due(20, REPORT_MS - 1) is None
    assert machine.report_if_due(20, REPORT_MS) is not None
    assert machine.report_if_due(20, 2 * REPORT_MS) is not None, "quiet from now on"
    assert machine.report_if_due(20, 2 * REPORT_MS + REST_REPORT_MS - 1) is None
    assert machine.report_if_due(20, 2 * REPORT_MS + REST_REPORT_MS) is not None
