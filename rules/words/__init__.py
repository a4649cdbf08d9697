"""A ruling in Latvian, English or German: `say(ruling, lang, form, names)`.

Short is for the board: verdict, first clause, consequence, whose turn. Full is for the console: also what was seen, the margin,
every clause, and what to place or put back where.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from rules.reading import SIGMAS
from rules.ruling import Alternative, Ruling
from rules.table import SIDES, TOWARD, Side
from rules.words import de, en, lv

Lang = Literal["lv", "en", "de"]
Form = Literal["short", "full"]

CLAUSES: Final[dict[Lang, dict[str, str]]] = {"lv": lv.CLAUSES, "en": en.CLAUSES, "de": de.CLAUSES}
PHRASES: Final[dict[Lang, dict[str, str]]] = {"lv": lv.PHRASES, "en": en.PHRASES, "de": de.PHRASES}
AT_RAIL_MM: Final = 485.0  # 17.3: the axis of a piece tight against a rail
NEAR_MM: Final = 10.0  # a margin beyond this decided nothing that anyone would doubt
CENTRE_MM: Final = 0.5  # nearer than anyone lays a piece by hand

_SUBJECTS: Final = frozenset({"shaken", "placing"})  # questions that are not about a piece

__all__ = ["CLAUSES", "PHRASES", "Form", "Lang", "clause_words", "say"]


def say(ruling: Ruling | Mapping[str, Any], lang: Lang = "en", form: Form = "short", names: Mapping[Side, str] | None = None) -> str:
    """The ruling in words; `names` are the players by the side where they stand now."""
    value = ruling if isinstance(ruling, Ruling) else msgspec.convert(dict(ruling), Ruling)
    return _Speaker(lang, names or {}).say(value, form)


def clause_words(clause: str, lang: Lang) -> str:
    """A clause's subject in a few words; empty for one that has none."""
    return CLAUSES[lang].get(clause, "")


