"""The board's MQTT side: one subscriber with a reconnect of its own, in a thread of its own.

Nothing here knows a page. Every message goes to `on_message`; whether the broker is there goes to `on_link`, from the same thread.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from rules.errors import InputUnusable, WrongUsage

log = logging.getLogger(__name__)

RETRY_S: Final = 1.0  # a broker that is back is found well within the 5 s that a page may be wrong
CONNECT_TIMEOUT_S: Final = 2.0
KEEPALIVE_S: Final = 2  # a broker that hangs is noticed within twice this
LOOP_S: Final = 0.2  # how long one turn of the network loop may wait; bounds how late a stop is seen
STOP_WAIT_S: Final = 0.5
DEFAULT_PORTS: Final = {"mqtt": 1883, "mqtts": 8883, "ws": 80, "wss": 443}


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """A broker URL taken apart; its text never shows the password."""

    scheme: str
    host: str
    port: int
    path: str
    username: str | None
    password: str | None
    ca_file: str | None

    @classmethod
    def parse(cls, url: str, environ: Mapping[str, str] = os.environ) -> BrokerAddress:
        """`mqtt://`, `mqtts://`, `ws://` or `wss://`, with optional user, password, port and `?ca=FILE`; raises WrongUsage.

        User and password also come from the environment, as for the monitor's own connection.
        """
        parts = urlsplit(url if "://" in url else f"mqtt://{url}")
        if parts.scheme not in DEFAULT_PORTS:
            raise WrongUsage(f"broker URL {parts.scheme}://…: the scheme must be one of {', '.join(DEFAULT_PORTS)}")
        if not parts.hostname:
            raise WrongUsage(f"broker URL {parts.scheme}://…: a host name is missing")
        return cls(
            scheme=parts.scheme,
            host=parts.hostname,
            port=parts.port or DEFAULT_PORTS[parts.scheme],
            path=parts.path if parts.path not in ("", "/") else "/mqtt",
            username=unquote(parts.username) if parts.username else environ.get("NOVUSS_MQTT_USER"),
            password=unquote(parts.password) if parts.password else _password(environ),
            ca_file=parse_qs(parts.query).get("ca", [None])[-1],
        )

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    __repr__ = __str__


def _password(environ: Mapping[str, str]) -> str | None:
    file = environ.get("NOVUSS_MQTT_PASSWORD_FILE")
    if "NOVUSS_MQTT_PASSWORD" in environ or file is None:
        return environ.get("NOVUSS_MQTT_PASSWORD")
    try:
        return Path(file).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputUnusable(f"NOVUSS_MQTT_PASSWORD_FILE: cannot read {file}: {error}") from error


class Feed:
    """Follows one topic filter until stopped, whatever the broker does."""

    def __init__(
        self, broker_url: str, topic_filter: str, on_message: Callable[[str, bytes, bool], None], on_link: Callable[[bool], None]
    ) -> None:
        self._address = BrokerAddress.parse(broker_url)
        self._filter = topic_filter
        self._on_message = on_message
        self._on_link = on_link
        self._stop = threading.Event()
        self._said = ""
        self._client = self._make_client()
        self._thread = threading.Thread(target=self._run, name="scoreboard-mqtt", daemon=True)

    def start(self) -> None:
        """Connect in the background; a broker that isn't there yet is waited for."""
        self._thread.start()

    def stop(self) -> None:
        """Leave the broker; returns at once also when it hangs."""
        self._stop.set()
        self._thread.join(STOP_WAIT_S)

    def publish(self, topic: str, payload: bytes, qos: int) -> bool:
        """Hand a message to the broker, from any thread; False while it isn't there (nothing is kept for later)."""
        if not self._client.is_connected():
            return False
        return self._client.publish(topic, payload, qos, retain=False).rc == mqtt.MQTT_ERR_SUCCESS

    def _make_client(self) -> mqtt.Client:
        over_web = self._address.scheme in ("ws", "wss")
        client = mqtt.Client(CallbackAPIVersion.VERSION2, transport="websockets" if over_web else "tcp")
        if over_web:
            client.ws_set_options(path=self._address.path)
        if self._address.scheme in ("mqtts", "wss"):
            client.tls_set(ca_certs=self._address.ca_file)
        if self._address.username is not None:
            client.username_pw_set(self._address.username, self._address.password)
        client.connect_timeout = CONNECT_TIMEOUT_S
        client.on_connect = self._connected
        client.on_subscribe = self._subscribed
        client.on_disconnect = self._disconnected
        client.on_message = self._message
        return client

    def _run(self) -> None:
        client = self._client
        while not self._stop.is_set():
            try:
                client.connect(self._address.host, self._address.port, KEEPALIVE_S)
                while not self._stop.is_set() and client.loop(LOOP_S) == mqtt.MQTT_ERR_SUCCESS:
                    pass
            except (OSError, mqtt.WebsocketConnectionError) as error:
                self._say(f"can't be reached ({error})")
            self._on_link(False)
            self._stop.wait(RETRY_S)
        client.disconnect()

    def _connected(
        self, client: mqtt.Client, _data: object, _flags: mqtt.ConnectFlags, reason: ReasonCode, _props: Properties | None
    ) -> None:
        if reason.is_failure:
            self._say(f"refuses the board: {reason}")
            return
        client.subscribe(self._filter, qos=1)

    def _subscribed(self, _client: mqtt.Client, _data: object, _mid: int, reasons: list[ReasonCode], _props: Properties | None) -> None:
        if any(reason.is_failure for reason in reasons):
            self._say(f"refuses the board's subscription: {reasons[0]}")
            return
        self._said = ""
        self._on_link(True)

    def _say(self, what: str) -> None:
        """Once per reason, not once a second."""
        if what != self._said:
            self._said = what
            log.warning("broker %s %s; trying again each second", self._address, what)

    def _disconnected(
        self, _client: mqtt.Client, _data: object, _flags: mqtt.DisconnectFlags, reason: ReasonCode, _props: Properties | None
    ) -> None:
        self._on_link(False)
        if reason.is_failure and not self._stop.is_set():
            log.info("broker connection lost: %s", reason)

    def _message(self, _client: mqtt.Client, _data: object, message: mqtt.MQTTMessage) -> None:
        try:
            self._on_message(message.topic, bytes(message.payload), message.retain)
        except Exception:
            # A fault of ours must not silence the board for good: reported in full, and the next message is taken.
            log.exception("a message on %s failed", message.topic)
