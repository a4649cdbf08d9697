"""The table of clauses: what each says in our own words, what is needed to see it, who applies it, and where its code is.

Data only; `docs/clauses.md` is written from it, and a test holds it against the code.
"""

from __future__ import annotations

from typing import Final

from rules.book import competition, doubles, faults, play
from rules.book.clause import AUTOMATIC, DEFINED, JUDGE, NOTED, OUT_OF_SIGHT, SHEET, Clause

CLAUSES: Final[tuple[Clause, ...]] = (
    *competition.BEFORE_PLAY,
    *play.CLAUSES,
    *faults.CLAUSES,
    *doubles.CLAUSES,
    *competition.AFTER_PLAY,
)

__all__ = ["AUTOMATIC", "CLAUSES", "DEFINED", "JUDGE", "NOTED", "OUT_OF_SIGHT", "SHEET", "Clause", "as_markdown"]

_HEAD: Final = """# The rule book, clause by clause

Written from `rules/book/`; edit there, not here, and write it again with
`python -c "from rules.book import as_markdown; print(as_markdown(), end='')" > docs/clauses.md`.
Numbers are those of the 2008 rules (000) for every ruleset; "current" is 001 and 004, "casual" 002.

| who | means |
|---|---|
| automatic | ruled from what the camera saw; too close to call becomes a review with both readings |
| noted | pointed out with the ruling, without a sanction |
| judge | the camera may see it, but a person decides: a judge's command with the clause is sanctioned as if seen |
| out of sight | nothing on the table shows it; a judge's command records it |
| definition | settles what other clauses mean |
| match sheet | concerns the running of the competition; the log and the sheet carry it |
"""


_COLUMNS: Final = """| clause | subject | needed to see it | who | sanction | code | other rulesets |
|---|---|---|---|---|---|---|"""


def as_markdown() -> str:
    """The table as the documentation shows it."""
    out = [_HEAD]
    section = ""
    for clause in CLAUSES:
        if clause.section != section:
            section = clause.section
            out.append(f"\n## {section}\n\n{_COLUMNS}")
        code = f"`rules/{clause.code}.py`" if clause.code else ""
        cells = (clause.number, clause.subject, clause.needs, clause.who, clause.sanction, code, clause.differs)
        out.append("| " + " | ".join(cell.replace("|", "/") or "–" for cell in cells) + " |")
    return "\n".join(out) + "\n"
