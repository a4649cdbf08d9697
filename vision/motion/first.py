"""The first contact of a stroke, settled: by who can have moved at all, and where that leaves a choice, by playing the choices out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rules.table import SIDES
from vision.motion.contacts import Touch, is_backed
from vision.motion.hypotheses import Verdict, weigh
from vision.motion.onset import Onset, first_movers, frame_s, later_movers
from vision.motion.path import Path

Array = NDArray[np.float64]

_CERTAIN: Final = 0.99  # only one piece can have been it
_CLEAN: Final = 0.9  # confidence of a contact that directions and momenta agree on
_SOON_S: Final = 0.0015  # a second piece that may have been hit this soon after the first is looked at as well
_AROUND_S: Final = 0.003  # by which a contact's time may lie outside the frames between which its piece has moved
_SHARE: Final = 0.5  # events of the likeliest explanation that fewer of the others have are left out
_DOUBTFUL: Final = 0.5  # for review
_HALF_SEEN: Final = 0.8  # for review
_UNSEEN_FRAMES: Final = 2.5  # so many frames without the striker are more than a missed sighting
_UNSEEN_MM: Final = 30.0  # way of the striker in them on which it may have met a piece
_LONGER: Final = 1.15  # such a way may be longer than its ends and speeds tell
_TURNED_MM_S: Final = 300.0  # of change in velocity
_TURNED: Final = 0.25  # and as a share of it; poor runs of a fast striker differ by less
_KNOWN_S: Final = 0.004  # a break's time against a contact's
_MOMENT_S: Final = 0.05  # three frames at 60 per second
_FOLLOWED: Final = 4  # sightings on its way from which a striker's place at the contact is known to a millimetre
_AT_MM: Final = 2.5  # it touches a piece as far as its place is known
_CLEAR_OF_MM: Final = 5.0  # and from here on it does not
_SAME_S: Final = 0.006  # the same contact found in both ways
_SHIFTED_MM: Final = 0.4  # slow errors of one disc's place change by less within a stroke
_AWAY_MM: Final = 0.9  # and beyond this it has plainly moved
_STAYS_MM: Final = 1.0  # from where it came to rest
_CREPT_S: Final = 0.05  # how well the time of a touch at rest is known
_IN_ROW_MM: Final = 1.0  # a piece that leaves again this soon is not seen to have moved
_TOUCHING_MM: Final = 0.6  # two slow errors of a place


@dataclass(frozen=True, slots=True)
class First:
    """What the striker touched first: several pieces when together; the time of the cue's blow where that has been worked out."""

    pieces: Sequence[str]
    t_s: float
    confidence: float
    struck_s: float | None = None


def settle_first(
    paths: Mapping[str, Path], striker: str, hits: Sequence[Touch], slowing_mm_s2: float, exposure_s: float
) -> tuple[list[Touch], First | None]:
    """All contacts with those about the first one settled, and the first one; None where the striker touched no piece."""
    every, first = _settled(paths, striker, hits, slowing_mm_s2, exposure_s)
    struck_s = next((h.t_s for h in hits if h.disc == striker and h.other == "cue"), -np.inf)
    grazed = _grazed(paths, striker, struck_s - _MOMENT_S, np.inf if first is None else first.t_s)
    if grazed is not None:
        return [*every, grazed], First((grazed.other,), grazed.t_s, grazed.confidence)
    if first is not None and (
        _was_out_of_sight(paths, striker, first, struck_s)
        or _may_be_exchanged(paths, striker, first)
        or _was_turned(paths[striker], every, struck_s, first.t_s)
    ):
        first = replace(first, confidence=min(first.confidence, _HALF_SEEN))
    return every, first


def _grazed(paths: Mapping[str, Path], striker: str, after_s: float, before_s: float) -> Touch | None:
    """A piece that has shifted by hardly more than a measuring error for good, after the blow and before anything else was touched: a
    graze, or nothing."""
    for path in paths.values():
        shifted_mm = path.shifted_mm
        if path.id == striker or shifted_mm is None or not after_s < path.woken_s < before_s:
            continue
        if _SHIFTED_MM < shifted_mm < _AWAY_MM:
            return Touch(path.woken_s, _CREPT_S, striker, path.id, _DOUBTFUL)
    return None


