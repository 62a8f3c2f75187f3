"""The acker: XOR trees, attempts, and time that runs only while others make progress."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from ouzel.runtime.protocol.acker import EVERYTHING, RESEND_PAUSE_MS, STALL_HOLDS_MS, Acker
from ouzel.runtime.protocol.ids import mix
from ouzel.runtime.protocol.messages import Ack, Data, Root

FRAME = pl.DataFrame({"word": ["a"]})


def emit(acker: Acker, *ids: int, now_ms: float = 0.0, rows: int = 1) -> Root:
    root = acker.next_root()
    messages = [Data(0, 1, 2, number, (root,), FRAME) for number in ids]
    acker.hold(root, messages, rows, None, now_ms)
    return root


def test_a_tree_is_done_when_every_id_was_made_and_handled() -> None:
    acker = Acker(1, 0, 1_000)
    root = emit(acker, 5, 9)
    assert acker.on_ack(Ack(1, root, 5 ^ 77), 1) is None  # 5 handled, child 77 made
    assert acker.on_ack(Ack(1, root, 9), 1) is None
    assert acker.on_ack(Ack(1, root, 77), 1) is not None
    assert acker.pending_rows == 0


@given(st.permutations(range(1, 20)))
def test_acks_may_come_in_any_order(order: list[int]) -> None:
    acker = Acker(1, 0, 1_000)
    root = emit(acker, *map(mix, range(1, 20)))
    done = [acker.on_ack(Ack(1, root, mix(number)), 1) for number in order]
    assert [batch is not None for batch in done] == [False] * 18 + [True]


def test_an_ack_of_an_earlier_attempt_is_void() -> None:
    acker = Acker(1, 0, 1_000)
    first = emit(acker, 5)
    (held,) = acker.on_fail(first, 10)
    again = held.messages[0].roots[0]
    assert again.attempt == 1
    assert acker.on_ack(Ack(1, first, 5), 11) is None
    assert acker.on_ack(Ack(1, again, 5), 12) is not None


def test_settled_is_the_oldest_that_is_not_done() -> None:
    acker = Acker(1, 3, 1_000)
    roots = [emit(acker, number) for number in (1, 2, 3)]
    acker.on_ack(Ack(1, roots[1], 2), 1)
    assert acker.settled == roots[0].sequence
    acker.on_ack(Ack(1, roots[0], 1), 1)
    assert acker.settled == roots[2].sequence
    acker.on_ack(Ack(1, roots[2], 3), 1)
    assert acker.settled == roots[2].sequence + 1 == (3 << 32) + 4


def test_a_batch_is_lost_only_when_later_ones_came_through() -> None:
    acker = Acker(1, 0, 1_000)
    emit(acker, 1, now_ms=0)
    later = emit(acker, 2, now_ms=900)
    acker.on_ack(Ack(1, later, 2), 1_050)
    (held,) = acker.take_overdue(1_060)
    assert held.messages[0].id == 1


def test_slow_is_not_lost() -> None:
    acker = Acker(1, 0, 1_000)
    emit(acker, 1, now_ms=0)
    young = emit(acker, 2, now_ms=500)
    emit(acker, 3, now_ms=500)
    acker.on_ack(Ack(1, young, 2), 1_400)
    assert [held.messages[0].id for held in acker.take_overdue(1_450)] == [
        1
    ]  # 3 was sent 900 ms before the last progress


def test_when_nothing_comes_through_all_is_tried_once_more() -> None:
    acker = Acker(1, 0, 1_000)
    emit(acker, 1, now_ms=0)
    emit(acker, 2, now_ms=0)
    assert acker.take_overdue(999) == []
    assert len(acker.take_overdue(1_000)) == 2
    assert acker.take_overdue(1_500) == []


def test_silence_is_met_with_fewer_and_fewer_replays_until_something_comes_through() -> None:
    acker = Acker(1, 0, 1_000)
    first, _ = emit(acker, 1, now_ms=0), emit(acker, 2, now_ms=0)
    tried = [now for now in range(0, 31_000, 100) if acker.take_overdue(now)]
    assert tried == [1_000, 3_000, 7_000, 15_000]
    assert acker.on_ack(Ack(1, acker.pending[first.sequence].messages[0].roots[0], 1), 31_000) is not None
    assert not acker.take_overdue(31_900)
    assert len(acker.take_overdue(32_000)) == 1, "something came through: the timeout is what it was"


def test_a_slow_path_beside_a_fast_one_is_not_flooded_with_replays() -> None:
    acker = Acker(1, 0, 1_000)
    emit(acker, 1, now_ms=0)
    tried = []
    for now in range(100, 31_000, 100):
        passing = emit(acker, 2, now_ms=now)
        assert acker.on_ack(Ack(1, passing, 2), now + 50) is not None
        tried += [now for _ in acker.take_overdue(now + 50)]
    assert tried == [1_000, 3_000, 7_000, 15_000]


def test_acks_in_order_that_come_late_are_no_loss_and_hold_up_what_is_new() -> None:
    acker = Acker(1, 0, 1_000)
    roots = [emit(acker, number, now_ms=0) for number in range(1, 101)]
    for number, root in enumerate(roots, 1):
        now = 100.0 * number
        assert acker.take_overdue(now) == []
        assert acker.is_behind(now) is (now >= 500)
        assert acker.on_ack(Ack(1, root, number), now) is not None
    assert not acker.is_behind(10_000)


def test_no_time_runs_against_what_waits_for_a_sink_that_is_kept_waiting() -> None:
    acker = Acker(1, 0, 1_000)
    first = emit(acker, 1, now_ms=0)
    for now in range(500, 60_000, 100):
        acker.on_stall(now)
        assert acker.take_overdue(now + 50) == []
    assert acker.on_fail(first, 60_000), "what is known to be lost is sent again all the same"
    emit(acker, 2, now_ms=60_100)
    assert acker.take_overdue(60_200 + STALL_HOLDS_MS + 400) == []
    assert len(acker.take_overdue(60_200 + STALL_HOLDS_MS + 1_000)) == 2, (
        "the sink has been silent since: time runs again"
    )


def test_a_slow_sink_does_not_stop_time() -> None:
    acker = Acker(1, 0, 1_000)
    emit(acker, 1, now_ms=0)
    for now in range(0, 4_000, 700):
        acker.on_stall(now)
    assert [held.messages[0].id for held in acker.take_overdue(4_000)] == [1]


def test_no_time_runs_while_the_holder_itself_has_no_core() -> None:
    """Of each 100 ms it waited for 95: in a minute three seconds have passed, and not sixty."""
    acker = Acker(1, 0, 4_000)
    emit(acker, 1, now_ms=0)
    for now in range(100, 60_001, 100):
        acker.on_starved(95, now)
        assert acker.take_overdue(now) == []
    acker.on_starved(0, 62_000)
    assert [held.messages[0].id for held in acker.take_overdue(62_000)] == [1]


def test_who_waits_for_a_core_and_for_a_sink_at_once_does_not_turn_time_back() -> None:
    acker = Acker(1, 0, 1_000)
    emit(acker, 1, now_ms=0)
    for now in range(100, 10_001, 100):
        acker.on_stall(now)
        acker.on_starved(100, now)
    acker.on_starved(0, 10_000 + STALL_HOLDS_MS)
    assert acker.take_overdue(10_000 + STALL_HOLDS_MS + 800) == []
    assert len(acker.take_overdue(10_000 + STALL_HOLDS_MS + 1_000)) == 1


def test_several_tasks_that_come_up_ask_once() -> None:
    acker = Acker(1, 0, 1_000)
    emit(acker, 1)
    for now in (5, 6, 7):
        assert acker.on_fail(Root(1, EVERYTHING, 0), now) == []
    assert acker.take_overdue(5 + RESEND_PAUSE_MS - 1) == []
    assert len(acker.take_overdue(5 + RESEND_PAUSE_MS)) == 1
    assert acker.take_overdue(5 + RESEND_PAUSE_MS + 1) == []


def test_without_acks_nothing_is_held() -> None:
    acker = Acker(1, 0, 1_000, tracked=False)
    emit(acker, 1)
    assert not acker.pending


def test_no_batch_is_called_settled_by_its_own_root() -> None:
    acker = Acker(1, 0, 1_000)
    first = emit(acker, 5)
    assert first.settled <= first.sequence
    assert acker.on_ack(Ack(1, first, 5), 1) is not None
    second = emit(acker, 6)
    assert second.settled == second.sequence, "all before it are acked"
