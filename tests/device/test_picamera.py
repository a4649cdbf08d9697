"""The Pi's camera on a stand-in for picamera2: what is asked of it, what is noticed, and how it comes back."""

from __future__ import annotations

import importlib.machinery
import itertools
import sys
import types
from collections.abc import Callable

import msgspec
import pytest

from device.settings.records import CameraSettings
from device.sources import picamera
from device.sources.camera_modes import MODES, light_for, mode_of
from device.sources.choose import open_source
from device.sources.frame import Adjustable, Frame
from device.sources.picamera import PicameraSource
from rules.errors import SourceFailed
from tests.device.fake_picamera import World, camera_class

Opens = Callable[..., PicameraSource]


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def opens(world: World, monkeypatch: pytest.MonkeyPatch) -> Opens:
    module = types.ModuleType("picamera2")
    module.Picamera2 = camera_class(world)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "picamera2", module)

    def source(**settings: object) -> PicameraSource:
        return PicameraSource(msgspec.convert(settings, CameraSettings), clock_ns=world.clock.ns, sleep=world.clock.sleep)

    return source


def frames(source: PicameraSource, count: int) -> list[Frame]:
    read = [source.read() for _ in range(count)]
    return [frame for frame in read if frame is not None]


@pytest.mark.parametrize(("model", "mode"), MODES.items())
def test_one_configuration_with_everything_fixed(model: str, mode: object, world: World, opens: Opens) -> None:
    world.model, world.size = f"{model}_wide" if model == "imx708" else model, (MODES[model].width, MODES[model].height)
    source = opens()
    frames(source, 60)
    assert len(world.configured) == 1
    asked = world.configured[0]
    assert asked["main"] == {"size": world.size, "format": "RGB888"}
    assert asked["sensor"] == {"output_size": world.size, "bit_depth": MODES[model].bit_depth}
    assert asked["controls"]["FrameDurationLimits"] == (MODES[model].frame_us,) * 2
    assert asked["controls"]["AeEnable"] is False
    assert asked["controls"]["NoiseReductionMode"] == 0
    figures = source.figures()
    assert figures["colour_gains"][1] == 1.5, "white balance was measured and is held"
    assert figures["lens_dioptre"] == (0.87 if model == "imx708" else None)
    assert figures["complaints"] == []
    assert isinstance(source, Adjustable)
    source.close()
    source.close()


def test_what_is_given_is_not_measured(world: World, opens: Opens) -> None:
    world.model = "imx708"
    opens(red_gain=2.5, blue_gain=1.25, focus_dioptre=1.1)
    controls = world.configured[0]["controls"]
    assert (controls["AwbEnable"], controls["ColourGains"]) == (False, (2.5, 1.25))
    assert (controls["AfMode"], controls["LensPosition"]) == (0, 1.1)


def test_focus_that_is_not_found_is_told_and_replaced(world: World, opens: Opens, caplog: pytest.LogCaptureFixture) -> None:
    world.model, world.focuses = "imx708", False
    assert opens().figures()["lens_dioptre"] == pytest.approx(0.91, abs=0.01)
    assert "set [camera] focus_dioptre" in caplog.text


def test_a_lock_that_does_not_come_is_waited_for_with_a_limit_and_told(
    world: World, opens: Opens, caplog: pytest.LogCaptureFixture
) -> None:
    world.change = lambda metadata: metadata | {"ExposureTime": 9000, "AnalogueGain": 1.0}
    source = opens()
    frames(source, 60)
    figures = source.figures()
    assert "exposure is 9000 us, 4000 us was asked for" in figures["complaints"][0]
    assert "gain is 1.00, 2.00 was asked for" in figures["complaints"][1]
    assert len([r for r in caplog.records if "exposure" in r.message]) == 1, "told once, not with every frame"


