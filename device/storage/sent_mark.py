"""How far the broker has acknowledged: two fixed slots in one small file, written in turn, so that one is always whole.

Written in place, without fsync: it needs no room on a full card, and an older mark only means sending again under the same seq.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import msgspec

from rules.errors import UNREADABLE, StorageFailed

# One slot: the record (about 80 bytes) padded; a sector is 512 bytes and is written whole.
SLOT_BYTES = 512


class Mark(msgspec.Struct, frozen=True):
    """`seq` is the last message of the last entry that was acknowledged whole, `key` that entry's."""

    seq: int = 0
    key: str = ""


class SentMark:
    """The open mark file."""

    def __init__(self, path: Path) -> None:
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            if os.fstat(self._handle).st_size < 2 * SLOT_BYTES:
                os.pwrite(self._handle, b" ", 2 * SLOT_BYTES - 1)
        except OSError as error:
            raise StorageFailed(f"cannot open {path} for writing: {error.strerror}") from error
        self._newest = 0

    def read(self) -> Mark:
        """The newest whole mark; zero where there is none."""
        first, second = (_decoded(os.pread(self._handle, SLOT_BYTES, slot * SLOT_BYTES)) for slot in (0, 1))
        self._newest = 0 if first.seq >= second.seq else 1
        return (first, second)[self._newest]

    def write(self, mark: Mark) -> None:
        """Move the mark; OSError is the caller's to survive."""
        record = msgspec.json.encode(mark)
        slot = f"{zlib.crc32(record):08x} ".encode() + record
        older = 1 - self._newest
        os.pwrite(self._handle, slot.ljust(SLOT_BYTES), older * SLOT_BYTES)
        self._newest = older

    def close(self) -> None:
        """Write what the kernel still holds, and let go."""
        if self._handle >= 0:
            os.fsync(self._handle)
            os.close(self._handle)
            self._handle = -1


def _decoded(slot: bytes) -> Mark:
    checksum, _, record = slot.partition(b" ")
    record = record.rstrip(b" \0")
    try:
        if int(checksum, 16) == zlib.crc32(record):
            return msgspec.json.decode(record, type=Mark)
    except (ValueError, *UNREADABLE):
        pass
    return Mark()
