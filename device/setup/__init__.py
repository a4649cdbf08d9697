"""`novuss setup`: from a mounted camera to a settings file, step by step in a terminal; each step can be repeated by itself."""

from device.setup.bench import Bench
from device.setup.steps import STEPS
from device.setup.talk import Talk, TerminalTalk

__all__ = ["STEPS", "Bench", "Talk", "TerminalTalk"]
