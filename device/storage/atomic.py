"""Whole-or-nothing output files: nothing partial is ever left under the final name."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from rules.errors import StorageFailed

# What a new file gets before the umask is taken off; the temporary file starts at 0600, which others could not read.
NEW_FILE_MODE = 0o666


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write to that takes the place of `path` when the block ends well, and vanishes when it does not.

    A target that is no regular file (a pipe, /dev/stdout) is written straight. Raises StorageFailed where it can't be written.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        with _named(target), target.open("wb") as stream:
            yield stream
        return
    # A link stays a link: what it points to is replaced.
    final = Path(os.path.realpath(target))
    with _named(target):
        handle, temporary_name = tempfile.mkstemp(prefix=f".{final.name}.", suffix=".part", dir=final.parent)
    temporary = Path(temporary_name)
    try:
        with _named(target), os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fchmod(stream.fileno(), _mode_for(final))
            os.fsync(stream.fileno())
        with _named(target):
            temporary.replace(final)
            sync_folder(final.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_bytes(path: str | Path, data: bytes) -> None:
    """Replace `path` by `data`, all or nothing."""
    with replacing(path) as stream:
        stream.write(data)


def write_text(path: str | Path, text: str) -> None:
    """Replace `path` by `text` as UTF-8, all or nothing."""
    write_bytes(path, text.encode())


def write_json(path: str | Path, value: object) -> None:
    """Replace `path` by one JSON value (records included) and a newline, all or nothing."""
    write_bytes(path, msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")


def sync_folder(folder: Path) -> None:
    """Make a new or renamed name in `folder` last through a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _mode_for(final: Path) -> int:
    if final.exists():
        return final.stat().st_mode & 0o777
    # The only way to read the umask is to set it; novuss creates output files from one thread.
    umask = os.umask(0)
    os.umask(umask)
    return NEW_FILE_MODE & ~umask


@contextlib.contextmanager
def _named(target: Path) -> Iterator[None]:
    try:
        yield
    except StorageFailed:
        raise
    except OSError as error:
        raise StorageFailed(f"cannot write {target}: {error.strerror or error}") from error
