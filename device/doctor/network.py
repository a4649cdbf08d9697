"""The broker and the board's port."""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from device import broker_files
from device.commands.config import login
from device.doctor.finding import Finding
from device.messaging.address import parse_url
from device.messaging.link import open_link
from device.settings import Settings
from device.webhook import Receiver
from rules.errors import BrokerRefused, NovussError

NAMED: Final = 3  # of what an access list refuses; the remedy is the same for all


def broker(settings: Settings, environ: Mapping[str, str] = os.environ) -> Finding:
    """Whether the broker answers and takes user and password."""
    if not settings.mqtt.enabled:
        return Finding("broker", "skipped", "MQTT is switched off ([mqtt] enabled)")
    if settings.mqtt.url is None:
        return Finding("broker", "ok", "none is named: `novuss watch` brings its own")
    try:
        address = parse_url(settings.mqtt.url, login(settings) | dict(environ))
        link, protocol = open_link(address, f"novuss-doctor-{time.monotonic_ns()}", None, lambda _: None)
        link.close()
    except BrokerRefused as error:
        return Finding(
            "broker", "wrong", str(error), "check [mqtt] user and the password's file; `novuss broker` lists users and passwords"
        )
    except NovussError as error:
        return Finding("broker", "wrong", str(error), "start it (sudo systemctl start mosquitto), check [mqtt] url and the network")
    who = f" as {address.user}" if address.user else " without a user"
    return Finding("broker", "ok", f"{address} answers (MQTT {protocol}) and takes this table{who}")


def access_list(folder: Path = broker_files.FOLDER) -> Finding:
    """Whether the broker of this machine lets tables and boards do all that this version does."""
    file = folder / broker_files.ACL
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return Finding("access", "skipped", f"no broker of `novuss broker` in {folder}")
    except OSError as error:
        return Finding("access", "skipped", f"{file} cannot be read ({error.strerror}); sudo novuss doctor can")
    remedy = f"sudo novuss broker {folder} --renew && sudo systemctl reload mosquitto; passwords stay"
    if lacks := broker_files.refused(text):
        more = f" and {len(lacks) - NAMED} more" if len(lacks) > NAMED else ""
        return Finding("access", "wrong", f"{file} is of an older version and refuses: {', '.join(lacks[:NAMED])}{more}", remedy)
    if text != broker_files.acl_text():
        return Finding("access", "warning", f"{file} allows all that is needed, but is not what this version writes", remedy)
    return Finding("access", "ok", f"{file} is this version's")


def webhook(settings: Settings) -> Finding:
    """Whether the club's own software can be told; nothing is sent to it."""
    if not Receiver.wanted(settings):
        return Finding("webhook", "skipped", "nobody is told of results ([webhook] url)")
    receiver = Receiver(settings)
    try:
        host = receiver.check()
    except NovussError as error:
        return Finding("webhook", "wrong", str(error), "mend that file or address ([webhook])")
    try:
        receiver.reach()
    except NovussError as error:
        remedy = "start it, check address and certificate; outside the hall's network the service needs a drop-in: docs/webhook.md"
        return Finding("webhook", "warning", f"{error}; results wait until it does", remedy)
    return Finding("webhook", "ok", f"{host} answers, headers and template can be used")


def board_port(settings: Settings) -> Finding:
    """Whether the board can have its port."""
    if not settings.board.enabled:
        return Finding("board", "skipped", "`novuss watch` serves no board ([board] enabled)")
    host, port = settings.board.host, settings.board.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, port))
        except OSError as error:
            return _cannot_bind(host, port, error)
    return Finding("board", "ok", f"port {port} of {host} is free")


def _cannot_bind(host: str, port: int, error: OSError) -> Finding:
    if error.errno == errno.EADDRINUSE:
        remedy = "nothing to do if that is the board; else name another: [board] port. The next free one is used"
        return Finding("board", "warning", f"port {port} of {host} is taken", remedy)
    if error.errno == errno.EACCES:
        return Finding("board", "wrong", f"port {port} is for root only", "name one above 1023: [board] port")
    return Finding("board", "wrong", f"{host}:{port}: {os.strerror(error.errno or 0)}", "name an address of this machine: [board] host")
