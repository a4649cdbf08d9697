"""A club's own software hears by HTTP POST when a set or a match ends: what ended, kept on disk until the receiver has taken it.

News come from the fold of the log, never from what was sent, so that a restart finds the same ones again.
"""

from device.webhook.courier import Courier
from device.webhook.desk import NewsDesk, open_news
from device.webhook.request import Receiver

__all__ = ["Courier", "NewsDesk", "Receiver", "open_news"]
