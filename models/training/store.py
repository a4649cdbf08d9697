"""Samples on disk: made by some processes side by side, in parts, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import fields
from pathlib import Path

import cv2
import numpy as np

from models.training.dataset import Samples, samples_of

PART = 400  # scenes a file: about half a minute's work


def joined(parts: list[Samples]) -> Samples:
    """All samples of some parts, in order."""
    return Samples(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Samples)))


def _path(folder: Path, part: int) -> Path:
    return folder / f"part-{part:04d}.npz"


def _make(folder: Path, part: int) -> int:
    cv2.setNumThreads(1)
    samples = joined([samples_of(number) for number in range(part * PART, (part + 1) * PART)])
    unfinished = _path(folder, part).with_suffix(".tmp.npz")
    np.savez(unfinished, **{f.name: getattr(samples, f.name) for f in fields(Samples)})
    unfinished.replace(_path(folder, part))
    return part


def make(folder: Path, parts: range, say: Callable[[str], None]) -> None:
    """Make the parts that are not there yet, on all processors."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [part for part in parts if not _path(folder, part).exists()]
    if not missing:
        return
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for count, done in enumerate(as_completed([pool.submit(_make, folder, part) for part in missing]), 1):
            say(f"scenes: part {done.result()} made, {count} of {len(missing)}")


def read(folder: Path, parts: range) -> Samples:
    """The samples of some parts."""
    out = []
    for part in parts:
        with np.load(_path(folder, part)) as data:
            out.append(Samples(**{f.name: data[f.name] for f in fields(Samples)}))
    return joined(out)