def _was_out_of_sight(paths: Mapping[str, Path], striker: str, first: First, struck_s: float) -> bool:
    """Whether the struck striker got on by a good way unseen before its first contact, and may have met another piece on it."""
    path, longest_s = paths[striker], _UNSEEN_FRAMES * frame_s(paths)
    lay_until_s = max(path.woken_s, struck_s)
    seen = [(s.t_s, np.array([s.x_mm, s.y_mm])) for s in path.seen if lay_until_s < s.t_s < first.t_s]
    there = paths[first.pieces[0]].rest_mm
    if there is not None:
        seen.append((first.t_s, there))
    if path.rest_mm is not None and path.woken_s:
        seen.insert(0, (lay_until_s, path.rest_mm))
    others = [p for p in paths.values() if p.id != striker and p.id not in first.pieces]
    for (a_s, a), (b_s, b) in pairwise(seen):
        if b_s - a_s > longest_s and float(np.hypot(*(b - a))) > _UNSEEN_MM:
            fastest = max(float(np.hypot(*path.velocity_before(t))) for t in (a_s, b_s))
            way = _LONGER * max(fastest * (b_s - a_s), float(np.hypot(*(b - a))))
            if any(_is_within(way, a, b, other, path.shape.radius_mm) for other in others if _has_set_off(other, b_s + longest_s)):
                return True
    return False


def _was_turned(striker: Path, hits: Sequence[Touch], struck_s: float, before_s: float) -> bool:
    """Whether the struck striker was turned sharply before its first contact by nothing that is known."""
    known = [h.t_s for h in hits if striker.id in (h.disc, h.other)]
    return any(
        struck_s + _KNOWN_S < kink.t_s < before_s - _KNOWN_S
        and float(np.hypot(*kink.kick_mm_s)) > max(_TURNED_MM_S, _TURNED * kink.before.speed_mm_s)
        and all(abs(kink.t_s - t) > _KNOWN_S + 2 * kink.sigma_s for t in known)
        for kink in striker.breaks
    )


def _has_set_off(path: Path, by_s: float) -> bool:
    """Whether a piece has moved by then, or nobody knows when it went: what was met does not lie there as it lay."""
    since_s = min([path.woken_s or np.inf, *(s.t_s for s in path.seen[:1])])
    return since_s < by_s or (not path.is_here and since_s == np.inf)


def _is_within(way_mm: float, a: Array, b: Array, other: Path, radius_mm: float) -> bool:
    """Whether a way of this length from a (2,) to b (2,) may have touched a piece that lay there."""
    if other.rest_mm is None:
        return False
    detour = float(np.hypot(*(a - other.rest_mm))) + float(np.hypot(*(b - other.rest_mm)))
    return detour - 2 * (radius_mm + other.shape.radius_mm) < way_mm


def _may_be_exchanged(paths: Mapping[str, Path], striker: str, first: First) -> bool:
    """Whether another piece of the same kind vanished at that moment: who stayed and who went cannot be seen by their looks.

    Where the striker was seen to come up to the one and was clear of all others like it, it does not matter who went.
    """
    kinds = {paths[name].kind for name in first.pieces}
    if any(paths[name].vanished for name in first.pieces):
        return False
    gone = [p for p in paths.values() if p.vanished and p.kind in kinds and abs((p.woken_s or p.last_s) - first.t_s) < _MOMENT_S]
    came = [s.t_s for s in paths[striker].seen if s.t_s < first.t_s]
    if not came or first.t_s - came[-1] > _UNSEEN_FRAMES * frame_s(paths) or len(came) < _FOLLOWED:
        return bool(gone)
    clear_mm = max(_CLEAR_OF_MM, _SOON_S * float(np.hypot(*paths[striker].velocity_before(first.t_s))))
    like = [(p.id in first.pieces, _gap_mm(paths, striker, p, first.t_s)) for p in paths.values() if p.kind in kinds]
    is_plain = all(abs(gap) < _AT_MM if mine else gap > clear_mm for mine, gap in like)
    return bool(gone) and not is_plain


