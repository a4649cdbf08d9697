"""The camera that most tests of seeing look through."""

from __future__ import annotations

import pytest

from benchmarks.truth import camera_of
from calibration import Camera
from virtual_table import overhead


@pytest.fixture(scope="package")
def camera() -> Camera:
    return camera_of(overhead(1456, 1088))
