"""One connection to a broker, from CONNECT to its end; whoever wants another after it opens another link.

A fresh paho client each time: nothing of an old connection (its queue, its in-flight window) can be sent a second time. All of it
runs in the caller's thread; paho's own thread and its reconnecting are not used.
"""

from __future__ import annotations

import os
import select
import socket
import ssl
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage, MQTTv5, MQTTv311
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from device.messaging.address import BrokerAddress, Protocol
from rules.errors import BrokerRefused, Bug, NovussError

if TYPE_CHECKING:
    from paho.mqtt.client import SocketLike

# Seconds without traffic before a ping; a dead network is noticed, and the last will sent, within twice of it.
KEEPALIVE_S = 5
# Seconds for TCP, TLS and websocket handshakes together with CONNACK: halls have slow Wi-Fi, close() must not wait longer.
CONNECT_TIMEOUT_S = 3.0
# Bytes the kernel may hold unsent: on a slow network the live picture must wait with us, where the newest replaces the older ones,
# not in a buffer that rulings would have to queue behind. Enough for two windows of rulings in a round trip.
SEND_BUFFER = 32 * 1024
# Packets taken from the socket in a row; a websocket may hold several that select() no longer shows.
READS_IN_A_ROW = 20
# MQTT 5: reason codes from here on mean failure.
FAILURE = 0x80
# MQTT 5: malformed packet, protocol error, unsupported protocol version.
PROTOCOL_CODES = (0x81, 0x82, 0x84)


class BrokerUnreachable(NovussError, ConnectionError):
    """No broker answers there: start it, or check the address and the network."""


class ProtocolRefused(BrokerRefused):
    """The broker answered in a way that may mean that it speaks only the other version of MQTT."""


class Unanswered(BrokerUnreachable):
    """Something accepted the connection and stays silent: no broker, or one that speaks only the other version of MQTT."""


class LinkLost(NovussError, ConnectionError):
    """The connection ended; a new one is tried by itself."""


class Incoming(msgspec.Struct, frozen=True):
    """A message from the broker."""

    topic: str
    payload: bytes
    retained: bool
    correlation: bytes | None


