"""What several areas use: a real broker, subscriber and browser, started and ended by their own process id; and no example is timed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.parts.brokers import Mosquitto, Subscriber
from tests.parts.browser import CHROMIUM, FLAGS

# Hypothesis would fail an example that takes a fifth of a second, or whose making is slow: on an emulated or busy machine all may.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser or broker on a machine that does much else may be late once; what fails twice is a fault. Reruns are listed at the end."""
    for item in items:
        if item.get_closest_marker("browser") or item.get_closest_marker("broker"):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture
def new_mosquitto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Mosquitto]]:
    started: list[Mosquitto] = []

    def start(**options: str) -> Mosquitto:
        started.append(Mosquitto(tmp_path_factory.mktemp("mosquitto"), **options))
        return started[-1].start()

    yield start
    for broker in started:
        broker.stop()


@pytest.fixture
def mosquitto(new_mosquitto: Callable[..., Mosquitto]) -> Mosquitto:
    return new_mosquitto()


@pytest.fixture
def subscribe(tmp_path: Path) -> Iterator[Callable[..., Subscriber]]:
    started: list[Subscriber] = []

    def start(port: int, *arguments: str, keeps_session: bool = True, ready_topic: str = "") -> Subscriber:
        started.append(Subscriber(tmp_path, port, *arguments, keeps_session=keeps_session, ready_topic=ready_topic))
        return started[-1]

    yield start
    for subscriber in started:
        subscriber.stop()


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is not installed")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()