class _Speaker:
    def __init__(self, lang: Lang, names: Mapping[Side, str]) -> None:
        self.lang = lang
        self.names = names
        self.phrases = PHRASES[lang]

    def say(self, ruling: Ruling, form: Form) -> str:
        if isinstance(ruling.refused, str):
            return self._t("refused", why=ruling.refused) + "."
        if ruling.status == "review":
            return self._review(ruling, form)
        parts = self._seen(ruling) if form == "full" else []
        parts += self._verdict(ruling, form)
        parts += self._consequence(ruling, form)
        parts += self._outcome(ruling)
        return " ".join(f"{p}." for p in parts if p)

    def _t(self, phrase: str, **parts: object) -> str:
        return self.phrases[phrase].format(**parts)

    def _who(self, side: Side | None) -> str:
        return "" if side is None else self.names.get(side, self.phrases[f"side_{side}"])

    def _clause(self, clause: str) -> str:
        words = clause_words(clause, self.lang)
        return f"{words} ({clause})" if words else clause

    def _seen(self, ruling: Ruling) -> list[str]:
        seen = ruling.seen
        if isinstance(seen, msgspec.UnsetType):
            return []
        out = []
        if seen.way is not None:
            pieces = ", ".join(self._t("opponents" if not t.own else "own_dark" if t.dark else "own_light", id=t.id) for t in seen.first)
            first = self._t("first", pieces=pieces) if pieces else self.phrases["first_none"]
            out.append(f"{self.phrases[f'way_{seen.way}']}, {first}")
        for margin in [] if isinstance(ruling.margins, msgspec.UnsetType) else ruling.margins:
            if abs(margin.clearance_mm) > NEAR_MM:
                continue
            close = abs(margin.clearance_mm) <= SIGMAS * margin.sigma_mm and margin.sigma_mm > 0
            how = self.phrases["close" if close else "dark" if margin.clearance_mm >= 0 else "light"]
            out.append(self._t("margin", id=margin.id, mm=f"{abs(margin.clearance_mm):.1f}", how=how))
        if seen.return_margin_mm is not None and seen.return_margin_mm > 0:
            out.append(self._t("return_margin", mm=f"{seen.return_margin_mm:.1f}"))
        if seen.elapsed_s is not None:
            out.append(self._t("elapsed", s=f"{seen.elapsed_s:.0f}"))
        return out

    def _verdict(self, ruling: Ruling, form: Form) -> list[str]:
        faults = list(dict.fromkeys(f.clause for f in ruling.faults or []))
        if not faults:
            if ruling.kind == "stroke" and ruling.lawful is not None:
                return [self.phrases["lawful"]]
            return [] if ruling.kind == "judge" or ruling.told or ruling.next_reason else [self.phrases["no_fault"]]
        named = faults if form == "full" else faults[:1]
        head = self.phrases["unlawful" if ruling.lawful is False else "fault"]
        return [f"{head}: {'; '.join(self._clause(c) for c in named)}"]

    def _consequence(self, ruling: Ruling, form: Form) -> list[str]:
        out: list[str] = []
        if ruling.pocketed and form == "full":
            out.append(self._t("pocketed", ids=", ".join(ruling.pocketed)))
        if isinstance(ruling.told, list):
            out.append(self._t("told", what="; ".join(self._clause(c) for c in ruling.told)))
        if ruling.penalty_pieces:
            n = ruling.penalty_pieces
            out.append(self.phrases["penalty_one"] if n == 1 else self._t("penalty_many", n=n))
        out += [
            self._t("restore", id=back.id, where=self._where(back.x_mm, back.y_mm), clause=back.clause) for back in ruling.restore or []
        ]
        out += [
            self._t("place", kind=self.phrases[p.kind], id=p.id, where=self._where(p.x_mm, p.y_mm), clause=p.clause)
            for p in ruling.place or []
        ]
        unplaced = [] if isinstance(ruling.unplaced, msgspec.UnsetType) else ruling.unplaced
        out += [self._t("unplaced", id=left.id, clause=left.clause) for left in unplaced]
        if form == "full":
            out += [self._t("debt", who=self._who(side), n=n) for side, n in (ruling.debt or {}).items() if n]
            if ruling.kind == "judge":
                out += [self._t("warnings", who=self._who(side), n=n) for side, n in (ruling.warnings or {}).items() if n]
            if isinstance(ruling.refolded, list):
                out.append(self._t("refolded", entries=", ".join(str(r.entry) for r in ruling.refolded)))
        return out

    def _where(self, x_mm: float, y_mm: float) -> str:
        if abs(x_mm) < CENTRE_MM and abs(y_mm) < CENTRE_MM:
            return self.phrases["at_centre"]
        for side in SIDES:
            dx, dy = TOWARD[side]
            if abs(x_mm - dx * AT_RAIL_MM) < CENTRE_MM and abs(y_mm - dy * AT_RAIL_MM) < CENTRE_MM:
                return self._t("at_midline", rail=self.phrases[f"side_{side}"])
        return self._t("at_xy", x=f"{x_mm:.0f}", y=f"{y_mm:.0f}")

    def _outcome(self, ruling: Ruling) -> list[str]:
        out = []
        if ruling.set is not None:
            who = self.phrases["set_replay"] if ruling.set.result == "replay" else self._t("set_won", who=ruling.set.player or "")
            out.append(f"{who} ({ruling.set.clause})")
        if ruling.match is not None:
            score = ":".join(str(n) for n in ruling.match.sets)
            won = ruling.match.winner is not None
            out.append(self._t("match_won" if won else "match_drawn", who=ruling.match.player, score=score))
        elif ruling.next is not None and ruling.turn is not None:
            reasons = [c for c in ruling.next_reason or [] if c != "18.1.d"]
            why = f" ({', '.join(reasons)})" if reasons and ruling.turn != "continues" and ruling.set is None else ""
            out.append(self._t("passes" if ruling.set else ruling.turn, who=self._who(ruling.next)) + why)
        return out

    def _review(self, ruling: Ruling, form: Form) -> str:
        found = [] if isinstance(ruling.alternatives, msgspec.UnsetType) else ruling.alternatives
        readings = [f"{self._t('if', what=self._assumed(a))}: {self.say(a.ruling, form)}" for a in found]
        return f"{self.phrases['review']}: " + " / ".join(readings)

    def _assumed(self, alternative: Alternative) -> str:
        out = []
        for key, answer in alternative.assume.items():
            subject = self.phrases[key] if key in _SUBJECTS else "" if key == "returned" else key.replace("+", " + ")
            value = self.phrases.get(answer) or next((n for side, n in self.names.items() if side == answer), answer)
            out.append(f"{subject} {value}".strip())
        return ", ".join(out)
