"""Between the outbox and the broker: publishing, reconnecting, judge commands, replays, and a broker for tables without one.

Topics, QoS and what is retained are in `device.topics`; docs/mqtt.md is the subscriber's side of it.
"""

from device.messaging.address import BrokerAddress, parse_url
from device.messaging.broker import EmbeddedBroker
from device.messaging.judge import JudgeRequest
from device.messaging.publisher import Connection, Publisher

__all__ = ["BrokerAddress", "Connection", "EmbeddedBroker", "JudgeRequest", "Publisher", "parse_url"]
