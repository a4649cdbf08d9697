"""What must survive a pulled plug: the match log, the outbox that carries rulings to the broker, whole-or-nothing output files.

Nothing here knows rules or MQTT; every writer leaves the last complete record and survives a full disk.
"""

from device.storage.atomic import replacing, write_bytes, write_json, write_text
from device.storage.lines import Damage
from device.storage.match_log import LogLine, MatchLog, Recovered
from device.storage.outbox import Item, Outbox

__all__ = [
    "Damage",
    "Item",
    "LogLine",
    "MatchLog",
    "Outbox",
    "Recovered",
    "replacing",
    "write_bytes",
    "write_json",
    "write_text",
]
