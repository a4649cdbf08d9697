"""The whole way: a judge ends a set at a real table, the table is killed, the club's software hears of it after the restart."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.device.running import Watch
from tests.parts.brokers import Mosquitto, Subscriber, publish_until, wait_until
from tests.webhook.conftest import Club


@pytest.mark.broker
def test_a_set_that_ended_is_told_after_a_kill(
    mosquitto: Mosquitto, subscribe: Callable[..., Subscriber], tmp_path: Path, club: Club
) -> None:
    subscriber = subscribe(mosquitto.port)
    settings = tmp_path / "novuss.toml"
    settings.write_text(f'[webhook]\nurl = "{club.url}"\n', encoding="utf-8")
    club.close()
    words = ("--seed", "5", "--mqtt", mosquitto.url, "--no-board", "--no-evidence", "--config", str(settings))
    monitor = Watch(tmp_path, *words)
    try:
        monitor.wait_for(1)
        command = json.dumps({"command": "award_set", "side": "N", "clause": "16.1", "correlation": "a"})
        publish_until(lambda: subscriber.messages("judge/result"), mosquitto.port, "novuss/table/judge", command)
        assert subscriber.messages("judge/result")[0][1]["accepted"], subscriber.messages("judge/result")
        monitor.kill()
        club.open()
        again = Watch(tmp_path, *words)
        try:
            assert wait_until(lambda: len(club.taken()) >= 1, 60), again.said()
            assert wait_until(lambda: "watching" in again.said(), 60), again.said()
            assert again.end()[0] == 0
        finally:
            again.make_sure_it_ended()
    finally:
        monitor.make_sure_it_ended()
    entry = subscriber.messages("judge/result")[0][1]["entry"]
    assert [(news["event"], news["entry"]) for news in club.taken() if news["entry"] == entry] == [("set", entry)]
