"""`novuss doctor`: one look at everything that can be wrong with a table's appliance; each finding says what, and what to do about it."""

from device.doctor.finding import Finding, Level, exit_status
from device.doctor.round import examine

__all__ = ["Finding", "Level", "examine", "exit_status"]
