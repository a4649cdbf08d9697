"""From frames to evidence: the right frames at their own times, and never a frame or a ruling that waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av
import msgspec
import numpy as np
import pytest

from device import topics
from device.evidence import Piece, Shelf
from device.evidence.film import RING_BYTES, SHARP_BYTES, SHOT_BYTES, Film, Lens, Order, Shot, Take, factor_for
from device.evidence.moment import Point
from device.evidence.record import STILL
from device.evidence.recorder import Recorder
from device.sources.frame import Frame
from rules.ruling import Margin
from tests.evidence import filmed
from tests.parts.brokers import wait_until

FIRST_S, LAST_S = 3.8, 6.6  # little around the moment, where the clip itself is not looked at
QUICK_S = 1.0  # the disk hangs for 20 s; a loaded machine may take some of a second


@pytest.fixture(scope="module")
def image() -> Any:
    return filmed.picture(1.0)


class Rig:
    """A recorder with a folder, and what it announced."""

    def __init__(self, folder: Path, *, patient: bool = True) -> None:
        self.shelf = Shelf(folder, floor_mb=0)
        self.told: list[dict[str, Any]] = []
        self.recorder = Recorder(self.shelf, filmed.camera(), "t1", self._announce, patient=patient)
        self.recorder.start()

    def _announce(self, topic: topics.Topic, payload: dict[str, Any]) -> None:
        assert topic is topics.EVIDENCE
        self.told.append(payload)

    def film(self, image: Any, last_s: float = LAST_S, *, first_s: float = FIRST_S, jitter_ns: int = 0, without: range = range(0)) -> None:
        for frame, moving, busy in filmed.frames(image, last_s, first_s=first_s, jitter_ns=jitter_ns):
            if frame.seq not in without:
                self.recorder.offer(frame, moving, busy=busy)

    def rule(self, **changed: Any) -> str:
        fact = filmed.stroke()
        ruling = msgspec.structs.replace(filmed.ruled(fact), **changed)
        wait_until(lambda: self.recorder.book(fact, ruling).missing != "no_frames", 60)
        booking = self.recorder.book(fact, ruling)
        assert booking.name is not None, booking.missing
        self.recorder.keep(booking.name, filmed.line_of(fact, evidence=booking.name), fact, ruling, {"S": "Anna Ozoliņa"})
        return booking.name

    def kept(self, name: str) -> Piece:
        assert wait_until(lambda: self.shelf.get(name) is not None, 120), self.told
        found = self.shelf.get(name)
        assert found is not None
        return found

    def missing(self) -> dict[str, str | None]:
        return {piece["evidence"]: piece["missing"] for piece in self.told[-1]["latest"]} if self.told else {}


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Callable[..., Rig]]:
    started: list[Rig] = []

    def start(**options: Any) -> Rig:
        started.append(Rig(tmp_path / "evidence", **options))
        return started[-1]

    yield start
    for one in started:
        one.recorder.close(5.0)


def clip_of(rig: Rig, piece: Piece) -> list[tuple[int, int]]:
    """Number drawn in each frame of the clip, and its time in microseconds."""
    path = rig.shelf.file(piece.evidence, piece.clip.file)
    assert path is not None
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        return [
            (filmed.number_in(f.to_ndarray(format="bgr24")), round(f.pts * stream.time_base * 1_000_000)) for f in container.decode(stream)
        ]


def test_every_frame_has_its_own_time_and_the_one_that_the_ruling_names_is_in_the_clip(rig: Callable[..., Rig], image: Any) -> None:
    one = rig()
    lost = range(300, 304)
    threading.Thread(target=one.film, args=(image,), kwargs={"first_s": 0.0, "jitter_ns": 9_000_000, "without": lost}).start()
    piece = one.kept(one.rule())
    seen = clip_of(one, piece)
    times = {frame.seq: frame.t_ns for frame, _, _ in filmed.frames(image, LAST_S, jitter_ns=9_000_000)}
    first_ns = times[piece.clip.frames[0][0]]
    assert [number for number, _ in seen] == [seq for seq, _ in piece.clip.frames]
    assert len(seen) > 280
    for number, at_us in seen:
        assert abs(at_us - (times[number] - first_ns) / 1e3) < 12, "its own time, to the clip's 1/90,000 s"
    assert not set(lost) & {number for number, _ in seen}
    named, at_us = seen[piece.moment.index]
    assert named == piece.moment.seq
    assert abs(piece.moment.clip_s - at_us / 1e6) < 1e-5
    nearest = min((seq for seq in times if seq not in lost), key=lambda seq: abs(times[seq] / 1e9 - filmed.CONTACT_S))
    assert named == nearest
    assert abs(piece.moment.clip_s - 3.0) < 0.05
    assert abs(seen[-1][1] / 1e6 - 5.0) < 0.05


def test_the_clip_plays_in_every_browser(rig: Callable[..., Rig], image: Any) -> None:
    one = rig()
    threading.Thread(target=one.film, args=(image,)).start()
    piece = one.kept(one.rule())
    data = (one.shelf.folder / piece.evidence / piece.clip.file).read_bytes()
    with av.open(str(one.shelf.folder / piece.evidence / piece.clip.file)) as container:
        codec = container.streams.video[0].codec_context
        assert (codec.name, codec.pix_fmt, codec.width % 2, codec.height % 2) == ("h264", "yuv420p", 0, 0)
    assert data.index(b"moov") < data.index(b"mdat"), "it can be shown before it has arrived"
    assert len(data) < 3_000_000


def test_a_still_is_drawn_with_its_figures(rig: Callable[..., Rig], image: Any) -> None:
    import cv2

    one = rig()
    threading.Thread(target=one.film, args=(image,)).start()
    name = one.rule(margins=[Margin(id="r1", zone="S", clearance_mm=0.6, sigma_mm=0.35)])
    one.kept(name)
    path = one.shelf.file(name, STILL)
    assert path is not None
    still = cv2.imread(str(path))
    assert still.shape == (900, 1600, 3)
    assert float(np.std(still)) > 20


def test_a_review_is_protected_until_it_is_decided(rig: Callable[..., Rig], image: Any) -> None:
    one = rig()
    threading.Thread(target=one.film, args=(image,)).start()
    name = one.rule(status="review")
    assert [p.ground for p in one.kept(name).protected] == ["review"]
    one.recorder.decided(name)
    assert wait_until(lambda: not one.kept(name).protected)


def test_what_a_judge_does_meanwhile_is_done_once_the_piece_is_there(rig: Callable[..., Rig], image: Any) -> None:
    one = rig()
    answers: list[bool] = []
    threading.Thread(target=one.film, args=(image,)).start()
    name = one.rule()
    other = filmed.ruled(filmed.stroke())
    one.recorder.correct(name, "overridden", msgspec.structs.replace(other, lawful=False))
    one.recorder.hold(name, "Ilze", keep=True, done=answers.append)
    one.recorder.hold("0000009-00000000", "Ilze", keep=True, done=answers.append)
    assert wait_until(lambda: len(answers) == 2, 120)
    piece = one.kept(name)
    assert [(p.ground, p.by) for p in piece.protected] == [("overridden", None), ("judge", "Ilze")]
    assert piece.corrected
    assert piece.ruling["lawful"] is False
    assert sorted(answers) == [False, True]


def test_a_disk_that_hangs_delays_no_frame_and_no_ruling(rig: Callable[..., Rig], image: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    one = rig(patient=False)
    hangs = threading.Event()
    monkeypatch.setattr(one.shelf, "add", lambda *_: hangs.wait(20))
    slowest_s, names, reasons = 0.0, [], []
    fact = filmed.stroke()
    ruling = filmed.ruled(fact)
    for frame, moving, busy in filmed.frames(image, LAST_S):
        began = time.perf_counter()
        one.recorder.offer(frame, moving, busy=busy)
        slowest_s = max(slowest_s, time.perf_counter() - began)
        time.sleep(0.004)
        if frame.seq > 6.2 * filmed.FPS:
            began = time.perf_counter()
            booking = one.recorder.book(fact, ruling)
            if booking.name is not None:
                names.append(booking.name)
                one.recorder.keep(booking.name, filmed.line_of(fact), fact, ruling, {})
            else:
                reasons.append(booking.missing)
            slowest_s = max(slowest_s, time.perf_counter() - began)
    assert slowest_s < QUICK_S
    assert 0 < len(names) <= 6, "what waits is bounded"
    assert set(reasons) == {"behind"}
    assert one.recorder.figures()["memory_mb"] * 1e6 < RING_BYTES + SHARP_BYTES + 50e6
    hangs.set()


def test_frames_that_find_no_room_are_counted(rig: Callable[..., Rig], image: Any) -> None:
    one = rig(patient=False)
    for frame, moving, busy in filmed.frames(image, 2.0):
        one.recorder.offer(frame, moving, busy=busy)
    assert one.recorder.dropped > 0
    assert one.recorder.figures()["dropped_frames"] == one.recorder.dropped


def test_a_full_disk_is_said_and_the_next_one_is_kept_again(
    rig: Callable[..., Rig], image: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one = rig()
    threading.Thread(target=one.film, args=(image,)).start()
    real = one.shelf.add

    def full(*_: Any) -> Piece:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(one.shelf, "add", full)
    lost = one.rule()
    assert wait_until(lambda: one.missing().get(lost) == "disk_full", 120)
    assert one.recorder.figures()["missing"] == {"disk_full": 1}
    assert "No space left" in caplog.text
    monkeypatch.setattr(one.shelf, "add", real)
    again = one.rule()
    one.kept(again)
    assert wait_until(lambda: one.missing().get(again, "?") is None)


def test_a_moment_that_was_not_filmed_is_said(rig: Callable[..., Rig], image: Any) -> None:
    one = rig()
    fact = filmed.stroke()
    assert one.recorder.book(fact, filmed.ruled(fact)).missing == "no_frames"


def test_a_restart_tells_what_is_there(rig: Callable[..., Rig], image: Any, tmp_path: Path) -> None:
    one = rig()
    threading.Thread(target=one.film, args=(image,)).start()
    name = one.rule()
    one.kept(name)
    one.recorder.close(5.0)
    again = rig()
    assert wait_until(lambda: name in again.missing())
    assert again.told[-1]["pieces"] == 1


def test_the_end_of_a_recording_waits_for_its_film(rig: Callable[..., Rig], image: Any) -> None:
    one = rig()
    one.film(image, 5.8)  # ends within two seconds of the moment
    name = one.rule()
    one.recorder.close(None)
    piece = one.shelf.get(name)
    assert piece is not None
    assert piece.clip.frames[-1][0] == round(5.8 * filmed.FPS) - 1


def test_after_the_last_frame_every_ruling_still_gets_its_clip(rig: Callable[..., Rig], image: Any) -> None:
    one = rig()
    one.film(image, 5.0)
    one.recorder.end(hurry=False)
    names = [one.rule() for _ in range(4)]  # more than may be open at once
    one.recorder.close(None)
    assert one.shelf.names() == names


def test_what_the_log_names_and_a_crash_kept_from_being_made_is_missing(rig: Callable[..., Rig]) -> None:
    one = rig()
    lost = "0000007-01234567"
    one.recorder.recall([filmed.line_of(filmed.stroke(), 7, lost)])
    assert wait_until(lambda: one.missing().get(lost) == "failed", 60)


def test_memory_is_bounded_whatever_is_filmed() -> None:
    done: list[Take] = []
    film = Film(done.append)
    about: Any = Order("n", filmed.line_of(filmed.stroke()), filmed.stroke(), filmed.ruled(filmed.stroke()), {}, Point("", 0.0, ()))
    shot = bytes(SHOT_BYTES[1])
    for seq in range(60 * 60):
        film.add(Shot(seq, seq * filmed.FRAME_NS, shot, 2))
        film.add_sharp(Shot(seq, seq * filmed.FRAME_NS, bytes(900_000), 1))
        if seq % 900 == 600:
            film.cut(Take((seq - 180) * filmed.FRAME_NS, (seq + 120) * filmed.FRAME_NS, about))
        assert film.bytes_held <= RING_BYTES + SHARP_BYTES
    assert len(done) == 4
    assert all(len(take.shots) == 301 for take in done)


def test_noise_is_compressed_more_not_kept() -> None:
    lens = Lens()
    rng = np.random.default_rng(1)
    sizes = []
    for seq in range(40):
        image = rng.integers(0, 255, (544, 728, 3), dtype=np.uint8)
        sizes.append(len(lens.small(Frame(image, seq * filmed.FRAME_NS, seq), ()).jpeg))
    assert sizes[-1] < 0.65 * sizes[0]


def test_every_camera_gives_a_clip_of_some_hundred_pixels() -> None:
    assert {width: width // factor_for(width) for width in (640, 1456, 1536, 2028, 2304, 4056)} == {
        640: 640, 1456: 728, 1536: 768, 2028: 1014, 2304: 768, 4056: 1014,
    }  # fmt: skip
