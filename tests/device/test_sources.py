from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from device.sources.choose import open_source
from device.sources.frame import Source
from device.sources.stills import StillsSource
from device.sources.video import VideoSource
from rules.errors import InputUnusable, SourceFailed

DATA = Path(__file__).parent.parent / "data"
TICKS = Fraction(1, 90_000)


def write_video(path: Path, times_ticks: list[int], size: tuple[int, int] = (128, 96)) -> Path:
    """A small H.264 clip whose frames get brighter, each at its own time in 1/90000 s."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=30)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.time_base = stream.codec_context.time_base = TICKS
        for i, pts in enumerate(times_ticks):
            frame = av.VideoFrame.from_ndarray(np.full((size[1], size[0], 3), 20 + 5 * i, dtype=np.uint8), format="bgr24")
            frame.pts, frame.time_base = pts, TICKS
            for packet in stream.encode(frame):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return path


def drain(source: Source) -> list[tuple[int, int, int]]:
    out = []
    while (frame := source.read()) is not None:
        out.append((frame.seq, frame.t_ns, int(frame.image.mean())))
    return out


def test_variable_rate_video_keeps_each_frames_own_time(tmp_path: Path) -> None:
    ticks = [0, 3000, 4500, 12000, 12900, 30000]
    frames = drain(VideoSource(write_video(tmp_path / "vfr.mp4", ticks)))
    assert [t for _, t, _ in frames] == [round(tick / 90_000 * 1e9) for tick in ticks]
    assert [b for _, _, b in frames] == sorted({b for _, _, b in frames})


def test_a_clip_marked_as_turned_comes_out_upright() -> None:
    # A 128x96 clip with a red box at its coded top left, marked as to be turned by a quarter: ffmpeg shows it at the bottom left.
    image = VideoSource(DATA / "turned_90.mp4").read()
    assert image is not None
    assert image.image.shape == (128, 96, 3)
    blue, green, red = image.image[-8, 8].astype(int)
    assert red > 150
    assert max(blue, green) < 80


def test_truncation_is_a_failure_and_not_the_end(tmp_path: Path) -> None:
    whole = write_video(tmp_path / "whole.mp4", [3000 * i for i in range(40)], (640, 480))
    fast = tmp_path / "fast.mp4"
    with av.open(str(whole)) as reader, av.open(str(fast), "w", options={"movflags": "faststart"}) as writer:
        stream = writer.add_stream_from_template(reader.streams.video[0])
        for packet in reader.demux(reader.streams.video[0]):
            if packet.dts is not None:
                packet.stream = stream
                writer.mux(packet)
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(fast.read_bytes()[: int(fast.stat().st_size * 0.8)])
    source = VideoSource(cut)
    with pytest.raises(SourceFailed, match=r"cut\.mp4.*(truncated|breaks off)"):
        drain(source)


@pytest.mark.parametrize(("content", "words"), [(None, "no such file"), (b"", "empty"), (b"not a video" * 100, "not a video")])
def test_what_is_no_video_is_refused_in_one_sentence(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "clip.mp4"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputUnusable, match=words):
        open_source(str(path))


def test_stills_come_in_natural_order(tmp_path: Path) -> None:
    for name, level in (("10.png", 100), ("9.png", 50), ("1.png", 10)):
        cv2.imwrite(str(tmp_path / name), np.full((96, 128, 3), level, np.uint8))
    assert [b for _, _, b in drain(StillsSource(tmp_path))] == [10, 50, 100]


def test_a_bad_still_among_good_ones_is_a_failure(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "1.png"), np.zeros((96, 128, 3), np.uint8))
    (tmp_path / "2.png").write_text("broken")
    source = StillsSource(tmp_path)
    assert source.read() is not None
    with pytest.raises(SourceFailed, match=r"2\.png"):
        source.read()


def test_stills_of_two_sizes_are_a_failure(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "1.png"), np.zeros((96, 128, 3), np.uint8))
    cv2.imwrite(str(tmp_path / "2.png"), np.zeros((128, 96, 3), np.uint8))
    source = StillsSource(tmp_path)
    source.read()
    with pytest.raises(SourceFailed, match="the first picture is"):
        source.read()


def test_an_empty_folder_and_a_single_picture_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputUnusable, match="no pictures"):
        open_source(str(tmp_path))
    shutil.copy(DATA / "turned_90.mp4", tmp_path / "x.png")
    with pytest.raises(InputUnusable, match="novuss detect"):
        open_source(str(tmp_path / "x.png"))


def test_picamera_off_the_pi_says_what_to_install() -> None:
    with pytest.raises(SourceFailed, match="python3-picamera2"):
        open_source("picamera")
