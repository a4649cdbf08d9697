"""What a told stroke is worth beside the exact log of the physics: first contact, order, times, rails, pockets, return, names."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from rules.facts import Contact, OverRail, Pocketed, Rail, Returned, Stroke
from rules.table import Side
from virtual_table import World, record
from virtual_table.physics import Contact as Logged

TOGETHER_MS, NEAR_MS = 1.0, 8.0  # of the issue: "together" must be said under the one and never beyond the other
SURE = 0.9  # a contact said with less confidence is not decided
PAIR_S = 0.05  # a told contact belongs to a true one of the same two discs that is nearer than this
FIRM_MM_S = 50.0  # softer contacts move nothing by a measurable way: not counted as missed
SWAP_MM = 15.0  # half a piece: a disc told this far from where it really ended, and another of its kind told there instead
LINE_IN_HOLE_MM = -6.0  # returns that stay farther out than this need not be told


@dataclass(slots=True)
class Tally:
    """Counts and errors of many strokes at one frame rate."""

    counts: Counter[str] = field(default_factory=Counter)
    first_ms: list[float] = field(default_factory=list)
    contact_ms: list[float] = field(default_factory=list)
    pocket_ms: list[float] = field(default_factory=list)
    depth_mm: list[float] = field(default_factory=list)
    rest_mm: list[float] = field(default_factory=list)
    plain_ms: list[float] = field(default_factory=list)
    told_s: float = 0.0

    @property
    def strokes(self) -> int:
        """How many have been scored."""
        return sum(self.counts[name] for name in ("right", "wrong", "unsure", "no_stroke"))

    def add(self, other: Tally) -> None:
        """Take another tally in."""
        self.counts.update(other.counts)
        self.told_s += other.told_s
        for name in ("first_ms", "contact_ms", "pocket_ms", "depth_mm", "rest_mm", "plain_ms"):
            getattr(self, name).extend(getattr(other, name))

    def lines(self) -> list[str]:
        """For people."""
        n = self.counts
        decided = n["right"] + n["wrong"]
        strokes = self.strokes
        return [
            f"{strokes} strokes: decided {_share(decided, strokes)}, right of decided {_share(n['right'], decided)} ({n['wrong']} wrong, "
            f"{n['unsure']} unsure, {n['no_stroke']} not told)",
            f"together: gap < 1 ms said {n['together_said']} of {n['together_true']}, said beyond 8 ms {n['together_wrong']}; "
            f"rails before first contact wrong {n['rails_before_wrong']} of {n['right']}; "
            f"rail order of the whole stroke right {_share(n['rails_right'], n['rails_right'] + n['rails_wrong'])}",
            f"first contact time p50/p95/max {spread(self.first_ms)} ms; all contacts {spread(self.contact_ms)} ms, "
            f"found {_share(n['contacts_found'], n['contacts_true'])}, invented {_share(n['contacts_invented'], n['contacts_told'])}",
            f"pockets missed {n['pockets_missed']}, invented {n['pockets_invented']} of {n['pockets_true']}, "
            f"time {spread(self.pocket_ms)} ms; over rail missed {n['over_missed']}, invented {n['over_invented']} of {n['over_true']}; "
            f"asked whether it fell {n['gone_unsure']}",
            f"returned missed {n['returned_missed']}, invented {n['returned_invented']} of {n['returned_true']}, "
            f"depth {spread(self.depth_mm)} mm; swapped names {n['swapped']} of {n['named']}"
            + (f"; rest places {spread(self.rest_mm)} mm" if self.rest_mm else ""),
        ]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2%}" if whole else "-"


def spread(values: Sequence[float]) -> str:
    """Median, 95th percentile and largest of errors."""
    return "/".join(f"{float(np.percentile(values, q)):.2f}" for q in (50, 95, 100)) if values else "-"


def striker_hits(log: Sequence[Logged]) -> list[tuple[float, str]]:
    """Time and piece of every contact of the striker."""
    return [(c.t, c.b if c.a == "striker" else c.a) for c in log if c.kind == "disc" and "striker" in (c.a, c.b)]


def score(world: World, struck_s: float, side: Side, told: Stroke | None, known: Mapping[str, str], tally: Tally) -> str:
    """Score one stroke; `known` maps told ids to true ones. The verdict on its first contact: right, unsure, wrong or no_stroke."""
    if told is None:
        tally.counts["no_stroke"] += 1
        return "no_stroke"
    verdict = _first(world, told, known, tally)
    tally.counts[verdict] += 1
    _contacts(world, told, known, tally)
    _rails(world, told, known, tally)
    _gone(world, told, known, tally)
    _returned(world, struck_s, side, told, tally)
    _places(world, told, known, tally)
    return verdict


def _first(world: World, told: Stroke, known: Mapping[str, str], tally: Tally) -> str:
    hits = striker_hits(world.log)
    exact = {i for t, i in hits if (t - hits[0][0]) * 1e3 <= TOGETHER_MS}
    near = {i for t, i in hits if (t - hits[0][0]) * 1e3 <= NEAR_MS}
    said = next((e for e in told.timeline if isinstance(e, Contact) and "striker" in {known.get(i, i) for i in e.discs}), None)
    got = {known.get(i, i) for i in said.discs} - {"striker"} if said else set()
    tally.counts["together_true"] += len(exact) > 1
    tally.counts["together_said"] += len(exact) > 1 and len(got) > 1
    tally.counts["together_wrong"] += len(got) > 1 and not got <= near
    if (said is not None and _is_unsure(said)) or (len(got) > 1 and got <= near and got != exact):
        return "unsure"
    if got != exact and not (len(exact) > 1 and len(got) > 1 and got <= exact):
        return "wrong"
    end = hits[0][0] if hits else math.inf
    true_rails = [c.b for c in world.log if c.kind == "rail" and c.a == "striker" and c.t < end]
    rails = [e.rail for e in told.timeline if isinstance(e, Rail) and known.get(e.disc) == "striker" and (said is None or e.t < said.t)]
    tally.counts["rails_before_wrong"] += rails != true_rails
    if said is not None:
        tally.first_ms.append(abs(said.t - end) * 1e3)
    return "right"


def _is_unsure(event: Contact | Rail | Pocketed) -> bool:
    return event.confidence is not None and event.confidence < SURE


def _contacts(world: World, told: Stroke, known: Mapping[str, str], tally: Tally) -> None:
    true = [(c.t, frozenset((c.a, c.b)), c.approach_mm_s) for c in world.log if c.kind == "disc"]
    said = []
    for e in told.timeline:
        if isinstance(e, Contact) and not _is_unsure(e):
            names = [known.get(i, i) for i in e.discs]
            said.extend((e.t, frozenset((names[0], other))) for other in names[1:])
    found: set[int] = set()
    for t, pair in said:
        near = [(abs(t - s), k) for k, (s, p, _) in enumerate(true) if p == pair and abs(t - s) < PAIR_S and k not in found]
        tally.counts["contacts_told"] += 1
        if near:
            found.add(min(near)[1])
            tally.contact_ms.append(min(near)[0] * 1e3)
        else:
            tally.counts["contacts_invented"] += 1
    firm = {k for k, c in enumerate(true) if c[2] > FIRM_MM_S}
    tally.counts["contacts_true"] += len(firm)
    tally.counts["contacts_found"] += len(firm & found)


def _rails(world: World, told: Stroke, known: Mapping[str, str], tally: Tally) -> None:
    """Order of the striker's rails; one rail several times running is one, for soft bounces cannot be counted."""
    true = [(c.b, c.approach_mm_s) for c in world.log if c.kind == "rail" and c.a == "striker"]
    said = [e.rail for e in told.timeline if isinstance(e, Rail) and known.get(e.disc) == "striker"]
    all_of_them = [rail for rail, _ in groupby(rail for rail, _ in true)]
    firm = [rail for rail, _ in groupby(rail for rail, speed in true if speed > FIRM_MM_S)]
    tally.counts["rails_right" if [r for r, _ in groupby(said)] in (all_of_them, firm) else "rails_wrong"] += 1


