"""64-bit ids that are the same in every attempt, and random-looking, so that the XOR of a tree is not that of a part of it."""

from __future__ import annotations

import hashlib

_MASK = (1 << 64) - 1


def mix(*parts: int) -> int:
    """One 64-bit id of several whole numbers (splitmix64's finisher; Steele et al., OOPSLA 2014); their order matters."""
    value = 0
    for part in parts:
        value = (value + 0x9E3779B97F4A7C15 + part) & _MASK
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
        value ^= value >> 31
    return value


def name_id(text: str) -> int:
    """A 64-bit id of a name, the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
