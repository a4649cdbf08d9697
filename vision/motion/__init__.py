"""Motion: from frames to tracks, from tracks to contacts, from contacts to stroke facts and incidents.

One algorithm a module, in the order a frame takes: outline, smear, scene, hands, arms (which asks the network of occluders), cover, search,
predict, finder, claims, tracks, inventory; and once all rests: segments, grouping, path, edges, contacts, first, leaving, report.
"""

from __future__ import annotations