@pytest.mark.parametrize(
    ("mains_hz", "asked_us", "exposure_us", "gain", "fps"),
    [
        (0, 4000, 4000, 4.0, 60),
        (50, 4000, 10000, 1.6, 60),
        (60, 4000, 8333, 1.92, 60),
        (50, 30000, 10000, 12.0, 60),
        (0, 30000, 16666, 4.0, 60),
    ],
)
def test_flicker_is_avoided_by_whole_half_periods_of_the_mains(
    mains_hz: int, asked_us: int, exposure_us: int, gain: float, fps: int
) -> None:
    light = light_for(msgspec.convert({"mains_hz": mains_hz, "exposure_us": asked_us, "gain": 4.0}, CameraSettings), mode_of("imx296"))
    assert (light.exposure_us, light.frame_us) == (exposure_us, 1_000_000 // fps)
    assert light.gain == pytest.approx(gain, abs=0.01)


def test_the_slower_hq_camera_fits_two_half_periods() -> None:
    light = light_for(CameraSettings(mains_hz=50, exposure_us=19000), mode_of("imx477"))
    assert (light.exposure_us, light.frame_us) == (20000, 25000)


def test_times_are_the_exposures_midpoint_of_the_middle_row(world: World, opens: Opens) -> None:
    world.model = "imx477"
    frame = opens().read()
    assert frame is not None
    assert frame.t_ns == world.clock.now_ns - 1_000_000 - 3993 * 500 + 11_500_000
    assert (frame.exposure_s, frame.readout_s) == (0.003993, 0.023)
    assert not frame.image.flags.writeable


def test_lost_frames_are_counted_and_no_others(world: World, opens: Opens) -> None:
    source = opens()
    frames(source, 20)
    world.next_stamps = [1, 3, 1, 2, 1]
    read = frames(source, 5)
    assert [b.seq - a.seq for a, b in itertools.pairwise(read)] == [3, 1, 2, 1]
    assert source.figures()["dropped"] == 3


def test_a_period_that_is_a_little_off_adds_up_to_no_lost_frame(world: World, opens: Opens) -> None:
    source = opens()
    world.change = lambda metadata: metadata | {"SensorTimestamp": round(metadata["SensorTimestamp"] * 1.02)}
    world.clock.now_ns = 1_000_000_000
    frames(source, 200)
    assert source.figures()["dropped"] <= 1


def test_a_frame_that_comes_twice_or_late_is_left_out(world: World, opens: Opens) -> None:
    source = opens()
    frames(source, 20)
    world.next_stamps = [1, 0, 1, -2, 1]
    read = frames(source, 3)
    assert [b.seq - a.seq for a, b in itertools.pairwise(read)] == [1, 1]
    assert sorted({frame.t_ns for frame in read}) == [frame.t_ns for frame in read]
    figures = source.figures()
    assert (figures["duplicates"], figures["disordered"], figures["dropped"]) == (1, 1, 0)


def test_a_changed_exposure_is_counted_and_the_frame_says_its_own(world: World, opens: Opens) -> None:
    source = opens()
    frames(source, 20)
    world.change = lambda metadata: metadata | {"ExposureTime": 8000}
    assert {frame.exposure_s for frame in frames(source, 5)} == {0.008}
    world.change = lambda metadata: metadata
    frames(source, 5)
    figures = source.figures()
    assert (figures["changed_exposure"], figures["changed_gain"], figures["complaints"]) == (5, 0, [])


def test_a_complaint_ends_when_all_is_well_again(world: World, opens: Opens) -> None:
    source = opens()
    world.change = lambda metadata: metadata | {"FrameDuration": 33333}
    frames(source, 60)
    assert "30.0 frames a second instead of 60.0" in source.figures()["complaints"][0]
    world.change = lambda metadata: metadata
    frames(source, 40)
    assert source.figures()["complaints"] == []


@pytest.mark.parametrize("stamp", [None, 0, 10**18])
def test_a_sensor_time_of_another_clock_is_left_out_and_told(stamp: int | None, world: World, opens: Opens) -> None:
    source = opens()
    frames(source, 20)
    wrong = 5

    def change(metadata: dict[str, object]) -> dict[str, object]:
        nonlocal wrong
        wrong -= 1
        return metadata if wrong < 0 else metadata | {"SensorTimestamp": stamp}

    world.change = change
    assert len(frames(source, 3)) == 3
    assert source.figures()["odd_times"] == 5
    assert source.figures()["dropped"] == 5


def test_times_that_stay_wrong_end_it(world: World, opens: Opens) -> None:
    source = opens()
    world.change = lambda metadata: metadata | {"SensorTimestamp": 0}
    with pytest.raises(SourceFailed, match="times mean nothing"):
        frames(source, 4)
    assert world.held == 0


def test_a_stall_is_over_in_seconds_and_looks_as_before(world: World, opens: Opens) -> None:
    source = opens()
    before = frames(source, 30)[-1]
    gains = source.figures()["colour_gains"]
    world.stalled = True
    closes = world.clock.sleep

    def sleep(seconds: float) -> None:
        world.stalled = False
        closes(seconds)

    source._sleep = sleep
    after = source.read()
    assert after is not None
    figures = source.figures()
    assert (figures["reopened"], figures["state"]) == (1, "running")
    assert "no new frame for 2 s" in figures["failure"]
    assert (after.t_ns - before.t_ns) / 1e9 < 5
    assert after.seq - before.seq == pytest.approx((after.t_ns - before.t_ns) / 16_666_000, abs=2), "what was lost shows in the numbers"
    assert figures["colour_gains"] == gains, "white balance is not measured anew"
    assert world.configured[1]["controls"]["AwbEnable"] is False


def test_a_camera_that_vanishes_and_comes_back_needs_no_restart(world: World, opens: Opens) -> None:
    source = opens()
    frames(source, 30)
    world.connected = False
    states: list[str] = []
    passes = world.clock.sleep

    def sleep(seconds: float) -> None:
        passes(seconds)
        states.append(str(source.figures()["state"]))
        if len(states) == 20:
            world.connected = True

    source._sleep = sleep
    assert source.read() is not None
    assert states[0] == "stalled"
    assert states[-1] == "missing"
    assert source.figures()["state"] == "running"


def test_a_camera_that_stays_away_ends_it_before_the_watchdog_does(world: World, opens: Opens) -> None:
    source = opens()
    frames(source, 30)
    world.connected = False
    since_ns = world.clock.now_ns
    with pytest.raises(SourceFailed, match=r"picamera 0 \(imx296\): no camera answers.*reseat.*3 attempts"):
        source.read()
    assert (world.clock.now_ns - since_ns) / 1e9 < 25
    assert source.figures()["state"] == "missing"


def test_no_camera_is_a_named_error_at_the_start(world: World, opens: Opens) -> None:
    world.connected = False
    with pytest.raises(SourceFailed, match=r"camera 0: no camera answers: switch off, reseat"):
        opens()
    world.connected = True
    with pytest.raises(SourceFailed, match="camera 1: no camera answers"):
        opens(number=1)


def test_a_request_is_given_back_when_its_picture_cannot_be_had(world: World, opens: Opens) -> None:
    source = opens()
    world.broken_frame = True
    source._sleep = lambda seconds: (world.clock.sleep(seconds), setattr(world, "broken_frame", False))
    assert source.read() is not None
    assert world.held == 0
    assert "failed to find buffer" in str(source.figures()["failure"])


def test_short_memory_for_cameras_is_met_once_with_fewer_buffers(world: World, opens: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    world.small_memory = True
    source = opens()
    assert [asked["buffer_count"] for asked in world.configured] == [4]
    source.close()
    monkeypatch.setattr(picamera, "BUFFERS", (6, 5))
    with pytest.raises(SourceFailed, match=r"cannot be set up for 1456x1088 px .*Cannot allocate memory.*end what else uses"):
        opens()


def test_a_camera_that_hangs_on_closing_is_told(world: World, opens: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picamera, "CLOSE_S", 0.05)
    source = opens()
    world.hangs_on_close.clear()
    try:
        with pytest.raises(SourceFailed, match="does not let go"):
            source.close()
    finally:
        world.hangs_on_close.set()


def test_light_is_changed_while_it_runs(world: World, opens: Opens) -> None:
    source = opens()
    frames(source, 20)
    source.adjust(CameraSettings(exposure_us=2000, gain=8.0))
    assert frames(source, 20)[-1].exposure_s == 0.001993
    figures = source.figures()
    assert (figures["changed_exposure"], figures["dropped"]) == (0, 0)
    assert len(world.configured) == 1


def test_waiting_for_a_lost_camera_can_be_ended(world: World, opens: Opens) -> None:
    source = opens()
    world.connected = False
    source._sleep = lambda seconds: (world.clock.sleep(seconds), source.interrupt())
    assert source.read() is None


def test_without_picamera2_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "picamera2", None)
    with pytest.raises(SourceFailed, match=r"apt install python3-picamera2.*virtual"):
        open_source("picamera")


@pytest.mark.parametrize("error", [ValueError, ImportError, AttributeError])
def test_parts_built_for_another_numpy_are_named_with_the_way_out(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    class Clash:
        __spec__ = importlib.machinery.ModuleSpec("picamera2", None)

        def __getattr__(self, name: str) -> object:
            raise error("numpy.dtype size changed, may indicate binary incompatibility")

    monkeypatch.setitem(sys.modules, "picamera2", Clash())  # type: ignore[arg-type]
    with pytest.raises(SourceFailed, match=r"do not fit together.*numpy [\d.]+ in .*simplejpeg.*--force-reinstall"):
        open_source("picamera")