def _gap_mm(paths: Mapping[str, Path], striker: str, piece: Path, t_s: float) -> float:
    """How far the striker was then from touching a piece where it lay; 0 where either is not known."""
    there = paths[striker].at(t_s)
    if there is None or piece.rest_mm is None:
        return 0.0
    return float(np.hypot(*(there - piece.rest_mm))) - paths[striker].shape.radius_mm - piece.shape.radius_mm


def _settled(
    paths: Mapping[str, Path], striker: str, hits: Sequence[Touch], slowing_mm_s2: float, exposure_s: float
) -> tuple[list[Touch], First | None]:
    may = first_movers(paths, striker)
    if not may:
        return _untouched(paths, striker, hits)
    own = [h for h in hits if striker in (h.disc, h.other) and h.other not in SIDES and h.other != "cue"]
    stayed = _stayed(paths, striker, own, min(o.still_s for o in may))
    if stayed is not None:
        kept = [h for h in hits if h not in own or h.t_s >= stayed.t_s]
        return kept, First((_partner(stayed, striker),), stayed.t_s, stayed.confidence)
    alone = _clean(may[0], own) if len(may) == 1 else None
    if alone is not None:
        soon = [o for o in later_movers(paths, striker, may) if o.began_s - o.sigma_s < alone.t_s + _SOON_S]
        if not soon:
            kept = [h for h in hits if h not in own or h.t_s >= alone.t_s]
            return kept, First((may[0].id,), alone.t_s, max(alone.confidence, _CERTAIN))
        may = [*may, *soon]
    verdict = weigh(paths, striker, may, slowing_mm_s2, exposure_s)
    if verdict is None:
        return _unexplained(paths, striker, hits, own, may)
    return _played_out(paths, striker, hits, may, verdict)


def _stayed(paths: Mapping[str, Path], striker: str, own: Sequence[Touch], before_s: float) -> Touch | None:
    """A plain contact before anything moved, with a piece that lies against something and took the blow without leaving."""
    for h in own:
        if h.t_s < before_s and h.confidence >= _CLEAN and is_backed(striker, _partner(h, striker), h.t_s, paths):
            return h
    return None


def _clean(only: Onset, own: Sequence[Touch]) -> Touch | None:
    """The contact that set the only piece off, if it has been found plainly."""
    found = [h for h in own if only.id in (h.disc, h.other) and only.still_s - _AROUND_S < h.t_s < only.moved_s + _AROUND_S]
    if len(found) != 1 or found[0].confidence < _CLEAN:
        return None
    early = [h for h in own if h.t_s < found[0].t_s and only.id in (h.disc, h.other)]
    return None if early else found[0]


def _untouched(paths: Mapping[str, Path], striker: str, hits: Sequence[Touch]) -> tuple[list[Touch], First | None]:
    """Nothing moved: only a piece with something behind it can have been touched, or one that the striker crept up to."""
    own = [h for h in hits if striker in (h.disc, h.other) and h.other in paths] or _crept_up(paths, paths[striker])
    if not own:
        return list(hits), None
    every = sorted({*hits, *own}, key=lambda h: h.t_s)
    return every, First((_partner(own[0], striker),), own[0].t_s, own[0].confidence)


def _crept_up(paths: Mapping[str, Path], striker: Path) -> list[Touch]:
    """A piece that the striker has come to rest at: a touch as slow as that moves it by less than can be seen."""
    if not striker.seen or not striker.is_here:
        return []
    last = striker.seen[-1]
    came = next(s for s in striker.seen if float(np.hypot(s.x_mm - last.x_mm, s.y_mm - last.y_mm)) < _STAYS_MM)
    for path in paths.values():
        if path.id == striker.id or path.rest_mm is None or not path.is_here:
            continue
        far = float(np.hypot(last.x_mm - path.rest_mm[0], last.y_mm - path.rest_mm[1]))
        if far - striker.shape.radius_mm - path.shape.radius_mm < _TOUCHING_MM:
            return [Touch(came.t_s, _CREPT_S, striker.id, path.id, _DOUBTFUL)]
    return []