class Link:
    """An open connection; `pump` does its work, `publish` and `subscribe` only between pumps or inside its callbacks."""

    def __init__(
        self,
        address: BrokerAddress,
        client_id: str,
        protocol: Protocol,
        will: tuple[str, bytes] | None,
        on_message: Callable[[Incoming], None],
    ) -> None:
        self._address = address
        self._is_v5 = protocol == "5"
        self._on_message = on_message
        self._acks: dict[int, Callable[[str | None], None]] = {}
        self._granted = False
        self._end: NovussError | None = None
        self._client = Client(
            CallbackAPIVersion.VERSION2,
            client_id,
            # MQTT 5 has a clean start instead, asked for in connect().
            clean_session=None if self._is_v5 else True,
            protocol=MQTTv5 if self._is_v5 else MQTTv311,
            transport="websockets" if address.is_websocket else "tcp",
            reconnect_on_failure=False,
        )
        if address.is_websocket:
            self._client.ws_set_options(path=address.path)
        if address.is_tls:
            self._client.tls_set_context(ssl.create_default_context(cafile=address.ca_file))
        if address.user is not None:
            self._client.username_pw_set(address.user, address.password)
        if will is not None:
            self._client.will_set(*will, qos=1, retain=True)
        self._client.connect_timeout = CONNECT_TIMEOUT_S
        # The caller keeps the window; paho must not keep a second one.
        self._client.max_inflight_messages_set(0)
        self._client.on_socket_open = _keep_buffer_small
        self._client.on_connect = self._connected
        self._client.on_disconnect = self._disconnected
        self._client.on_publish = self._published
        self._client.on_message = self._received

    def open(self, give_up: Callable[[], bool]) -> None:
        """Connect and wait for the broker's answer. Raises BrokerRefused with its reason, or BrokerUnreachable."""
        started = time.monotonic()
        try:
            if self._is_v5:
                self._client.connect(self._address.host, self._address.port, KEEPALIVE_S, clean_start=True)
            else:
                self._client.connect(self._address.host, self._address.port, KEEPALIVE_S)
        except ssl.SSLCertVerificationError as error:
            _close_sockets_of(error)
            raise BrokerRefused(f"{self._address}: its certificate is not trusted ({error.verify_message}); name its CA file") from error
        except (OSError, ValueError) as error:
            _close_sockets_of(error)
            raise BrokerUnreachable(f"{self._address}: no broker answers ({error})") from error
        while not self._granted:
            try:
                self.pump(0.1, None)
            except LinkLost as error:
                raise ProtocolRefused(f"{self._address}: the broker closed the connection without an answer") from error
            if not self._granted and (give_up() or time.monotonic() - started > CONNECT_TIMEOUT_S):
                self.abandon()
                raise Unanswered(f"{self._address}: connected, but no answer in {CONNECT_TIMEOUT_S:g} s; is it an MQTT broker?")

    def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        qos: int,
        retain: bool = False,
        correlation: bytes | None = None,
        on_ack: Callable[[str | None], None] | None = None,
    ) -> None:
        """Send a message; `on_ack` is called with None when the broker has it, or with the broker's reason for refusing it."""
        properties = None
        if self._is_v5 and correlation is not None:
            properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]  # paho's own
            properties.CorrelationData = correlation
        info = self._client.publish(topic, payload, qos=qos, retain=retain, properties=properties)
        if info.rc == MQTTErrorCode.MQTT_ERR_SUCCESS and qos > 0:
            self._acks[info.mid] = on_ack or _ignore
        else:
            self._check(info.rc)

    def subscribe(self, topic: str) -> None:
        """Ask for a topic at QoS 1."""
        code, _ = self._client.subscribe(topic, qos=1)
        self._check(code)

    def pump(self, timeout_s: float, wake: socket.socket | None) -> None:
        """Wait at most `timeout_s` for the network or a byte on `wake`, and handle it. Raises LinkLost or BrokerRefused at the end."""
        sock = self._client.socket()
        if sock is None:
            raise self._end or LinkLost(f"{self._address}: connection lost")
        poll = select.poll()
        poll.register(sock.fileno(), select.POLLIN | (select.POLLOUT if self._client.want_write() else 0))
        if wake is not None:
            poll.register(wake.fileno(), select.POLLIN)
        pending = getattr(sock, "pending", None)
        ready = poll.poll(0 if pending is not None and pending() else timeout_s * 1000)
        if wake is not None and any(handle == wake.fileno() for handle, _ in ready):
            wake.recv(4096)
        for _ in range(READS_IN_A_ROW):
            self._check(self._client.loop_read())
        if self._client.want_write():
            self._check(self._client.loop_write())
        self._check(self._client.loop_misc())

    @property
    def unacknowledged(self) -> int:
        """Messages sent that the broker has not acknowledged yet."""
        return len(self._acks)

    @property
    def is_congested(self) -> bool:
        """Whether bytes still wait for the network to take them."""
        return bool(self._client.want_write())

    def close(self) -> None:
        """Say goodbye; the broker then sends no last will."""
        self._client.disconnect()
        self.abandon()

    def abandon(self) -> None:
        """Drop the connection without a word, so that the broker sends the last will."""
        if (sock := self._client.socket()) is not None:
            sock.close()

    def _check(self, code: MQTTErrorCode) -> None:
        if self._end is not None:
            raise self._end
        if code != MQTTErrorCode.MQTT_ERR_SUCCESS:
            raise LinkLost(f"{self._address}: connection lost ({code.name})")

    def _connected(self, _client: Client, _data: object, _flags: ConnectFlags, reason: ReasonCode, _props: Properties | None) -> None:
        if reason.is_failure:
            error = ProtocolRefused if reason.value in PROTOCOL_CODES else BrokerRefused
            self._end = error(f"{self._address}: the broker refuses the connection: {reason}")
        else:
            self._granted = True

    def _disconnected(self, _client: Client, _data: object, flags: DisconnectFlags, reason: ReasonCode, _props: Properties | None) -> None:
        if self._end is None:
            who = "the broker ended the connection" if flags.is_disconnect_packet_from_server else "connection lost"
            self._end = LinkLost(f"{self._address}: {who}: {reason}")

    def _published(self, _client: Client, _data: object, mid: int, reason: ReasonCode, _props: Properties) -> None:
        if (on_ack := self._acks.pop(mid, None)) is not None:
            on_ack(str(reason) if reason.value >= FAILURE else None)

    def _received(self, _client: Client, _data: object, message: MQTTMessage) -> None:
        correlation = getattr(message.properties, "CorrelationData", None)
        self._on_message(Incoming(message.topic, bytes(message.payload), message.retain, correlation))


def open_link(
    address: BrokerAddress,
    client_id: str,
    will: tuple[str, bytes] | None,
    on_message: Callable[[Incoming], None],
    *,
    first: Protocol = "5",
    give_up: Callable[[], bool] = lambda: False,
) -> tuple[Link, Protocol]:
    """An open link in the version of MQTT that the broker speaks, and that version; the address may fix it, else `first` is tried first.

    Raises what `Link.open` raises; where both versions fail, what the first met.
    """
    versions: tuple[Protocol, ...] = (address.protocol,) if address.protocol else ("5", "3.1.1") if first == "5" else ("3.1.1", "5")
    mismatch: NovussError | None = None
    for version in versions:
        link = Link(address, client_id, version, will, on_message)
        try:
            link.open(give_up)
        except (ProtocolRefused, Unanswered) as error:
            mismatch = mismatch or error
        else:
            return link, version
    raise mismatch or Bug("no version of MQTT to try")


def _keep_buffer_small(_client: Client, _data: object, sock: SocketLike) -> None:
    # By its file handle, because paho's websocket is no socket.
    with socket.socket(fileno=os.dup(sock.fileno())) as same:
        same.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)


def _close_sockets_of(error: BaseException) -> None:
    """Paho leaves the socket of a failed TLS or websocket handshake open; each try would cost a file handle until the next."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for value in frame.f_locals.values():
            if isinstance(value, socket.socket):
                value.close()


def _ignore(_refused: str | None) -> None:
    """For messages whose loss the next one mends."""
