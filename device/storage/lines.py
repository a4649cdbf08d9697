"""Append-only files of JSON lines: one write and one fsync a line, and what a power cut leaves is told from what was lost.

A line that was being written when the power went is torn (no newline, cut short, NUL bytes from a block that never reached the
card). Only the tail of a file can be torn, because each line is on the card before the next is begun.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from pathlib import Path

import msgspec

from device.storage.atomic import sync_folder
from rules.errors import UNREADABLE, InputUnusable, StorageFailed


class Damage(msgspec.Struct, frozen=True):
    """What a file lost, and where the file as it was found is kept."""

    file: str
    lost_bytes: int
    why: str
    kept_as: str | None

    def __str__(self) -> str:
        kept = f"the file as found is kept as {self.kept_as}" if self.kept_as else "there was no room to keep the file as found"
        return f"{self.file}: {self.lost_bytes} bytes at the end dropped ({self.why}); {kept}"


class Tail(msgspec.Struct, frozen=True):
    """Where the good part of a file ends; `why` is empty when that is the end of the file."""

    good_bytes: int
    why: str


def complete_lines(data: bytes) -> tuple[list[bytes], Tail]:
    """The complete lines of a file and where they end; only a torn last line and NUL bytes at the end are taken off."""
    content = data.rstrip(b"\0")
    why = "NUL bytes" if len(content) < len(data) else ""
    end = content.rfind(b"\n") + 1
    last_start = content.rfind(b"\n", 0, end - 1) + 1 if end else 0
    # A full line without its newline is whole: no beginning of a JSON object is itself a JSON object.
    if end < len(content) and _is_object(content[end:]):
        end = len(content)
    elif end < len(content):
        why = "a torn last line"
    elif end and content[last_start:end].strip() and not _is_object(content[last_start:end]):
        # Blocks of one write can reach the card in any order: the end of the line is there, its beginning is not.
        end, why = last_start, "a torn last line"
    return content[:end].split(b"\n"), Tail(end, why)


def keep_aside(path: Path) -> Path | None:
    """Copy a damaged file to the first free `NAME.broken-N`; None where the disk has no room for it."""
    number = 1
    while (aside := path.with_name(f"{path.name}.broken-{number}")).exists():
        number += 1
    try:
        shutil.copyfile(path, aside)
        with aside.open("rb") as stream:
            os.fsync(stream.fileno())
    except OSError:
        aside.unlink(missing_ok=True)
        return None
    return aside


class LineFile:
    """An open append-only file under this process's lock. A line is either wholly on the card or not in the file at all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._handle, self._begun = _opened(path)
            sync_folder(path.parent)
        except OSError as error:
            raise StorageFailed(f"cannot open {path} for writing: {error.strerror}") from error
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(self._handle).st_nlink == 0:
                raise BlockingIOError("the other one took it away again between opening and locking")
        except OSError as error:
            os.close(self._handle)
            raise InputUnusable(f"{path} is in use by another novuss; stop that one first or name another file") from error
        self.size = os.fstat(self._handle).st_size

    def read(self, start: int = 0, length: int | None = None) -> bytes:
        """Bytes from `start`, to the end of the last complete line unless `length` says less."""
        wanted = self.size - start if length is None else length
        parts: list[bytes] = []
        while wanted > 0 and (part := os.pread(self._handle, wanted, start)):
            parts.append(part)
            start += len(part)
            wanted -= len(part)
        return b"".join(parts)

    def append(self, line: bytes) -> int:
        """Write one line (newline added) and return its start once it is on the card; on StorageFailed nothing was changed."""
        start = self.size
        rest = memoryview(line + b"\n")
        try:
            # A line that failed before may have left bytes that could not be taken back at once.
            if os.fstat(self._handle).st_size != start:
                os.ftruncate(self._handle, start)
            while rest:
                rest = rest[os.write(self._handle, rest) :]
            os.fsync(self._handle)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, start)
            raise StorageFailed(f"cannot write to {self.path}: {error.strerror}") from error
        self.size = start + len(line) + 1
        return start

    def cut(self, tail: Tail) -> Damage | None:
        """Take a torn tail off, keeping the file as found aside; a last line that only lacks its newline gets it."""
        damage = None
        if tail.good_bytes < self.size:
            aside = keep_aside(self.path)
            damage = Damage(str(self.path), self.size - tail.good_bytes, tail.why, str(aside) if aside else None)
            os.ftruncate(self._handle, tail.good_bytes)
            os.fsync(self._handle)
            self.size = tail.good_bytes
        if self.size and self.read(self.size - 1) != b"\n":
            self.append(b"")
        return damage

    def close(self, *, keeps_empty: bool = True) -> None:
        """Let go of the file and its lock; a file that was begun for nothing only stays if empty ones do. A second call does nothing."""
        if self._handle >= 0:
            if self._begun and self.size == 0 and not keeps_empty:
                with contextlib.suppress(OSError):
                    self.path.unlink()
            os.close(self._handle)
            self._handle = -1


def _opened(path: Path) -> tuple[int, bool]:
    """A handle, and whether the file was not there before."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        return os.open(path, flags | os.O_EXCL, 0o644), True
    except FileExistsError:
        return os.open(path, flags, 0o644), False


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(line), dict)
    except UNREADABLE:
        return False