def _unexplained(
    paths: Mapping[str, Path], striker: str, hits: Sequence[Touch], own: Sequence[Touch], may: Sequence[Onset]
) -> tuple[list[Touch], First | None]:
    """No explanation holds: who it was is certain where only one can have been it, the time is not."""
    onset = may[0]
    if _may_be_handed_on(paths, onset.id):
        plain = [h for h in own if h.confidence >= _CLEAN and h.t_s < onset.moved_s]
        if plain:  # a row that lies against something: the one that was struck stays
            return list(hits), First((_partner(plain[0], striker),), plain[0].t_s, _CLEAN)
    mine = [h for h in own if onset.id in (h.disc, h.other)]
    t = min((h.t_s for h in mine), key=lambda t: abs(t - onset.began_s), default=onset.began_s)
    t = float(np.clip(t, onset.still_s, onset.moved_s))
    confidence = _CLEAN if len(may) == 1 and not _may_be_handed_on(paths, onset.id) else _DOUBTFUL
    kept = [h for h in hits if h not in own or h.t_s > onset.moved_s]
    kept.append(Touch(t, onset.sigma_s, striker, onset.id, confidence))
    return sorted(kept, key=lambda h: h.t_s), First((onset.id,), t, confidence)


def _played_out(
    paths: Mapping[str, Path], striker: str, hits: Sequence[Touch], may: Sequence[Onset], verdict: Verdict
) -> tuple[list[Touch], First]:
    """The contacts of the likeliest explanation in place of those found one by one."""
    inside = set(verdict.discs)
    events = _seen_through(
        paths,
        [
            _named(Touch(e.t_s, max(e.sigma_s, 1e-4), e.disc, e.other, round(e.share, 3)), striker)
            for e in verdict.events
            if e.share >= _SHARE
        ],
    )
    kept = []
    for h in hits:
        replaced = h.other != "cue" and h.disc in inside and (h.other in inside or h.other in SIDES)
        if replaced and verdict.from_s < h.t_s < verdict.moved_s:
            continue
        if any({h.disc, h.other} == {e.disc, e.other} and abs(h.t_s - e.t_s) < _SAME_S for e in events):
            continue
        kept.append(h)
    piece = verdict.shares[0][0][-1]
    pieces, share = [piece], sum(s for label, s in verdict.shares if label and label[-1] == piece)
    second = next((e for e in events if striker in (e.disc, e.other) and e.other not in SIDES and _partner(e, striker) != piece), None)
    if verdict.together >= _SHARE and second is not None:
        pieces.append(_partner(second, striker))
        # Which came first cannot be seen, that both came at once can: nothing is in doubt but a fraction of a millisecond.
        share = sum(s for label, s in verdict.shares if label and label[-1] in pieces)
    elif len(may) == 1 and piece == may[0].id and not _may_be_handed_on(paths, piece):
        share = max(share, _CERTAIN)
    else:
        share = min(share, 1 - verdict.together)
    first = First(tuple(pieces), verdict.t_s, round(float(share), 3), verdict.struck_s)
    return sorted([*kept, *events], key=lambda h: h.t_s), first


def _seen_through(paths: Mapping[str, Path], events: Sequence[Touch]) -> list[Touch]:
    """Without what discs that vanished would have done after the rail that they may have gone over."""
    out: list[Touch] = []
    over: set[str] = set()
    for e in sorted(events, key=lambda e: e.t_s):
        if e.disc in over or e.other in over:
            continue
        out.append(e)
        if e.other in SIDES and paths[e.disc].vanished and e.t_s > paths[e.disc].last_s:
            over.add(e.disc)
    return out


def _may_be_handed_on(paths: Mapping[str, Path], name: str) -> bool:
    """Whether a piece lay at another one: a blow goes through a row of pieces and only the last one leaves."""
    here = paths[name].rest_mm
    if here is None:
        return True
    for path in paths.values():
        if path.id == name or path.rest_mm is None or path.kind == "striker":
            continue
        if float(np.hypot(*(path.rest_mm - here))) - path.shape.radius_mm - paths[name].shape.radius_mm < _IN_ROW_MM:
            return True
    return False


def _named(touch: Touch, striker: str) -> Touch:
    """Two discs in the order that contacts are told in."""
    if touch.other in SIDES or touch.disc == striker or (touch.other != striker and touch.disc < touch.other):
        return touch
    return replace(touch, disc=touch.other, other=touch.disc)


def _partner(touch: Touch, striker: str) -> str:
    return touch.other if touch.disc == striker else touch.disc
