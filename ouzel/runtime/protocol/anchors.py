"""What stands for a frame in the tree of a root, when several frames or several acks speak of it.

Storm draws a random id for each pair of a tuple and an anchor (Toshniwal et al., SIGMOD 2014, section 2.3.1). Ours are computed, for a
frame's own id is the same in every attempt. If that were XORed into one tree twice, by the acks of two anchors or by two copies of a
replayed frame, it would cancel out, and the tree would be complete before the frame is handled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ouzel.runtime.protocol.ids import mix
from ouzel.runtime.protocol.messages import Data, Root


def edge(frame_id: int, anchor: int) -> int:
    """What the ack of an anchor, which `anchor` stands for in a tree, says of a frame that came of it."""
    return mix(frame_id, anchor)


def edges(frame_id: int, roots: Sequence[Root], anchors: Iterable[Data]) -> tuple[int, ...]:
    """What stands for the frame under each of its roots: the XOR of what the acks of its anchors say of it there."""
    found = dict.fromkeys(roots, 0)
    for anchor in anchors:
        for root, leaf in anchor.leaves:
            found[root] ^= edge(frame_id, leaf)
    return tuple(found.values())
