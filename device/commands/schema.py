"""`novuss schema`: the contract as other software reads it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from device.interface.asyncapi import as_text
from device.interface.schemas import records, schema_of
from device.storage.atomic import write_text
from rules.errors import WrongUsage


def schema(record: str | None = None, *, output: Annotated[Path | None, Parameter(alias="-o")] = None) -> None:
    """Print the AsyncAPI 3 document of everything that a table says and hears on MQTT, or the JSON Schema of one of its records.

    Examples:

    - `novuss schema -o asyncapi.json`
    - `novuss schema RulingMessage`: what stands on the topic `ruling`
    - `novuss schema Entry`: a line of a match log

    Parameters
    ----------
    record
        Name of a record; every one of them when not given.
    output
        File to write; standard output when not given.
    """
    if record is not None and record not in records():
        raise WrongUsage(f"there is no record {record}; there are {', '.join(sorted(records()))}")
    text = as_text() if record is None else msgspec.json.format(msgspec.json.encode(schema_of(record)), indent=1).decode() + "\n"
    if output is None:
        sys.stdout.write(text)
    else:
        write_text(output, text)
