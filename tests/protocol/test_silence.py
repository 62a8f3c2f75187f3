"""How long a partition has been silent, as far as anybody has listened."""

from __future__ import annotations

from ouzel.runtime.protocol.silence import ASKED_MS, Silence


def asked(silence: Silence, begin_ms: int, end_ms: int, unreachable: str = "") -> None:
    """Ask it several times a second, and hear nothing."""
    for now_ms in range(begin_ms, end_ms + 1, 250):
        silence.on_nothing(now_ms, unreachable)


def test_who_was_asked_all_the_time_is_idle_after_it() -> None:
    silence = Silence()
    asked(silence, 0, 4_750)
    assert not silence.is_idle(4_750, 5_000)
    silence.on_nothing(5_000)
    assert silence.is_idle(5_000, 5_000)


def test_time_in_which_nobody_asked_is_hardly_silence() -> None:
    """A process was stopped for a minute, and what fetches its rows with it: these come right after its first question."""
    silence = Silence()
    asked(silence, 0, 1_000)
    silence.on_nothing(61_000)
    assert not silence.is_idle(61_000, 5_000)
    asked(silence, 61_250, 63_750)
    assert not silence.is_idle(63_750, 5_000)
    silence.on_nothing(64_000)
    assert silence.is_idle(64_000, 5_000)


def test_who_is_asked_seldom_is_idle_in_the_end() -> None:
    """As where each batch takes a task seconds to compute: time has to go on all the same."""
    silence = Silence()
    for turn in range(6):
        assert not silence.is_idle(turn * 7_000, 5 * ASKED_MS)
        silence.on_nothing(turn * 7_000)
    assert silence.is_idle(35_000, 5 * ASKED_MS)


def test_who_could_not_be_asked_is_silent_from_when_it_can_be() -> None:
    silence = Silence()
    asked(silence, 0, 60_000, "broker away")
    assert not silence.is_idle(60_000, 5_000)
    silence.on_nothing(60_250)
    assert not silence.is_idle(60_250, 5_000)
    asked(silence, 60_500, 65_250)
    assert silence.is_idle(65_250, 5_000)
