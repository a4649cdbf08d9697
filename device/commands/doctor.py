"""`novuss doctor`: what is wrong, and what to do about it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final

import msgspec
from cyclopts import Parameter
from rich.console import Console

from device.doctor import Finding, examine, exit_status

MARKS: Final = {"ok": "[green]ok[/]", "warning": "[yellow]look[/]", "wrong": "[red]WRONG[/]", "skipped": "[dim]-[/]"}


def doctor(*, config: Path | None = None, json: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Look at everything that can be wrong with this table's appliance, and say what to do about it.

    Camera, rate, light, lens, table, broker, board, disk, clock, supply, heat, packages, network, folders, service. Exit status 1 when
    something is wrong. Nothing is changed.

    Example: `novuss doctor`, and on a Pi `sudo -u novuss /opt/novuss/current/bin/novuss doctor`

    Parameters
    ----------
    config
        Settings file; otherwise NOVUSS_CONFIG, the user's or /etc/novuss/novuss.toml.
    json
        Print the findings as JSON.
    """
    findings: list[Finding] = []
    console = Console(highlight=False, soft_wrap=True)
    for finding in examine(config):
        findings.append(finding)
        if not json:
            console.print(f"{MARKS[finding.level]:<18} {finding.name:<12}", end=" ")
            console.print(finding.text, markup=False)
            if finding.remedy:
                console.print(f"{'':<6} {'':<12} -> {finding.remedy}", markup=False)
    status = exit_status(findings)
    if json:
        value = {"ok": status == 0, "findings": findings}
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
    sys.exit(status)
