"""Submitted topologies: which command fits which condition, what is said where it does not, and what is recorded."""

from __future__ import annotations

import re
from itertools import product

import pytest

from ouzel.errors import SubmissionError
from ouzel.runtime.protocol.cluster.submitted import (
    ONLY_LOOK,
    Condition,
    Do,
    RefuseCommand,
    Submitted,
    Verb,
    check_name,
    decide,
    find_missing_secrets,
)

R, P, S, J, T, N, F = Condition
FITS = {
    Verb.PAUSE: {R, P},
    Verb.RESUME: {R, P},
    Verb.RESTART: {R, P},
    Verb.STOP: {R, P, S, J},
    Verb.KILL: {R, P, S, J, T, N, F},
    Verb.START: {J, T, F},
    Verb.UPDATE: {R, J, T, F},
    Verb.SAVEPOINT: {R, P, T},
    Verb.LOG_LEVEL: {R, P, S},
    Verb.SAMPLE: {R, P, S},
    **{verb: set(Condition) for verb in ONLY_LOOK},
    Verb.SUBMIT: set(),
}

RECORD = Submitted("clicks", "clicks-0a", 1, Condition.RUNNING, 5, goes_on=True, variables=("TOKEN",))


@pytest.mark.parametrize("command", Verb)
def test_each_command_fits_these_conditions_and_no_others(command: Verb) -> None:
    fits = {condition for condition in Condition if decide(command, "clicks", condition) == Do()}
    assert fits == FITS[command]


@pytest.mark.parametrize(("command", "condition"), product(Verb, [None, *Condition]))
def test_a_refusal_is_a_sentence_that_names_the_topology(command: Verb, condition: Condition | None) -> None:
    decision = decide(command, "clicks", condition)
    if isinstance(decision, RefuseCommand):
        assert "'clicks'" in decision.reason
        assert "\n" not in decision.reason
        assert re.search(r"[;:] ", decision.reason), "it says what to write instead"


@pytest.mark.parametrize("command", set(Verb) - {Verb.SUBMIT})
def test_what_is_not_there_takes_no_command(command: Verb) -> None:
    assert decide(command, "clicks", None) == RefuseCommand(
        "there is no submitted topology 'clicks'; `ouzel list` shows all that there are"
    )


def test_a_name_is_taken_until_its_topology_is_removed() -> None:
    assert decide(Verb.SUBMIT, "clicks", None) == Do()
    assert decide(Verb.SUBMIT, "clicks", Condition.STOPPED) == RefuseCommand(
        "there is a submitted topology 'clicks' already, which is stopped; choose another with --name, or remove that one with "
        "`ouzel kill clicks`"
    )


@pytest.mark.parametrize(("command", "condition"), product(Verb, [None, *Condition]))
def test_what_another_command_changes_can_only_be_looked_at(command: Verb, condition: Condition | None) -> None:
    changing = decide(command, "clicks", condition, is_changing=True)
    if command in ONLY_LOOK:
        assert changing == decide(command, "clicks", condition)
    else:
        assert changing == RefuseCommand(
            "topology 'clicks' is being changed by another command; write this one again when that is done"
        )


@pytest.mark.parametrize(
    ("is_alive", "execution", "recorded", "condition"),
    [
        (True, None, R, R),
        (True, b"running", R, R),
        (True, b"paused 17", R, P),
        (True, b"draining 17", R, S),
        (True, b"stopped", R, R),
        (False, b"running", R, J),
        (False, b"paused 17", R, J),
        (False, b"stopped", T, T),
        (False, None, N, N),
        (False, None, F, F),
    ],
)
def test_how_it_stands(is_alive: bool, execution: bytes | None, recorded: Condition, condition: Condition) -> None:
    record = Submitted("clicks", "clicks-0a", 1, recorded, 5, goes_on=True)
    assert record.find_condition(is_alive=is_alive, execution=execution) is condition
    assert record.is_to_be_brought_back(condition) == (condition is J)


def test_a_record_comes_back_as_it_was() -> None:
    assert Submitted.from_bytes(RECORD.to_bytes()) == RECORD


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"condition": "flying"}', RECORD.to_bytes()[:-9]])
def test_a_record_of_something_else_is_told(text: bytes) -> None:
    with pytest.raises(SubmissionError, match="this is no record"):
        Submitted.from_bytes(text)


@pytest.mark.parametrize("name", ["a", "2013", "flight_delays", "a.b-c_D", "x" * 64])
def test_a_name(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize("name", ["", ".", "..", "=data", "a/b", "-a", "a b", "straße", "x" * 65, "a\n"])
def test_no_name(name: str) -> None:
    with pytest.raises(SubmissionError, match="cannot name a submitted topology"):
        check_name(name)


def test_secrets_that_a_start_lacks_are_named() -> None:
    assert find_missing_secrets(RECORD, {"TOKEN", "HOME"}) == Do()
    assert find_missing_secrets(RECORD, {"HOME"}) == RefuseCommand(
        "topology 'clicks' takes secrets from the environment, which lacks TOKEN; set it, and start again"
    )
