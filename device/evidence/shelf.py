"""The ring on disk: one folder a piece, oldest out first, protected ones kept, whole pieces or none.

Everything is read from the folder each time, so that the monitor, the board and the command line agree without talking to each other.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from device.clock import wall_time
from device.evidence.record import RECORD, STILL, Ground, Piece, Protection, is_name
from device.storage.atomic import sync_folder, write_json
from device.storage.match_log import Reason
from rules.errors import UNREADABLE, InputUnusable, NovussError, StorageFailed

_log = logging.getLogger(__name__)

MB: Final = 1_000_000
QUOTA_MB: Final = 2000  # some thousand rulings: a tournament's weekend at one table, and a tenth of the smallest usual card
FLOOR_MB: Final = 300  # free space that log, outbox and system must find; below it nothing is filmed
_PART: Final = ".part-"
_QUOTA_FILE: Final = "quota.json"
_FOLDER_MODE: Final = 0o750  # the board's service reads as a member of the group
_FILE_MODE: Final = 0o640


class NoRoom(NovussError):
    """There is no room for another piece; `reason` is what the ruling says."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason: Reason = reason


class Holding(msgspec.Struct, frozen=True):
    """How full the shelf is, in megabytes and pieces."""

    pieces: int
    protected: int
    used_mb: float
    protected_mb: float
    quota_mb: int


