"""A video file as a camera: every frame with its own timestamp, turned as its metadata says, truncation told from the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import av
import numpy as np
from av.video.frame import VideoFrame

from device.sources.frame import Frame
from rules.errors import InputUnusable, SourceFailed

_HDR_TRANSFERS: Final = {16: "PQ (HDR10)", 18: "HLG"}  # ITU-T H.273 transfer characteristics
_MISSING_FRAMES_ALLOWED: Final = 2  # containers count a delayed frame or two that no decoder gives back


class VideoSource:
    """Frames of the first video stream; `t_ns` from each frame's presentation time, never from its number (phones vary the rate)."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path
        if not path.is_file():
            raise InputUnusable(f"{path}: no such file")
        if path.stat().st_size == 0:
            raise InputUnusable(f"{path}: file is empty")
        try:
            self._container = av.open(str(path))
        # UnicodeDecodeError: its title or another remark is damaged.
        except (av.FFmpegError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, av.FFmpegError) else error.reason
            raise InputUnusable(f"{path}: not a video that can be read, or its index is cut off ({why})") from error
        if not self._container.streams.video:
            self._container.close()
            raise InputUnusable(f"{path}: holds no video stream")
        self._stream = self._container.streams.video[0]
        self._stream.thread_type = "AUTO"
        self._frames: Iterator[VideoFrame] = self._container.decode(self._stream)
        self._promised = int(self._stream.frames or 0)
        self._decoded = 0
        self._last_t_ns: int | None = None
        self._closed = False
        try:
            self._first: Frame | None = self._decode()
        except SourceFailed as error:
            self.close()
            raise InputUnusable(str(error)) from error
        if self._first is None:
            self.close()
            raise InputUnusable(f"{path}: video holds no frame")
        self.size_px = (self._first.image.shape[1], self._first.image.shape[0])

    def read(self) -> Frame | None:
        """Next frame; None at the true end; SourceFailed where the file breaks off before it."""
        frame, self._first = (self._first, None) if self._first is not None else (self._decode(), None)
        return frame

    def _decode(self) -> Frame | None:
        while True:
            try:
                picture = next(self._frames, None)
            except av.FFmpegError as error:
                raise SourceFailed(
                    f"{self._path}: video breaks off after {self._decoded} frames (truncated or damaged: {error.strerror}); "
                    "copy the file again"
                ) from error
            if picture is None:
                if self._decoded < self._promised - _MISSING_FRAMES_ALLOWED:
                    raise SourceFailed(
                        f"{self._path}: video is truncated: {self._decoded} of {self._promised} frames are there; copy the file again"
                    )
                return None
            self._decoded += 1
            if picture.pts is None or picture.time_base is None:
                raise SourceFailed(f"{self._path}: frame {self._decoded} has no timestamp; re-wrap the file so that every frame has one")
            t_ns = int(picture.pts * picture.time_base * 1_000_000_000)
            if self._last_t_ns is not None and t_ns <= self._last_t_ns:
                continue  # a frame shown again is no new light
            self._last_t_ns = t_ns
            return Frame(image=self._to_bgr(picture), t_ns=t_ns, seq=self._decoded - 1)

    def _to_bgr(self, picture: VideoFrame) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
        transfer = int(getattr(picture, "color_trc", 0) or 0)
        if transfer in _HDR_TRANSFERS:
            raise SourceFailed(
                f"{self._path}: recorded in HDR ({_HDR_TRANSFERS[transfer]}), its colours would be wrong; "
                "record in SDR, or convert it to 8-bit BT.709 first"
            )
        image = picture.to_ndarray(format="bgr24")
        turn_deg = int(getattr(picture, "rotation", 0) or 0)
        if turn_deg % 90:
            raise SourceFailed(f"{self._path}: is to be shown turned by {turn_deg} degrees; only quarter turns are understood")
        upright: np.ndarray[tuple[int, ...], np.dtype[np.uint8]] = np.ascontiguousarray(np.rot90(image, turn_deg // 90), dtype=np.uint8)
        upright.setflags(write=False)
        return upright

    def close(self) -> None:
        """Close the file; safe to call twice."""
        if not self._closed:
            self._closed = True
            self._container.close()
