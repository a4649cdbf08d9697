"""The steps, in the order in which a person with a ladder does them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.find import TableFit, find_table
from calibration.lens import Lens, load_lens
from calibration.report import draw_report
from device.doctor.network import broker as try_broker
from device.setup.bench import Bench
from device.setup.measure import light, sharpness
from device.sources.choose import PICAMERA, VIRTUAL, default_source
from device.sources.frame import Adjustable
from device.storage.atomic import write_bytes, write_json
from rules.errors import Bug, NovussError, TableNotFound

LIGHT_FRAMES: Final = 60  # a second: several beats of a lamp against the frame rate
FOCUS_FRAMES: Final = 3000  # most frames of one focusing; whoever is still turning then asks for another
STILL_FRAMES: Final = 10  # of what does not change: more figures would be the same
TABLE_FRAMES: Final = 4
TABLE_TRIES: Final = 5
BAR: Final = 40
YES: Final = {"y", "yes", "j", "ja", "jā"}


def camera(bench: Bench) -> None:
    """Which camera, and whether it gives pictures."""
    talk = bench.talk
    answer = talk.ask(
        f"Camera: {PICAMERA}, {VIRTUAL}, a video file or a folder of stills", bench.settings.camera.source or default_source()
    )
    bench.close_source()
    bench.keep({"camera.source": answer})
    source = bench.source()
    frame = bench.frames(1)[0]
    talk.say(f"found: {source.name}, {frame.image.shape[1]}x{frame.image.shape[0]} px")
    south = talk.ask("Side S of the table lies in the picture at the bottom, left, top or right", bench.settings.table.south)
    bench.keep({"table.south": south})


def focus(bench: Bench) -> None:
    """A sharpness figure to turn the lens by."""
    talk = bench.talk
    best = now = 0.0
    if bench.is_live:
        talk.say("Turn the lens ring until the figure no longer rises, then Enter. The table should have pieces or paper with print on it.")
    for number in range(FOCUS_FRAMES if bench.is_live else STILL_FRAMES):
        now = sharpness(bench.frames(1)[0].image)
        best = max(best, now)
        if number % 6 == 0:
            talk.show(f"sharpness {now:7.1f}  best {best:7.1f}  {'#' * round(BAR * now / max(best, 1e-9)):<{BAR}}")
            if bench.is_live and talk.has_enough():
                break
    talk.say(f"sharpness {now:.1f}, best {best:.1f}")
    source = bench.source()
    if isinstance(source, Adjustable) and (dioptre := source.figures()["lens_dioptre"]) is not None:
        bench.keep({"camera.focus_dioptre": round(dioptre, 3)})
        talk.say(f"the lens focuses by itself; it found {dioptre:.2f} dioptre, which is held from now on")


def exposure(bench: Bench) -> None:
    """Exposure, gain, mains; what the light is like."""
    talk, now = bench.talk, bench.settings.camera
    seen = light([frame.image for frame in bench.frames(LIGHT_FRAMES if bench.is_live else STILL_FRAMES)])
    talk.say(f"brightness {seen.mean:.0f} of 255, white {seen.white:.1%}, flicker {seen.flicker:.1%}")
    for advice in seen.advice() or ("the light is good",):
        talk.say(f"- {advice}")
    source = bench.source()
    if not isinstance(source, Adjustable):
        talk.say("this source has no exposure of its own")
        return
    red, blue = source.figures()["colour_gains"]
    bench.keep(
        {
            "camera.exposure_us": _number(talk.ask("Exposure in microseconds", str(now.exposure_us))),
            "camera.gain": _number(talk.ask("Gain", str(now.gain))),
            "camera.mains_hz": _number(talk.ask("Lamps flicker with the mains at 50 or 60 Hz, or not: 0", str(now.mains_hz))),
            "camera.red_gain": round(red, 3),
            "camera.blue_gain": round(blue, 3),
        }
    )
    bench.close_source()


def lens(bench: Bench) -> None:
    """The lens file, if there is one."""
    talk = bench.talk
    known = bench.settings.camera.lens
    talk.say("A lens file makes every place exact: print the board (novuss lens --print board.pdf), photograph it with this camera,")
    talk.say("novuss lens photos/*.jpg -o lens.json. Without one the lens is estimated from the table.")
    answer = talk.ask("Lens file, empty for none", str(known) if known is not None else "")
    if not answer:
        return
    path = Path(answer).expanduser().absolute()
    load_lens(path).check_size(*bench.source().size_px, where=bench.source().name)
    bench.keep({"camera.lens": str(path), "camera.calibration": None})
    talk.say(f"{path} fits this camera")


def table(bench: Bench) -> None:
    """The table found by its lines; the picture of its residuals and the calibration written."""
    talk, settings = bench.talk, bench.settings
    known = load_lens(settings.camera.lens) if settings.camera.lens is not None else getattr(bench.source(), "lens", None)
    fit, picture = _find(bench, known)
    report = bench.place_for("table.png")
    made, data = cv2.imencode(".png", draw_report(picture, fit))
    if not made:
        raise Bug("the report could not be written as PNG")
    report.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(report, bytes(data))
    bench.on_report(bytes(data))
    talk.say(f"found; its lines fit to {fit.calibration.rms_px:.2f} px. Picture of what fits how well: {report}")
    for problem in fit.problems:
        talk.say(f"- {problem}")
    if not bench.is_live:
        talk.say("nothing is kept of it: the table is found anew in every recording")
        return
    if talk.ask("Keep it (y), or look again (n)", "y").lower() not in YES:
        table(bench)
        return
    path = bench.place_for("calibration.json")
    write_json(path, fit.calibration)
    # A calibration holds its lens.
    bench.keep({"camera.calibration": str(path), "camera.lens": None})
    talk.say(f"kept in {path}")


def broker(bench: Bench) -> None:
    """The broker, tried at once."""
    talk, now = bench.talk, bench.settings.mqtt
    url = talk.ask("Broker, e.g. mqtt://hall.local; empty: one is built in", now.url or "")
    values: dict[str, object] = {"mqtt.url": url or None}
    if url:
        user = talk.ask("User there", now.user or "")
        values["mqtt.user"] = user or None
        password = talk.ask("Password (not shown; empty: as it is)", "", hidden=True) if user else ""
        if password:
            values["mqtt.password_file"] = str(bench.keep_password(password))
    bench.keep(values)
    found = try_broker(bench.settings, bench.environ)
    talk.say(f"{found.text}{f' -> {found.remedy}' if found.remedy else ''}")
    if found.level == "wrong" and talk.ask("Enter it again (y), or leave it so (n)", "n").lower() in YES:
        broker(bench)


def names(bench: Bench) -> None:
    """The table's name, what is played, who may see the board."""
    talk, now = bench.talk, bench.settings
    bench.keep(
        {
            "table.name": talk.ask("Name of this table (letters, digits, - and .)", now.table.name),
            "match.ruleset": talk.ask("Rules: lnf-2008, lnf-current, casual", now.match.ruleset),
            "match.sets": _number(talk.ask("Sets of a match", str(now.match.sets))),
            "board.host": talk.ask("Board for this machine only: 127.0.0.1, for everybody in the network: 0.0.0.0", now.board.host),
        }
    )


STEPS: Final[dict[str, Callable[[Bench], None]]] = {
    "camera": camera,
    "focus": focus,
    "exposure": exposure,
    "lens": lens,
    "table": table,
    "broker": broker,
    "names": names,
}


def _find(bench: Bench, known: Lens | None) -> tuple[TableFit, NDArray[np.uint8]]:
    reason: TableNotFound | None = None
    for _ in range(TABLE_TRIES):
        pictures = [frame.image for frame in bench.frames(TABLE_FRAMES)]
        try:
            fit = find_table(pictures, known, south=bench.settings.table.south, camera=bench.settings.camera.name)
        except TableNotFound as error:
            bench.talk.show(f"looking for the table: {error}")
            reason = error
        else:
            return fit, pictures[0]
    raise NovussError(f"the table was not found: {reason}; take hands and things off its lines, and see that the camera shows all of it")


def _number(text: str) -> int | float | str:
    """What is no number is said by the settings, with what it is for."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text
