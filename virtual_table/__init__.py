"""A physical table with known truth, and a renderer that looks at it through a real camera model.

The default camera off the Pi and the tests' source of truth: seeded, so the same seed plays the same match, bit for bit.
"""

from virtual_table.discs import Spot
from virtual_table.look import Look, random_look
from virtual_table.mischief import MISCHIEF
from virtual_table.optics import MODES, Optics, overhead, random_camera
from virtual_table.physics import Contact, Surface, World
from virtual_table.quiet import QUIET
from virtual_table.renderer import Renderer
from virtual_table.table import TrueDisc, VirtualFrame, VirtualTable, render_still

__all__ = [
    "MISCHIEF",
    "MODES",
    "QUIET",
    "Contact",
    "Look",
    "Optics",
    "Renderer",
    "Spot",
    "Surface",
    "TrueDisc",
    "VirtualFrame",
    "VirtualTable",
    "World",
    "overhead",
    "random_camera",
    "random_look",
    "render_still",
]
