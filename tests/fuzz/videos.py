"""Small good recordings in the containers that phones write."""

from __future__ import annotations

import io

import av
import numpy as np


def videos() -> tuple[bytes, ...]:
    """Five frames of noise each."""
    return tuple(_recorded(container, codec) for container, codec in (("mp4", "h264"), ("mov", "mpeg4"), ("avi", "mjpeg")))


def _recorded(container: str, codec: str) -> bytes:
    out = io.BytesIO()
    rng = np.random.default_rng(2)
    with av.open(out, "w", format=container) as file:
        stream = file.add_stream(codec, rate=30)
        stream.width, stream.height = 80, 64
        stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        for _ in range(5):
            frame = av.VideoFrame.from_ndarray(rng.integers(0, 255, (64, 80, 3), np.uint8), format="bgr24")
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
    return out.getvalue()
