"""Lens, pose and table model: px <-> mm at any height above the table.

A `Lens` describes the camera's optics, a `Calibration` adds where the camera hangs and where the lines really are, and a
`Camera` is a calibration ready for use: every conversion says at which height above the table it happens.
"""

from calibration.camera import Calibration, Camera, Circle, TableLines
from calibration.lens import Lens

__all__ = ["Calibration", "Camera", "Circle", "Lens", "TableLines"]
