"""The match in figures for the page and as drawings: heat maps of rests, success by kind of stroke, speeds, series."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, Literal

from rules.stats import CELLS, WAYS, Figures, PlayerFigures, WayFigures
from rules.table import CIRCLE_RADIUS_MM, HALF_MM, POCKET_RADIUS_MM, POCKETS_MM, ZONE_LINE_MM, Colour
from scoreboard.drawing import Circle, Drawing, Line, Rect, Shape, Text
from scoreboard.words import Lang, word

Theme = Literal["light", "dark"]
PLAYERS: Final = 4  # doubles; the page has room for no more
SPEED_STEP_MM_S: Final = 500  # of the histogram of speeds
LONGEST_SERIES: Final = 8  # 10.3: pieces of a player; a pair's longer ones are counted with it
MM_PER_M: Final = 1000.0
SPREAD: Final = (1.0, 0.5, 0.25)  # warmth of a rest in its own cell, beside it and across its corner


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours of a drawing."""

    ground: str
    ink: str
    faint: str
    heat: str
    wood: str
    players: dict[Colour, tuple[str, ...]]


PALETTES: Final[dict[Theme, Palette]] = {
    "light": Palette(
        "#fffdf8",
        "#21180f",
        "#8d7f69",
        "#b3201a",
        "#f3e6cb",
        {"red": ("#b8281f", "#d98e28", "#e6c06a", "#f0dcae"), "black": ("#3a3531", "#1747c4", "#6f86c9", "#a9b8e0")},
    ),
    "dark": Palette(
        "#2a221b",
        "#fbf4e8",
        "#8d7f6c",
        "#ffb03a",
        "#3b2f23",
        {"red": ("#ff7d6b", "#ffc24a", "#ffe0a0", "#fff0d0"), "black": ("#b9b0a5", "#8fb0ff", "#c0d2ff", "#dfe8ff")},
    ),
}


def stats_view(stats: Figures | None, lang: Lang) -> dict[str, Any]:
    """A table row a player and kind of stroke, and a line of figures a player."""
    players = players_of(stats)
    return {
        "count": 0 if stats is None else stats.strokes,
        "players": [
            {
                "name": player.name,
                "ways": [_way_row(player.ways.get(way, WayFigures())) for way in WAYS],
                "figures": _figures(player, lang),
            }
            for player in players
        ],
    }


def players_of(stats: Figures | None) -> list[PlayerFigures]:
    """The players, as many as a match can have."""
    return [] if stats is None else stats.players[:PLAYERS]


def _way_row(way: WayFigures) -> list[str]:
    share = f"{100 * way.scored / way.strokes:.0f} %" if way.strokes else "–"
    return [str(way.strokes), str(way.lawful), str(way.scored), share]


def _figures(player: PlayerFigures, lang: Lang) -> list[list[str]]:
    speeds = player.speeds_mm_s
    longest = max((length for length, _ in player.series), default=0)
    median = f"{statistics.median(speeds) / MM_PER_M:.1f} m/s" if speeds else "–"
    fastest = f"{max(speeds) / MM_PER_M:.1f} m/s" if speeds else "–"
    return [[word("median_speed", lang), median], [word("top_speed", lang), fastest], [word("longest_series", lang), str(longest)]]


# --- drawings ---------------------------------------------------------------------------------------------------------


def heat_map(player: PlayerFigures, what: Literal["striker", "piece"], lang: Lang, theme: Theme) -> Drawing:
    """Where the striker, or what a player moved, came to rest, on the table seen from above; N at the top. 1 unit = 2 mm."""
    look, scale, edge = PALETTES[theme], 0.5, 24.0
    side = 2 * HALF_MM * scale
    rests = player.striker_rests if what == "striker" else player.piece_rests
    warmth = _warmth(rests)
    hottest = max(warmth.values(), default=1.0)
    cell = side / CELLS
    title = f"{player.name} · {word(f'heat_{what}', lang)}"
    top = edge + 22.0

    def at(x_mm: float, y_mm: float) -> tuple[float, float]:
        return edge + (x_mm + HALF_MM) * scale, top + (HALF_MM - y_mm) * scale

    shapes: list[Shape] = [Text(edge, edge, title, 17, look.ink, bold=True), Rect(edge, top, side, side, look.wood)]
    for (column, row), warm in sorted(warmth.items()):
        shapes.append(Rect(edge + column * cell, top + side - (row + 1) * cell, cell, cell, look.heat, round(warm / hottest, 2)))
    for line in (-ZONE_LINE_MM, ZONE_LINE_MM):
        shapes += [Line(*at(line, -HALF_MM), *at(line, HALF_MM), look.faint), Line(*at(-HALF_MM, line), *at(HALF_MM, line), look.faint)]
    shapes += [Circle(*at(0, 0), CIRCLE_RADIUS_MM * scale, stroke=look.faint)]
    shapes += [Circle(*at(x, y), POCKET_RADIUS_MM * scale, look.ground, look.faint) for x, y in POCKETS_MM.values()]
    times = [n for _, _, n in rests]
    shapes.append(Text(edge, top + side + 20, word("rests", lang, n=sum(times), most=max(times, default=0)), 14, look.ink))
    return Drawing(side + 2 * edge, top + side + 32, look.ground, title, shapes)


