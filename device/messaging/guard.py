"""Who may write to the built-in broker: everybody on this machine may listen, only whoever knows its password may speak.

Loaded by amqtt by name. What strangers try to write under `novuss/` is dropped and reported; asking for a replay is listening.
"""

from __future__ import annotations

import hmac
import logging
from dataclasses import dataclass
from typing import Final

from amqtt.contexts import Action, BaseContext
from amqtt.plugins.base import BaseAuthPlugin, BaseTopicPlugin
from amqtt.session import Session

from device import topics

_log = logging.getLogger(__name__)

USER: Final = "novuss"
DOOR: Final = f"{__name__}.Door"
LOCK: Final = f"{__name__}.Lock"
_OURS: Final = f"{topics.PREFIX}/"


def is_write(topic: str) -> bool:
    """Whether a message on this topic would change something."""
    return topic.startswith(_OURS) and not topic.endswith(f"/{topics.REPLAY.name}")


class Door(BaseAuthPlugin):  # type: ignore[misc]
    """Lets in strangers, who may listen, and those with the password; nobody with a wrong one, and no last will of strangers."""

    def __init__(self, context: BaseContext) -> None:
        super().__init__(context)
        self._password: str = self._get_config_option("password", "")

    async def authenticate(self, *, session: Session) -> bool:
        """Whether this client may connect."""
        if session.username is None:
            session.is_anonymous = True
            refused = bool(session.will_flag) and is_write(session.will_topic or "")
        else:
            known = session.username == USER and bool(self._password)
            refused = not known or not hmac.compare_digest((session.password or "").encode(), self._password.encode())
        if refused:
            _log.warning("built-in broker: %s (user %s) refused", session.client_id, session.username)
        return not refused

    @dataclass
    class Config:
        """`password` of whoever may write."""

        password: str = ""


class Lock(BaseTopicPlugin):  # type: ignore[misc]
    """Lets strangers listen and not speak."""

    async def topic_filtering(self, *, session: Session | None = None, topic: str | None = None, action: Action | None = None) -> bool:
        """Whether this client may do this on this topic."""
        if action != Action.PUBLISH or not is_write(topic or "") or (session is not None and session.username == USER):
            return True
        _log.warning("built-in broker: a message of %s on %s refused", session.client_id if session else "?", topic)
        return False

    @dataclass
    class Config:
        """Nothing to set."""
