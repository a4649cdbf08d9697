"""Small drawings as lists of shapes, and as SVG. Lengths are in units of the drawing, y downward; colours are given by the caller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined

_TEMPLATES: Final = Environment(
    loader=PackageLoader("scoreboard"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


@dataclass(frozen=True, slots=True)
class Shape:
    """Something drawn at a place; `kind` is its name in the templates."""

    x: float
    y: float
    kind: ClassVar[str]


@dataclass(frozen=True, slots=True)
class Rect(Shape):
    """A filled rectangle from its upper left corner; `opacity` 0 to 1."""

    width: float
    height: float
    fill: str
    opacity: float = 1.0
    kind: ClassVar[str] = "rect"


@dataclass(frozen=True, slots=True)
class Circle(Shape):
    """A circle about its centre, filled or only its line."""

    r: float
    fill: str = "none"
    stroke: str = "none"
    kind: ClassVar[str] = "circle"


@dataclass(frozen=True, slots=True)
class Line(Shape):
    """A straight line from one end to the other."""

    x2: float
    y2: float
    stroke: str
    width: float = 1.0
    kind: ClassVar[str] = "line"


@dataclass(frozen=True, slots=True)
class Text(Shape):
    """Words on a line; `x` is their start, middle or end."""

    text: str
    size: float
    fill: str
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False
    kind: ClassVar[str] = "text"


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