def _gone(world: World, told: Stroke, known: Mapping[str, str], tally: Tally) -> None:
    for name, kind, event in (("pockets", "pocket", Pocketed), ("over", "over_rail", OverRail)):
        true = {c.a: c for c in world.log if c.kind == kind}
        every = {known.get(e.disc, e.disc): e for e in told.timeline if isinstance(e, event)}
        said = {disc: e for disc, e in every.items() if isinstance(e, OverRail) or not _is_unsure(e)}
        tally.counts["gone_unsure"] += len(every) - len(said)
        tally.counts[f"{name}_true"] += len(true)
        tally.counts[f"{name}_missed"] += len(true.keys() - every.keys())
        tally.counts[f"{name}_invented"] += len(said.keys() - true.keys())
        if kind == "pocket":
            tally.pocket_ms.extend(abs(said[i].t - true[i].t) * 1e3 for i in true.keys() & said.keys())


def _returned(world: World, struck_s: float, side: Side, told: Stroke, tally: Tally) -> None:
    striker = next(t for t in world.tracks if t.kind == "striker")
    true = record.returned(striker, side, struck_s, world.t)
    said = next((e for e in told.timeline if isinstance(e, Returned)), None)
    tally.counts["returned_true"] += true is not None
    if true is not None and said is not None:
        tally.depth_mm.append(abs(said.depth_mm - true[1]))
    # A hair's breadth decides whether a return is one at all; only clear ones count.
    tally.counts["returned_missed"] += true is not None and said is None and true[1] > LINE_IN_HOLE_MM + 1.5
    tally.counts["returned_invented"] += true is None and said is not None and said.depth_mm > LINE_IN_HOLE_MM + 1.5


def _places(world: World, told: Stroke, known: Mapping[str, str], tally: Tally) -> None:
    """Rest places, and names that have changed owner: a disc told where another of its kind ended."""
    ends = {t.id: (t.kind, p.x_mm, p.y_mm) for t in world.tracks if (p := t.at(world.t + 0.2)) is not None and p.on_table and p.z_mm >= 0}
    for disc in told.after.discs:
        name = known.get(disc.id)
        if name is None:
            continue
        tally.counts["named"] += 1
        away = {i: math.hypot(disc.x_mm - x, disc.y_mm - y) for i, (kind, x, y) in ends.items() if kind == disc.kind}
        if name in away and away[name] < SWAP_MM:
            tally.rest_mm.append(away[name])
        elif away and min(away.values()) < SWAP_MM:
            tally.counts["swapped"] += 1