def _warmth(rests: Sequence[tuple[int, int, int]]) -> dict[tuple[int, int], float]:
    """Each rest also warms the cells around its own, so that a few strokes already show where things gather."""
    out: dict[tuple[int, int], float] = {}
    for column, row, times in rests:
        for dx, dy in product((-1, 0, 1), repeat=2):
            at = (column + dx, row + dy)
            if all(0 <= n < CELLS for n in at):
                out[at] = out.get(at, 0.0) + times * SPREAD[abs(dx) + abs(dy)]
    return out


def ways_chart(players: Sequence[PlayerFigures], lang: Lang, theme: Theme) -> Drawing:
    """Strokes by kind: the whole bar all of them, the full part those that brought a piece."""
    groups = [word(f"way_{way}", lang) for way in WAYS]
    found = [[player.ways.get(way, WayFigures()) for way in WAYS] for player in players]
    whole, part = [[way.strokes for way in ways] for ways in found], [[way.scored for way in ways] for ways in found]
    return _bars(word("stats_ways", lang), groups, whole, players, theme, part)


def speed_chart(players: Sequence[PlayerFigures], lang: Lang, theme: Theme) -> Drawing:
    """How many strokes were how fast, in steps of half a metre a second."""
    steps = [Counter(int(v // SPEED_STEP_MM_S) for v in p.speeds_mm_s) for p in players]
    last = max((max(s, default=0) for s in steps), default=0)
    groups = [f"{n * SPEED_STEP_MM_S / MM_PER_M:.1f}" for n in range(last + 1)]
    counts = [[s[n] for n in range(last + 1)] for s in steps]
    return _bars(f"{word('stats_speeds', lang)} (m/s)", groups, counts, players, theme)


def series_chart(players: Sequence[PlayerFigures], lang: Lang, theme: Theme) -> Drawing:
    """How many turns brought how many pieces."""
    counts = []
    for player in players:
        found: Counter[int] = Counter()
        for length, times in player.series:
            found[min(length, LONGEST_SERIES)] += times
        counts.append([found[n] for n in range(LONGEST_SERIES + 1)])
    groups = [*(str(n) for n in range(LONGEST_SERIES)), f"{LONGEST_SERIES}+"]
    return _bars(word("stats_series", lang), groups, counts, players, theme)


def _bars(
    title: str,
    groups: Sequence[str],
    counts: Sequence[Sequence[int]],
    players: Sequence[PlayerFigures],
    theme: Theme,
    full: Sequence[Sequence[int]] | None = None,
) -> Drawing:
    """Bars in groups, one of each player; where `full` is given, that part of a bar is solid and the rest pale."""
    look, left, top, width, height = PALETTES[theme], 24.0, 74.0, 640.0, 220.0
    most = max((n for row in counts for n in row), default=0) or 1
    group = width / max(len(groups), 1)
    bar = min(0.8 * group / max(len(counts), 1), 46.0)
    base = top + height
    shapes: list[Shape] = [Text(left, 28, title, 17, look.ink, bold=True)]
    x = left
    colours = _colours(players, look)
    for n, player in enumerate(players):
        shapes += [Rect(x, 42, 13, 13, colours[n]), Text(x + 19, 53, player.name, 14, look.ink)]
        x += 34 + 8.2 * len(player.name)
    for g, label in enumerate(groups):
        middle = left + (g + 0.5) * group
        for n, row in enumerate(counts):
            x = middle + (n - len(counts) / 2) * bar
            tall = height * row[g] / most
            solid = height * full[n][g] / most if full is not None else tall
            shapes.append(Rect(x + 1, base - tall, bar - 2, tall, colours[n], 0.35 if full is not None else 1.0))
            if full is not None:
                shapes.append(Rect(x + 1, base - solid, bar - 2, solid, colours[n]))
            if row[g]:
                said = str(row[g]) if full is None else f"{full[n][g]}/{row[g]}"
                shapes.append(Text(x + bar / 2, base - tall - 5, said, 13, look.ink, "middle"))
        shapes.append(Text(middle, base + 20, label, 13, look.ink, "middle"))
    shapes.append(Line(left, base, left + width, base, look.faint, 1.5))
    return Drawing(width + 2 * left, base + 34, look.ground, title, shapes)


def _colours(players: Sequence[PlayerFigures], look: Palette) -> list[str]:
    """Players have the colour of their pieces; partners are told apart."""
    left = {colour: list(shades) for colour, shades in look.players.items()}
    return [left[player.colour].pop(0) for player in players]


def drawings(stats: Figures | None, lang: Lang, theme: Theme) -> dict[str, Drawing]:
    """Every drawing of a match by its file name, without an ending."""
    players = players_of(stats)
    out = {
        "ways": ways_chart(players, lang, theme),
        "speeds": speed_chart(players, lang, theme),
        "series": series_chart(players, lang, theme),
    }
    for n, player in enumerate(players):
        out[f"striker-{n + 1}"] = heat_map(player, "striker", lang, theme)
        out[f"pieces-{n + 1}"] = heat_map(player, "piece", lang, theme)
    return out
