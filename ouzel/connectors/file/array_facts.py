"""The state of reading a JSON array."""

from __future__ import annotations

BEFORE, INSIDE, BEHIND, NOWHERE = 0, 1, 2, 3
"""Where in the array the reader is; nowhere if the file is no array."""

PLACE, DEPTH, TEXT, FULL, COUNT = 0, 1, 2, 3, 4
"""What a reading knows of what it has read: the place, how deep brackets are, whether it is in a text (2: behind a backslash), whether the
element has begun, and how many there were."""