class Shelf:
    """A folder of evidence. Reading needs no lock; the one who films holds `claim()`."""

    def __init__(self, folder: Path, *, floor_mb: int = FLOOR_MB) -> None:
        self.folder = folder
        self._floor_mb = floor_mb
        self._counted = 0
        self._lock = -1

    # --- the one who films ------------------------------------------------------------------------------------------

    def claim(self) -> None:
        """Make the folder, lock it against other monitors, and sweep away what a power cut left half done."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.folder.chmod(_FOLDER_MODE)
            self._lock = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _FILE_MODE)
        except OSError as error:
            raise StorageFailed(f"evidence cannot be kept in {self.folder}: {error.strerror}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.release()
            raise InputUnusable(f"{self.folder} is in use by another novuss; name another folder with --evidence") from error
        for left in [*self.folder.glob(f"{_PART}*"), *self.folder.glob(".*.part"), *self.folder.glob("*/.*.part")]:
            _remove(left)
        self._counted = max((int(name.split("-")[0]) for name in self.names()), default=0)

    def release(self) -> None:
        """Let another monitor have the folder; safe to call twice."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def new_name(self) -> str:
        """A name that no other piece has or had; asks no disk, a ruling may be waiting for it."""
        self._counted += 1
        return f"{self._counted:07d}-{secrets.token_hex(4)}"

    def add(self, name: str, fill: Callable[[Path], Piece]) -> Piece:
        """A new piece: `fill` writes its files into the folder it is given and says what they are.

        Raises NoRoom where quota or disk leave none, OSError where writing fails; then nothing of it is left.
        """
        self._make_room_on_disk()
        part = self.folder / f"{_PART}{name}"
        try:
            part.mkdir()
            part.chmod(_FOLDER_MODE)  # whatever the umask
            piece = fill(part)
            write_json(part / RECORD, piece)
            for file in part.iterdir():
                file.chmod(_FILE_MODE)
                _sync(file)
            self._make_room_in_quota(_bytes_of(part))
            sync_folder(part)
            part.rename(self.folder / name)
            sync_folder(self.folder)
        except BaseException:
            _remove(part)
            raise
        return piece

    def _make_room_on_disk(self) -> None:
        for name in [*self._loose(), None]:
            free_mb = shutil.disk_usage(self.folder).free / MB
            if free_mb >= self._floor_mb:
                return
            if name is None:
                raise NoRoom("disk_full", f"{self.folder}: {free_mb:.0f} MB are free on the disk, {self._floor_mb} MB must stay so")
            self.remove(name)

    def _make_room_in_quota(self, wanted_bytes: int) -> None:
        quota_bytes = self.quota_mb * MB
        used = sum(_bytes_of(self.folder / name) for name in self.names())
        for name in [*self._loose(), None]:
            if used + wanted_bytes <= quota_bytes:
                return
            if name is None:
                raise NoRoom("quota", f"{self.folder}: protected pieces fill the quota of {self.quota_mb} MB; release some or raise it")
            used -= _bytes_of(self.folder / name)
            self.remove(name)

    def _loose(self) -> Iterator[str]:
        """What may go, oldest first."""
        return (name for name in self.names() if not self._is_protected(name))

    def _is_protected(self, name: str) -> bool:
        piece = self.get(name)
        return piece is not None and bool(piece.protected)

    # --- anybody ----------------------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """All pieces, oldest first."""
        try:
            return sorted((entry.name for entry in os.scandir(self.folder) if is_name(entry.name)), key=lambda n: int(n.split("-")[0]))
        except OSError:
            return []

    def get(self, name: str) -> Piece | None:
        """What is written about a piece; None where there is no such piece."""
        file = self._inside(name, RECORD)
        try:
            return None if file is None else msgspec.json.decode(file.read_bytes(), type=Piece)
        except (OSError, *UNREADABLE):
            return None

    def file(self, name: str, wanted: str) -> Path | None:
        """Where the clip or the still of a piece is; None for anything that is not one of a piece's own files."""
        piece = self.get(name)
        return self._inside(name, wanted) if piece is not None and wanted in (piece.clip.file, STILL) else None

    def _inside(self, name: str, wanted: str) -> Path | None:
        """A regular file of a piece; names that are none, links and whatever leads out of the folder are nothing."""
        if not is_name(name) or "/" in wanted or wanted.startswith("."):
            return None
        path = self.folder / name / wanted
        return path if path.is_file() and path.resolve() == self.folder.resolve() / name / wanted else None

    def change(self, name: str, how: Callable[[Piece], Piece]) -> Piece | None:
        """Write a piece's record anew, whole or not at all; None where there is no such piece."""
        piece = self.get(name)
        if piece is None:
            return None
        changed = how(piece)
        if changed != piece:
            file = self.folder / name / RECORD
            owner = file.stat()
            write_json(file, changed)
            with contextlib.suppress(PermissionError):
                os.chown(file, owner.st_uid, owner.st_gid)  # written by root, it stays the monitor's
        return changed

    def protect(self, name: str, ground: Ground, by: str | None = None) -> Piece | None:
        """Keep a piece whatever the ring does."""

        def protected(piece: Piece) -> Piece:
            if any(known.ground == ground for known in piece.protected):
                return piece
            return msgspec.structs.replace(piece, protected=[*piece.protected, Protection(ground=ground, at=wall_time().at, by=by)])

        return self.change(name, protected)

    def let_go(self, name: str, ground: Ground | None = None) -> Piece | None:
        """Take one ground of protection off, or all of them; the ring may then have the piece."""
        return self.change(
            name, lambda piece: msgspec.structs.replace(piece, protected=[p for p in piece.protected if ground not in (None, p.ground)])
        )

    def remove(self, name: str) -> None:
        """Take a piece off, never half of it."""
        gone = self.folder / f"{_PART}gone-{name}"
        with contextlib.suppress(FileNotFoundError):
            (self.folder / name).rename(gone)
        _remove(gone)

    @property
    def quota_mb(self) -> int:
        """How much may be kept."""
        try:
            found = msgspec.json.decode((self.folder / _QUOTA_FILE).read_bytes(), type=dict[str, int])
        except (OSError, *UNREADABLE):
            return QUOTA_MB
        return found.get("quota_mb", QUOTA_MB)

    def set_quota(self, quota_mb: int) -> None:
        """Keep so much from now on; what is over it goes at once, oldest first."""
        write_json(self.folder / _QUOTA_FILE, {"quota_mb": quota_mb})
        with contextlib.suppress(NoRoom):  # what is protected may be more than that
            self._make_room_in_quota(0)

    def holding(self) -> Holding:
        """How full it is."""
        sizes = {name: _bytes_of(self.folder / name) for name in self.names()}
        kept = [name for name in sizes if self._is_protected(name)]
        used, protected = sum(sizes.values()) / MB, sum(sizes[name] for name in kept) / MB
        return Holding(len(sizes), len(kept), round(used, 1), round(protected, 1), self.quota_mb)


def _bytes_of(folder: Path) -> int:
    try:
        return sum(entry.stat().st_size for entry in os.scandir(folder))
    except OSError:
        return 0  # another process has just taken it off


def _sync(file: Path) -> None:
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(path: Path) -> None:
    try:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        _log.warning("%s cannot be removed: %s", path, error.strerror)
