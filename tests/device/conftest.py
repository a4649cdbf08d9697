from __future__ import annotations

from tests.messaging.conftest import mosquitto, new_mosquitto, subscribe

__all__ = ["mosquitto", "new_mosquitto", "subscribe"]
