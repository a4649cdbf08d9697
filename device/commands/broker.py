"""`novuss broker`: everything a mosquitto for the hall needs, written into one folder."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from device.broker_files import BrokerPlan, renew_access_list, write_broker_files
from rules.errors import WrongUsage


def broker(
    folder: Path,
    *,
    table: list[str] | None = None,
    name: list[str] | None = None,
    user: str = "mosquitto",
    lan: str | None = None,
    renew: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Write mosquitto's configuration, access list, passwords and certificate; run it again to add a table.

    Examples:

    - `sudo novuss broker /etc/novuss/broker --table 1 --table 2 --name hall.local --name 10.0.0.5`
    - `sudo novuss broker /etc/novuss/broker --renew`: after an upgrade; the installer does it by itself

    Parameters
    ----------
    folder
        Where everything goes.
    table
        Name of a table; once for each.
    name
        Name or address under which tables and boards reach this machine, for its certificate; by default its host name and .local.
    user
        System user that mosquitto runs as.
    lan
        Listen on this address only; by default on all.
    renew
        Only bring the access list that is there up to this version; passwords, certificate and configuration stay as they are.
    """
    if renew:
        if table or name or lan:
            raise WrongUsage("--renew and --table, --name, --lan exclude each other: it only renews the access list")
        _renew(folder)
        return
    if not table:
        raise WrongUsage("name the tables: --table NAME, once for each")
    host = socket.gethostname().split(".", maxsplit=1)[0]
    plan = BrokerPlan(folder=folder, tables=table, names=name or [host, f"{host}.local"], user=user, lan_address=lan)
    for password in write_broker_files(plan):
        print(f"{password.name}: password in {password}", file=sys.stderr)
    print(f"start it: mosquitto -c {folder / 'mosquitto.conf'}; boards and tables trust {folder / 'ca.pem'}", file=sys.stderr)


def _renew(folder: Path) -> None:
    if renew_access_list(folder):
        print(f"the access list in {folder} is this version's now, the one before is kept as acl.before", file=sys.stderr)
        print("sudo systemctl reload mosquitto", file=sys.stderr)
