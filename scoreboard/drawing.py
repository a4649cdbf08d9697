"""Small drawings as lists of shapes, and as SVG. Lengths are in units of the drawing, y downward; colours are given by the caller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined

_TEMPLATES: Final = Environment(
    loader=PackageLoader("scoreboard"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


@dataclass(frozen=True, slots=True)
class Rect:
    """A filled rectangle; `opacity` 0 to 1."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    opacity: float = 1.0
    kind: Literal["rect"] = "rect"


@dataclass(frozen=True, slots=True)
class Circle:
    """A circle, filled or only its line."""

    x: float
    y: float
    r: float
    fill: str = "none"
    stroke: str = "none"
    kind: Literal["circle"] = "circle"


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    stroke: str
    width: float = 1.0
    kind: Literal["line"] = "line"


@dataclass(frozen=True, slots=True)
class Text:
    """Words; `x` is their start, middle or end."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False
    kind: Literal["text"] = "text"


Shape = Rect | Circle | Line | Text


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes in the order they are painted, on a ground of one colour; `title` says what it shows."""

    width: float
    height: float
    ground: str
    title: str
    shapes: Sequence[Shape] = field(default_factory=tuple)


def as_svg(drawing: Drawing) -> str:
    """The drawing as an SVG file."""
    return _TEMPLATES.get_template("drawing.svg").render(d=drawing)
