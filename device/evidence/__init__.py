"""Evidence: for each ruling a short clip and a still with the drawn geometry, kept in a ring on disk.

Nothing here can hold up a frame or a ruling: both only leave work in bounded queues, and what is lost is counted and said.
"""

from device.evidence.record import Piece
from device.evidence.shelf import Shelf

__all__ = ["Piece", "Shelf"]
