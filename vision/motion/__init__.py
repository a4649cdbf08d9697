"""Motion: from frames to tracks, from tracks to contacts, from contacts to stroke facts and incidents.

One algorithm a module, in the order a frame takes: outline, smear, scene, hands, search, predict, tracks, segments, contacts, report.
"""

from __future__ import annotations
