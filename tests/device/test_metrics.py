from __future__ import annotations

import re

from device.metrics import prometheus

HEALTH = {
    "schema": "novuss.health/1",
    "fps": 59.9,
    "dropped_frames": 12345678,
    "latency_ms": {"median": 4.25, "p99": 9.0},
    "temperature_c": None,
    "clock_synchronised": True,
    "throttling": {"now": ["under_voltage"], "since_boot": []},
    "camera": {"state": "running", "dropped": 3, "complaints": []},
}


def test_every_figure_is_there_once_and_in_prometheus_words() -> None:
    text = prometheus('hall "B"', {"state": "online"}, HEALTH)
    assert text.splitlines() == [
        "# TYPE novuss_online gauge",
        'novuss_online{table="hall \\"B\\""} 1',
        "# TYPE novuss_fps gauge",
        'novuss_fps{table="hall \\"B\\""} 59.9',
        "# TYPE novuss_dropped_frames_total counter",
        'novuss_dropped_frames_total{table="hall \\"B\\""} 12345678',
        "# TYPE novuss_latency_ms_median gauge",
        'novuss_latency_ms_median{table="hall \\"B\\""} 4.25',
        "# TYPE novuss_latency_ms_p99 gauge",
        'novuss_latency_ms_p99{table="hall \\"B\\""} 9',
        "# TYPE novuss_clock_synchronised gauge",
        'novuss_clock_synchronised{table="hall \\"B\\""} 1',
        "# TYPE novuss_throttling_now gauge",
        'novuss_throttling_now{table="hall \\"B\\""} 1',
        "# TYPE novuss_throttling_since_boot gauge",
        'novuss_throttling_since_boot{table="hall \\"B\\""} 0',
        "# TYPE novuss_camera_dropped_total counter",
        'novuss_camera_dropped_total{table="hall \\"B\\""} 3',
        "# TYPE novuss_camera_complaints gauge",
        'novuss_camera_complaints{table="hall \\"B\\""} 0',
    ]


def test_names_are_allowed_ones_whatever_health_may_hold() -> None:
    for line in prometheus("7", {}, {"ä b": 1, "x": {"y-z": 2}}).splitlines():
        assert re.fullmatch(r"# TYPE [a-zA-Z_]\w* (gauge|counter)|[a-zA-Z_]\w*\{table=\"7\"\} [0-9.e+-]+", line, flags=re.ASCII), line
    assert 'novuss_online{table="7"} 0' in prometheus("7", {}, {})
