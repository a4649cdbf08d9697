"""Discs: where every disc in a picture is, of which kind, and how sure that is.

Candidates by the shape of their rim in a view from above, a fit of the turned solid under the real camera, kind by size and look.
"""

from vision.discs.fit import Fit, Neighbour, fit_disc
from vision.discs.solid import Solid, outline_px, outlines_px, rings_px, solid_of

__all__ = ["Fit", "Neighbour", "Solid", "fit_disc", "outline_px", "outlines_px", "rings_px", "solid_of"]
