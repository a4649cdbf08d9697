"""Which networks are in use, for the `health` topic."""

from __future__ import annotations

from vision.discs.eyes import eyes
from vision.occluders import Occluders


def in_use() -> dict[str, bool]:
    """Each network by name; they are loaded when first asked for. Where one can't be, geometry alone serves."""
    return {"discs": eyes() is not None, "occluders": Occluders.load() is not None}
