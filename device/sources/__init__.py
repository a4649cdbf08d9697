"""Cameras behind one protocol: every source gives `Frame`s until its end, or fails with a named error."""

from device.sources.frame import Frame, Source

__all__ = ["Frame", "Source"]
