"""A table that is seen through a right calibration, for all who watch over one."""

from __future__ import annotations

import numpy as np
import pytest

from calibration import Calibration
from calibration.find import find_table
from device.sources.virtual import VirtualSource


@pytest.fixture(scope="package")
def table() -> tuple[Calibration, np.ndarray]:
    source = VirtualSource(seed=3, realtime=False)
    frame = source.read()
    assert frame is not None
    return find_table([frame.image], source.lens).calibration, frame.image
