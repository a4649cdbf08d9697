"""Health as Prometheus reads it: text format 0.0.4, one gauge a figure, the table as its label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

# What counts from the start of the monitor on; everything else is a gauge.
COUNTERS = frozenset(
    {
        *("frames", "dropped_frames", "no_calls"),
        *(
            f"camera_{name}"
            for name in ("dropped", "duplicates", "disordered", "odd_times", "changed_exposure", "changed_gain", "reopened")
        ),
    }
)


def prometheus(table: str, status: Mapping[str, Any], health: Mapping[str, Any]) -> str:
    """Every figure of a table's health; a list counts its members, what is not known is left out."""
    label = table.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    figures = {"online": float(status.get("state") == "online"), **dict(_figures("", health))}
    lines: list[str] = []
    for name, value in figures.items():
        kind, suffix = ("counter", "_total") if name in COUNTERS else ("gauge", "")
        lines += [f"# TYPE novuss_{name}{suffix} {kind}", f'novuss_{name}{suffix}{{table="{label}"}} {value:.12g}']
    return "\n".join(lines) + "\n"


def _figures(before: str, values: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for key, value in values.items():
        name = re.sub(r"\W", "_", f"{before}{key}", flags=re.ASCII)
        if isinstance(value, Mapping):
            yield from _figures(f"{name}_", value)
        elif isinstance(value, list):
            yield name, float(len(value))
        elif isinstance(value, int | float):
            yield name, float(value)
