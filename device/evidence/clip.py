"""Frames to a clip that every browser plays: H.264 in MP4 (VP9 in WebM where that is missing), each frame at its own time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import av

from device.evidence.film import Image, Shot
from device.evidence.record import Clip
from rules.errors import StorageFailed

_TIME_BASE: Final = Fraction(1, 90_000)  # s; MPEG's own, divides 24, 25, 30, 50 and 60 frames a second
_NOMINAL_FPS: Final = 60  # only the encoder's rate control hangs on it; every frame carries its own time

# One thread: cores belong to the frame path. A whole picture every 12 frames, none depending on later ones: stepping back is quick.
_H264: Final = {"preset": "superfast", "crf": "23", "g": "12", "bf": "0", "threads": "1"}
_VP9: Final = {"deadline": "realtime", "cpu-used": "8", "crf": "32", "b": "0", "g": "12", "threads": "1"}
_CODECS: Final = (("libx264", "h264", "mp4", _H264), ("libvpx-vp9", "vp9", "webm", _VP9))


class Abandoned(Exception):
    """The writing was called off."""


def write_clip(folder: Path, shots: Sequence[Shot], is_off: Callable[[], bool] = lambda: False) -> Clip:
    """Encode `shots` (each later than the one before) into `folder`; StorageFailed where it cannot be, Abandoned where `is_off`."""
    encoder, codec, kind, options = next(known for known in _CODECS if known[0] in av.codecs_available)
    first = _even(shots[0].image())
    height, width = first.shape[:2]
    frames: list[tuple[int, int]] = []
    file = f"clip.{kind}"
    try:
        with av.open(str(folder / file), "w", format=kind, options={"movflags": "+faststart"} if kind == "mp4" else {}) as container:
            stream: Any = container.add_stream(encoder, rate=_NOMINAL_FPS, options=options)
            stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
            stream.time_base = stream.codec_context.time_base = _TIME_BASE
            last_pts = -1
            for shot in shots:
                if is_off():
                    raise Abandoned
                pts = round((shot.t_ns - shots[0].t_ns) / 1_000_000_000 / _TIME_BASE)
                if pts <= last_pts:
                    continue
                picture = av.VideoFrame.from_ndarray(_even(shot.image()), format="bgr24")
                picture.pts, picture.time_base, last_pts = pts, _TIME_BASE, pts
                container.mux(stream.encode(picture))
                frames.append((shot.seq, round(pts * _TIME_BASE * 1_000_000)))
            container.mux(stream.encode())
    except av.FFmpegError as error:
        raise StorageFailed(f"{folder / file}: {error.strerror}") from error
    return Clip(file=file, codec=codec, width=width, height=height, frames=frames)


def _even(image: Image) -> Image:
    """The codecs halve colours: sides must be even."""
    return image[: image.shape[0] // 2 * 2, : image.shape[1] // 2 * 2]
