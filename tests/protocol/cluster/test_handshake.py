"""Two who know the key believe each other; nobody else is believed, whatever was overheard or is sent back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ouzel.runtime.protocol.cluster.handshake import NONCE_BYTES, Acceptor, Dialer

KEY, WHO = b"k" * 32, b"1/77"
ONE, OTHER, THIRD = (bytes([number]) * NONCE_BYTES for number in range(3))


def shaken(dialers_key: bytes, acceptors_key: bytes) -> tuple[bytes | None, bytes | None, bool]:
    dialer, acceptor = Dialer(dialers_key, WHO, ONE), Acceptor(acceptors_key, OTHER)
    challenge = acceptor.challenge(WHO, dialer.nonce)
    assert challenge is not None
    answer = dialer.answer(acceptor.nonce, challenge)
    return challenge, answer, answer is not None and acceptor.verify(answer)


def test_two_who_know_the_key_believe_each_other() -> None:
    assert shaken(KEY, KEY)[2]


def test_neither_side_believes_one_who_does_not_know_it() -> None:
    _, answer, believed = shaken(KEY, b"x" * 32)
    assert (answer, believed) == (None, False)


def test_what_was_overheard_does_not_open_another_connection() -> None:
    _, answer, _ = shaken(KEY, KEY)
    again = Acceptor(KEY, THIRD)
    again.challenge(WHO, ONE)
    assert answer is not None
    assert not again.verify(answer)


def test_what_an_acceptor_says_cannot_be_sent_back_to_it() -> None:
    acceptor = Acceptor(KEY, OTHER)
    challenge = acceptor.challenge(WHO, ONE)
    assert challenge is not None
    assert not acceptor.verify(challenge)
    assert acceptor.challenge(WHO, THIRD) is None, "it answers once"


@given(st.binary(max_size=64), st.binary(max_size=64), st.binary(max_size=64))
def test_rubbish_is_refused(nonce: bytes, proof: bytes, who: bytes) -> None:
    assert Dialer(KEY, WHO, ONE).answer(nonce, proof) is None
    acceptor = Acceptor(KEY, OTHER)
    assert not acceptor.verify(proof)
    acceptor.challenge(who, nonce)
    assert not acceptor.verify(proof)
