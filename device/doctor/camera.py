"""The camera and the table in its picture: rate, light, lens and calibration that fit, the table where it should be."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from calibration.camera import Calibration, load_calibration
from calibration.find import find_table
from calibration.lens import Lens, load_lens
from device.doctor.finding import Finding
from device.first_look import check
from device.settings import Settings
from device.sources.choose import PICAMERA, default_source, open_source
from device.sources.frame import Adjustable, Frame, Source
from rules.errors import InputUnusable, NovussError, TableNotFound

WATCHED_S: Final = 3.0  # long enough for a rate to one in a hundred
RATE_FLOOR: Final = 0.9  # of the camera's own rate; below it times of contacts become rough
DARK: Final = 40.0  # mean of 255: black pieces and shadows cannot be told apart
GLARE: Final = 0.02  # share of the picture that is white: lamps that mirror in the varnish hide lines and pieces
WHITE: Final = 250
TRIES: Final = 8  # pictures in which the table is looked for


def camera_and_table(settings: Settings, *, busy: bool) -> Iterator[Finding]:
    """Everything that needs pictures; `busy`: the service has the camera."""
    chosen = settings.camera.source or default_source()
    if busy and chosen == PICAMERA:
        remedy = "sudo systemctl stop novuss, run this again, start it again"
        yield Finding("camera", "skipped", "the running service has the camera", remedy)
        yield from files(settings, None)
        return
    try:
        source = open_source(chosen, camera=settings.camera)
    except NovussError as error:
        remedy = "" if chosen == PICAMERA else "name another: [camera] source"
        yield Finding("camera", "wrong", str(error), remedy)
        yield from files(settings, None)
        return
    try:
        yield from _pictures(source, settings, live=chosen == PICAMERA)
    finally:
        source.close()


def _pictures(source: Source, settings: Settings, *, live: bool) -> Iterator[Finding]:
    try:
        frames = _watch(source)
    except NovussError as error:
        yield Finding("camera", "wrong", str(error))
        yield from files(settings, source)
        return
    yield Finding("camera", "ok", f"{source.name}, {source.size_px[0]}x{source.size_px[1]} px")
    yield _rate(frames, live=live)
    yield _light(source, frames)
    yield from files(settings, source)
    yield _table(source, settings)


def files(settings: Settings, source: Source | None) -> Iterator[Finding]:
    """Lens or calibration: there, readable, and of this picture size."""
    for name, path in (("lens", settings.camera.lens), ("calibration", settings.camera.calibration)):
        if path is not None:
            yield _file(name, path, source)
    if settings.camera.lens is None and settings.camera.calibration is None:
        text = "no lens and no calibration is named: the lens is guessed from the table at every start, which is less exact"
        yield Finding("lens", "warning", text, "novuss setup, or `novuss lens` and `novuss calibrate`")


def _file(name: str, path: Path, source: Source | None) -> Finding:
    remedy = f"make it again: novuss {'lens' if name == 'lens' else 'calibrate'}"
    try:
        lens = load_lens(path) if name == "lens" else load_calibration(path).lens
        if source is not None:
            lens.check_size(*source.size_px, where=source.name)
    except NovussError as error:
        return Finding(name, "wrong", str(error), remedy)
    return Finding(name, "ok", f"{path}, for {lens.width}x{lens.height} px")


def _watch(source: Source) -> list[Frame]:
    """Frames of some seconds; their pictures are kept only now and then."""
    frames: list[Frame] = []
    until_s = time.monotonic() + WATCHED_S
    while time.monotonic() < until_s and (frame := source.read()) is not None:
        frames.append(frame if len(frames) % 60 == 0 else Frame(_NO_PICTURE, frame.t_ns, frame.seq, frame.exposure_s, frame.readout_s))
    if not frames:
        raise InputUnusable(f"{source.name}: gave no frame")
    return frames


_NO_PICTURE: Final = np.zeros((0, 0, 3), np.uint8)


def _rate(frames: list[Frame], *, live: bool) -> Finding:
    lost = frames[-1].seq - frames[0].seq + 1 - len(frames)
    span_s = (frames[-1].t_ns - frames[0].t_ns) / 1e9
    if not live or span_s <= 0:
        return Finding("rate", "skipped", "only a camera has a rate of its own")
    had, due = (len(frames) - 1) / span_s, (frames[-1].seq - frames[0].seq) / span_s
    text = f"{had:.1f} of {due:.1f} frames a second, {lost} lost in {span_s:.0f} s"
    if had < RATE_FLOOR * due:
        return Finding("rate", "wrong", text, "end other programs; see supply and temperature: a Pi that is held back loses frames")
    return Finding("rate", "ok", text)


def _light(source: Source, frames: list[Frame]) -> Finding:
    if isinstance(source, Adjustable) and (complaints := source.figures()["complaints"]):
        return Finding("exposure", "wrong", "; ".join(complaints), "novuss setup exposure")
    picture = next(frame.image for frame in reversed(frames) if frame.image.size)
    mean, white = float(picture.mean()), float((picture.min(axis=2) >= WHITE).mean())
    text = f"held; brightness {mean:.0f} of 255, {white:.1%} white"
    if mean < DARK:
        return Finding("exposure", "warning", text, "more light on the table, or more [camera] gain: novuss setup exposure")
    if white > GLARE:
        return Finding("exposure", "warning", text, "turn the lamps so that they do not mirror in the table, or lower [camera] gain")
    return Finding("exposure", "ok", text)


def _table(source: Source, settings: Settings) -> Finding:
    remedy = "take hands and things off the table's lines, light it evenly; then novuss setup table"
    try:
        if (path := settings.camera.calibration) is not None:
            known = load_calibration(path)
            check(source, known)
            return Finding("table", "ok", f"where the calibration says (made {known.made_at or 'at an unknown time'})")
        lens = load_lens(settings.camera.lens) if settings.camera.lens is not None else getattr(source, "lens", None)
        found = _found(source, lens, settings)
    except NovussError as error:
        return Finding("table", "wrong", str(error), remedy)
    return Finding("table", "ok", f"found; its lines fit to {found.rms_px:.2f} px")


def _found(source: Source, lens: Lens | None, settings: Settings) -> Calibration:
    reason = f"{source.name}: no frame could be read"
    for _ in range(TRIES):
        if (frame := source.read()) is None:
            break
        try:
            return find_table([frame.image], lens, south=settings.table.south, camera=settings.camera.name).calibration
        except TableNotFound as error:
            reason = str(error)
    raise TableNotFound(reason)
