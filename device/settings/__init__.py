"""Settings of the appliance: one TOML file, overridden by the environment, overridden by flags; each value knows where it came from.

`records` says what can be set, `layers` reads and merges, `text` writes TOML, `live` takes changes over while a table is watched.
"""

from device.settings.layers import Loaded, Origin, find_file, load
from device.settings.records import Settings

__all__ = ["Loaded", "Origin", "Settings", "find_file", "load"]
