"""Memory that the process keeps: glibc's allocator, told to hold no more of it than the pictures at hand need.

Elsewhere than on glibc nothing is done.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Final

_M_ARENA_MAX: Final = -8  # malloc.h
_M_MMAP_THRESHOLD: Final = -3
_HEAPS: Final = 2  # the frame path's own, and one for all that works beside it
# Bytes. Larger arrays, whole pictures in colour above all, go back to the system at once and leave no holes in a heap.
_OWN_MAPPING: Final = 4_000_000


def share_heaps() -> None:
    """Keep glibc from giving every thread a heap of its own, each of which keeps room for the largest pictures it has seen."""
    with suppress(AttributeError, OSError):
        allocator = ctypes.CDLL(None)
        allocator.mallopt(_M_ARENA_MAX, _HEAPS)
        allocator.mallopt(_M_MMAP_THRESHOLD, _OWN_MAPPING)


def give_back() -> None:
    """Give pages that nothing lies on back to the system, some ten milliseconds' work: after what needed many pictures at once."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
