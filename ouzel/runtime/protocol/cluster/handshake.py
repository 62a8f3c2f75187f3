"""How two stream managers prove to each other that they know the job's key before either believes the other.

Each proof answers the other's random number, so an overheard one is worth nothing. The role is part of the proof, so none can be sent back
to its maker (ISO/IEC 9798-4, mutual authentication in three passes).

    dialer -> acceptor: who it is, its number
    acceptor -> dialer: its number, its proof
    dialer -> acceptor: its proof
"""

from __future__ import annotations

import hashlib
import hmac

NONCE_BYTES = 16


class Dialer:
    """The side that connects; `who` says which process it is."""

    def __init__(self, key: bytes, who: bytes, nonce: bytes) -> None:
        self._key, self._who, self.nonce = key, who, nonce

    def answer(self, nonce: bytes, proof: bytes) -> bytes | None:
        """Its own proof, for an acceptor that has proved itself; None for one that has not."""
        said = (self._who, self.nonce, nonce)
        if len(nonce) != NONCE_BYTES or not hmac.compare_digest(proof, _proof(self._key, b"acceptor", *said)):
            return None
        return _proof(self._key, b"dialer", *said)


class Acceptor:
    """The side that is connected to."""

    def __init__(self, key: bytes, nonce: bytes) -> None:
        self._key, self.nonce = key, nonce
        self._said: tuple[bytes, bytes, bytes] | None = None

    def challenge(self, who: bytes, nonce: bytes) -> bytes | None:
        """Its proof for whoever says to be `who`; None if it has been asked before, or the number is none."""
        if self._said is not None or len(nonce) != NONCE_BYTES:
            return None
        self._said = (who, nonce, self.nonce)
        return _proof(self._key, b"acceptor", *self._said)

    def verify(self, proof: bytes) -> bool:
        """Whether the dialer has proved to be who it says."""
        return self._said is not None and hmac.compare_digest(proof, _proof(self._key, b"dialer", *self._said))


def _proof(key: bytes, role: bytes, who: bytes, dialers: bytes, acceptors: bytes) -> bytes:
    lengths = bytes((len(role), len(who)))
    return hmac.digest(key, lengths + role + who + dialers + acceptors, hashlib.sha256)
