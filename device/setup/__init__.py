"""`novuss setup`: from a mounted camera to a settings file, step by step in a terminal or a browser; each can be repeated."""

from device.setup.bench import Bench
from device.setup.browser import BrowserTalk
from device.setup.steps import STEPS
from device.setup.talk import Talk, TerminalTalk
from device.setup.walk import walk

__all__ = ["STEPS", "Bench", "BrowserTalk", "Talk", "TerminalTalk", "walk"]
