"""Wall time for people, marked while it may be wrong; everything that orders or measures uses the monotonic clock instead.

Many Pi models have no battery clock: until NTP has answered, the date is that of the last shutdown.
"""

from __future__ import annotations

import ctypes
import functools
from datetime import UTC, datetime

import msgspec

# adjtimex(2): the kernel's return value while no time daemon keeps the clock (TIME_ERROR).
UNSYNCHRONISED = 5
# sizeof(struct timex) is 208 on 64-bit Linux; room to spare for others. All zero means: read only.
TIMEX_BYTES = 512


class WallTime(msgspec.Struct, frozen=True):
    """A moment as people write it (UTC, ISO 8601, milliseconds), and whether a time daemon vouches for it."""

    at: str
    synchronised: bool


def wall_time() -> WallTime:
    """Now."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return WallTime(at, is_synchronised())


def is_synchronised() -> bool:
    """Whether the kernel says that NTP (timesyncd, chrony, ntpd) keeps the clock; False where it can't be asked."""
    ask = _adjtimex()
    return ask is not None and int(ask(ctypes.create_string_buffer(TIMEX_BYTES))) not in (UNSYNCHRONISED, -1)


@functools.cache
def _adjtimex() -> ctypes._NamedFuncPointer | None:
    try:
        return ctypes.CDLL(None).adjtimex
    except (OSError, AttributeError):
        return None
