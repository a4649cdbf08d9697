"""Where the broker is, from one URL: mqtt://, mqtts://, ws://, wss://, with user and password kept out of sight."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, cast
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from rules.errors import InputUnusable, WrongUsage

# Ports registered for MQTT (IANA); websockets share those of the web.
DEFAULT_PORT: Final = {"mqtt": 1883, "mqtts": 8883, "ws": 80, "wss": 443}
USER_VARIABLE: Final = "NOVUSS_MQTT_USER"
PASSWORD_VARIABLE: Final = "NOVUSS_MQTT_PASSWORD"
PASSWORD_FILE_VARIABLE: Final = "NOVUSS_MQTT_PASSWORD_FILE"

Protocol = Literal["3.1.1", "5"]


class BrokerAddress(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed broker URL. Its text never shows the password."""

    scheme: str
    host: str
    port: int
    user: str | None = None
    password: str | None = None
    path: str = "/mqtt"
    ca_file: str | None = None
    protocol: Protocol | None = None

    @property
    def is_tls(self) -> bool:
        """Whether the connection is encrypted and the broker's certificate checked."""
        return self.scheme in ("mqtts", "wss")

    @property
    def is_websocket(self) -> bool:
        """Whether MQTT travels in a websocket."""
        return self.scheme in ("ws", "wss")

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{user}{host}:{self.port}{self.path if self.is_websocket else ''}"

    __repr__ = __str__


def parse_url(url: str, environ: Mapping[str, str] = os.environ) -> BrokerAddress:
    """Read a broker URL; user and password also come from the environment, so that no process list shows them.

    `?ca=FILE` names the certificate authority to trust instead of the system's, `?protocol=3.1.1` or `5` fixes the version.
    Raises WrongUsage for what is no broker URL, InputUnusable for a file in it that cannot be read.
    """
    text = url if "://" in url else f"mqtt://{url}"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise WrongUsage(f"broker address: {error}; write mqtt://HOST:PORT") from error
    if parts.scheme not in DEFAULT_PORT or not parts.hostname:
        raise WrongUsage(f"broker address {parts.scheme}://{parts.hostname or ''}: write mqtt://, mqtts://, ws:// or wss:// and a host")
    options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if unknown := sorted(options.keys() - {"ca", "protocol"}):
        raise WrongUsage(f"broker address: unknown option {', '.join(unknown)}; known are ca and protocol")
    protocol = options.get("protocol")
    if protocol not in (None, "3.1.1", "5"):
        raise WrongUsage(f"broker address: protocol {protocol} is not spoken; write 3.1.1 or 5")
    ca_file = options.get("ca")
    # Not Path.is_file, which raises for names that no file can have.
    if ca_file is not None and not os.path.isfile(ca_file):  # noqa: PTH113
        raise InputUnusable(f"broker address: certificate file {ca_file} is not there")
    return BrokerAddress(
        scheme=parts.scheme,
        host=parts.hostname,
        port=port or DEFAULT_PORT[parts.scheme],
        user=unquote(parts.username) if parts.username else environ.get(USER_VARIABLE),
        password=unquote(parts.password) if parts.password else _password(environ),
        path=parts.path if parts.path not in ("", "/") else "/mqtt",
        ca_file=ca_file,
        protocol=cast(Protocol | None, protocol),
    )


def _password(environ: Mapping[str, str]) -> str | None:
    if PASSWORD_VARIABLE in environ:
        return environ[PASSWORD_VARIABLE]
    if (file := environ.get(PASSWORD_FILE_VARIABLE)) is None:
        return None
    try:
        return Path(file).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputUnusable(f"{PASSWORD_FILE_VARIABLE}: cannot read {file}: {error}") from error
