"""`novuss table`: look at one table, on a broker or in its match log."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Final

import msgspec
from cyclopts import App, Parameter

from device import topics
from device.messaging.address import parse_url
from device.messaging.link import Incoming, LinkLost, open_link
from device.metrics import prometheus
from device.storage.atomic import write_text
from device.storage.match_log import read_lines
from rules.errors import InputUnusable, NovussError
from rules.fold import State, match_state, start, step

app = App(name="table", help="Look at one table, on a broker or in its match log.")

_WAIT_S: Final = 3.0  # retained messages come with the subscription; a broker across a hall needs milliseconds
_RETAINED: Final = (topics.STATUS, topics.HEALTH, topics.MATCH, topics.CALIBRATION, topics.DISCS)


@app.command
def status(*, mqtt: str = "mqtt://127.0.0.1", table: str = "table") -> None:
    """Print what a table's broker knows of it as one JSON object: status, health, match, calibration, discs.

    Example: `novuss table status --mqtt mqtt://hall.local --table 7`

    Parameters
    ----------
    mqtt
        The broker, as `novuss watch --mqtt` takes it.
    table
        Name of the table in the topics.
    """
    _print(_retained(mqtt, table))


@app.command
def metrics(*, mqtt: str = "mqtt://127.0.0.1", table: str = "table", output: Annotated[Path | None, Parameter(alias="-o")] = None) -> None:
    """Print a table's health for Prometheus; with -o for the textfile collector of its node exporter, whole or not at all.

    Example: `novuss table metrics --table 7 -o /var/lib/prometheus/node-exporter/novuss.prom`

    Parameters
    ----------
    mqtt
        The broker, as `novuss watch --mqtt` takes it.
    table
        Name of the table in the topics.
    output
        File to write; standard output when not given.
    """
    found = _retained(mqtt, table)
    status_, health = (msgspec.json.decode(found[name]) if name in found else {} for name in (topics.STATUS.name, topics.HEALTH.name))
    text = prometheus(table, status_, health)
    if output is None:
        sys.stdout.write(text)
    else:
        write_text(output, text)


def _retained(mqtt: str, table: str) -> dict[str, msgspec.Raw]:
    """What the broker keeps of a table, by topic; InputUnusable where that is nothing."""
    found: dict[str, msgspec.Raw] = {}
    address = parse_url(mqtt)
    names = {topics.path(table, topic): topic.name for topic in _RETAINED}

    def received(message: Incoming) -> None:
        if message.topic in names:
            found[names[message.topic]] = msgspec.Raw(message.payload)

    link, _ = open_link(address, f"novuss-status-{time.monotonic_ns()}", None, received)
    try:
        link.subscribe(f"{topics.PREFIX}/{table}/+")
        until_s = time.monotonic() + _WAIT_S
        while time.monotonic() < until_s and len(found) < len(_RETAINED):
            link.pump(0.1, None)
    except LinkLost as error:
        raise NovussError(str(error)) from error
    finally:
        link.close()
    if not found:
        raise InputUnusable(f"{address}: nothing is known of a table named {table!r} there; name it with --table")
    return found


@app.command
def log(path: Path) -> None:
    """Print a summary of a match log: how many entries, what was lost of it, and the state of its last match.

    Example: `novuss table log match.jsonl`

    Parameters
    ----------
    path
        The match log.
    """
    try:
        recovered = read_lines(path)
    except OSError as error:
        raise InputUnusable(f"{path}: match log cannot be read ({error.strerror})") from error
    state: State | None = None
    matches = rulings = reviews = 0
    for line in recovered.lines:
        if line.value.match is not None:
            state, matches = start(line.value.match), matches + 1
        elif state is not None:
            state, ruling = step(state, line.value)
            rulings += 1
            reviews += ruling.status == "review"
    _print(
        {
            "log": str(path),
            "matches": matches,
            "entries": rulings,
            "reviews": reviews,
            "damage": None if recovered.damage is None else str(recovered.damage),
            "match": None if state is None else match_state(state),
        }
    )


def _print(value: object) -> None:
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
    sys.stdout.buffer.flush()
