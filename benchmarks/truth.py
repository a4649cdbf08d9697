"""Truth files of rendered pictures and clips, in the contract's terms. Only measuring code reads truth, never the product."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Calibration, Camera
from calibration.lens import Lens
from rules.facts import (
    Contact,
    Disc,
    Match,
    Player,
    Pocketed,
    Position,
    Rail,
    Rest,
    Returned,
    Stroke,
    Struck,
    TimelineEvent,
)
from rules.table import Kind, depth_mm
from virtual_table import Optics

Array = NDArray[np.float64]

TOGETHER_S = 0.001  # contacts closer than this are not separable by any camera of the design
NEAR_LINE_MM = 6.0  # a striker that stays further out than this on its way back did not come back to its line


def kind_of(truth_kind: str) -> Kind:
    """The truth files call the striker by its Latvian name."""
    kinds: dict[str, Kind] = {"ripa": "striker", "striker": "striker", "red": "red", "black": "black"}
    return kinds[truth_kind]


def name_of(truth_id: str) -> str:
    """Ids in the contract's words."""
    return "striker" if truth_id == "ripa" else truth_id


def load(path: Path) -> dict[str, Any]:
    """One truth file."""
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


def lens_of(truth: dict[str, Any]) -> Lens:
    """The lens a truth file was rendered with, as a lens file has it."""
    camera = truth["camera"]
    return Lens(width=camera["width"], height=camera["height"], K=camera["K"], dist=camera["dist"], rms_px=0.1)


def camera_of(optics: Optics) -> Camera:
    """The product's camera for one of the virtual table's, as it truly stands."""
    pose = {"rvec": optics.rvec.ravel().tolist(), "tvec": optics.tvec.ravel().tolist()}
    return Camera(Calibration(lens=msgspec.convert(optics.lens, Lens), **pose))


def nearest_pairs(true_mm: Array, found_mm: Array, within_mm: float) -> dict[int, tuple[int, float]]:
    """Nearest pairs of places (N, 2) and (M, 2), greedily: index of the true one -> index of the found one and distance in mm."""
    near = sorted((float(np.hypot(*(t - f))), i, j) for i, t in enumerate(true_mm) for j, f in enumerate(found_mm))
    out: dict[int, tuple[int, float]] = {}
    used: set[int] = set()
    for distance, i, j in near:
        if distance <= within_mm and i not in out and j not in used:
            out[i] = (j, distance)
            used.add(j)
    return out


def match_of(truth: dict[str, Any], match_id: str) -> Match:
    """A match entry from a clip's `sides`; the player who strikes has the turn."""
    sides = truth["sides"]
    players = {side: Player(name=f"Player {side}", colour=colour) for side, colour in sides["players"].items()}
    return Match(id=match_id, ruleset="lnf-2008", format="singles", sets=5, players=players, first_turn=sides["striker_side"])


def write_inputs(truth: dict[str, Any], folder: Path, match_id: str) -> tuple[Path, Path]:
    """Lens file and match file for one clip."""
    lens, match = folder / "lens.json", folder / "match.json"
    lens.write_bytes(msgspec.json.encode(lens_of(truth)))
    match.write_bytes(msgspec.json.encode({"match": match_of(truth, match_id)}))
    return lens, match


def _position(frame: dict[str, Any], kinds: dict[str, Kind]) -> Position:
    on_table = {k: p for k, p in frame["pos"].items() if p[2] > -1.0}
    return Position(discs=[Disc(id=name_of(k), kind=kinds[k], x_mm=p[0], y_mm=p[1]) for k, p in sorted(on_table.items())])


def _timeline(truth: dict[str, Any]) -> list[TimelineEvent]:
    events: list[TimelineEvent] = []
    for contact in truth["contacts"]:
        t, ids = contact["t_s"], [name_of(i) for i in contact["ids"]]
        if contact["kind"] == "cue-ripa":
            events.append(Struck(t=t))
        elif contact["kind"] == "disc-disc":
            last = events[-1] if events else None
            shared = set(ids) & set(last.discs) if isinstance(last, Contact) else set()
            if isinstance(last, Contact) and shared and t - last.t <= TOGETHER_S and set(ids) != set(last.discs):
                events[-1] = Contact(t=last.t, discs=sorted({*last.discs, *ids}, key=lambda i: i != "striker"))
            else:
                events.append(Contact(t=t, discs=sorted(ids, key=lambda i: i != "striker")))
        elif contact["kind"] == "disc-rail":
            events.append(Rail(t=t, disc=ids[0], rail=contact["rail"]))
        elif contact["kind"] == "pocket":
            events.append(Pocketed(t=t, disc=ids[0], pocket=contact["pocket"]))
    return events


def _returned(truth: dict[str, Any], start_s: float) -> list[TimelineEvent]:
    side = truth["sides"]["striker_side"]
    line_mm = abs(truth["table"]["line_offsets"][side])
    deepest: tuple[float, float] | None = None
    has_left = False
    for frame in truth["frames"]:
        position = frame["pos"].get("ripa")
        if frame["t_s"] < start_s or position is None or position[2] < -1.0:
            continue
        depth = depth_mm(side, position[0], position[1], line_mm)
        has_left = has_left or depth < -NEAR_LINE_MM
        if has_left and (deepest is None or depth > deepest[1]):
            deepest = (frame["t_s"], depth)
    if deepest is None or deepest[1] < -NEAR_LINE_MM:
        return []
    return [Returned(t=deepest[0], depth_mm=deepest[1])]


def stroke_of(truth: dict[str, Any]) -> Stroke:
    """The stroke that a clip shows, as its truth file has it."""
    kinds = {d["id"]: kind_of(d["kind"]) for d in truth["discs"]}
    start_s = truth["stroke"]["t_s"]
    before = [f for f in truth["frames"] if f["t_s"] <= start_s][-1]
    timeline = [*_timeline(truth), *_returned(truth, start_s), Rest(t=truth["t_all_at_rest_s"])]
    return Stroke(
        side=truth["sides"]["striker_side"],
        before=_position(before, kinds),
        timeline=sorted(timeline, key=lambda e: e.t),
        after=_position(truth["frames"][-1], kinds),
    )
