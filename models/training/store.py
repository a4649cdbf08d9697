"""Samples on disk: made by some processes side by side, in parts, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import cv2
import numpy as np

Record = TypeVar("Record")


def joined(parts: list[Record]) -> Record:
    """All samples of some parts, in order; a part is a frozen record of arrays of one length."""
    return type(parts[0])(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(parts[0])))


def some(record: Record, count: int) -> Record:
    """So many samples, evenly from all of them."""
    every = max(1, len(getattr(record, fields(record)[0].name)) // count)
    return type(record)(*(getattr(record, f.name)[::every][:count] for f in fields(record)))


def _path(folder: Path, part: int) -> Path:
    return folder / f"part-{part:04d}.npz"


def _make(folder: Path, part: int, size: int, of: Callable[[int], Any]) -> int:
    cv2.setNumThreads(1)
    samples = joined([of(number) for number in range(part * size, (part + 1) * size)])
    unfinished = _path(folder, part).with_suffix(".tmp.npz")
    np.savez(unfinished, **{f.name: getattr(samples, f.name) for f in fields(samples)})
    unfinished.replace(_path(folder, part))
    return part


def make(folder: Path, parts: range, size: int, of: Callable[[int], Any], say: Callable[[str], None]) -> None:
    """Make the parts that are not there yet, `size` scenes each, on all processors; `of` makes the samples of one scene."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [part for part in parts if not _path(folder, part).exists()]
    if not missing:
        return
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for count, done in enumerate(as_completed([pool.submit(_make, folder, part, size, of) for part in missing]), 1):
            say(f"scenes: part {done.result()} made, {count} of {len(missing)}")


def read(folder: Path, parts: Iterable[int], kind: type[Record]) -> Record:
    """The samples of some parts."""
    out = []
    for part in parts:
        with np.load(_path(folder, part)) as data:
            out.append(kind(**{f.name: data[f.name] for f in fields(kind)}))
    return joined(out)
