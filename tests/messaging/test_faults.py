"""What goes wrong at a tournament, with real parts: nothing ruled is lost, doubled or out of order."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from device.messaging import Publisher
from device.messaging.backoff import Backoff
from device.referee import Referee
from device.storage import Outbox
from device.storage.match_log import read_lines
from rules.errors import BrokerRefused, StorageFailed
from rules.fold import match_state
from tests.messaging import game
from tests.parts.brokers import Mosquitto, Subscriber, program, wait_until

Subscribe = Callable[..., Subscriber]
QUICK = (0.05, 0.2)


def heard(subscriber: Subscriber) -> dict[int, tuple[str, str]]:
    """What a subscriber knows after applying each message once by its seq; the same seq always carries the same message."""
    known: dict[int, tuple[str, str]] = {}
    for topic, payload in subscriber.messages():
        if topic.endswith(("stroke", "ruling", "incident")):
            message = (topic, game.as_heard(payload))
            assert known.setdefault(payload["seq"], message) == message
    return known


def assert_all_heard(subscriber: Subscriber, log: Path) -> None:
    """Every ruling that the fold of the log gives was heard exactly once by its seq, first hearings in order."""
    _, wanted = game.folded(log)
    assert wait_until(lambda: len(heard(subscriber)) >= len(wanted))
    assert heard(subscriber) == wanted
    assert list(dict.fromkeys(subscriber.seqs())) == sorted(wanted)


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    with Outbox.open(tmp_path / "outbox") as outbox:
        yield outbox


def outage(mosquitto: Mosquitto, subscribe: Subscribe, folder: Path, outbox: Outbox, seconds: float) -> None:
    """A game that goes on while the broker is away for a time."""
    subscriber = subscribe(mosquitto.port)
    log = folder / "match.jsonl"
    with game.table(log, outbox) as referee, Publisher(mosquitto.url, "t1", outbox) as publisher:
        for number in range(1, 61):
            referee.enter(game.entry(number))
            time.sleep(0.01)
            if number == 20:
                mosquitto.stop()
                away_since = time.monotonic()
            if number == 40:
                time.sleep(max(0.0, seconds - (time.monotonic() - away_since)))
                mosquitto.start()
        back = time.monotonic()
        assert publisher.wait_drained(10)
        assert time.monotonic() - back < 10
    assert_all_heard(subscriber, log)


def test_broker_stopped_and_back_in_mid_game(mosquitto: Mosquitto, subscribe: Subscribe, tmp_path: Path, outbox: Outbox) -> None:
    outage(mosquitto, subscribe, tmp_path, outbox, 1.0)


@pytest.mark.slow
def test_broker_away_for_30_s_in_mid_game(mosquitto: Mosquitto, subscribe: Subscribe, tmp_path: Path, outbox: Outbox) -> None:
    outage(mosquitto, subscribe, tmp_path, outbox, 30.0)


@pytest.mark.parametrize("protocol", ["3.1.1", "5"])
def test_500_queued_rulings_arrive_in_order_exactly_once(mosquitto: Mosquitto, subscribe: Subscribe, outbox: Outbox, protocol: str) -> None:
    subscriber = subscribe(mosquitto.port)
    with Publisher(f"{mosquitto.url}?protocol={protocol}", "t1", outbox, backoff=Backoff(*QUICK)) as publisher:
        outbox.put("ruling", {"entry": 0})
        assert publisher.wait_drained(5)
        mosquitto.stop()
        for number in range(500):
            outbox.put("ruling", {"entry": number + 1})
        assert publisher.connection.waiting == 500
        mosquitto.start()
        assert publisher.wait_drained(10)
    assert wait_until(lambda: len(heard(subscriber)) >= 501)
    # The broker may hand a message on again whose receipt it had not heard of when it stopped.
    assert list(dict.fromkeys(subscriber.seqs())) == list(range(1, 502))
    assert len(subscriber.seqs()) <= 502


def test_broker_killed_again_and_again_under_a_full_window(mosquitto: Mosquitto, subscribe: Subscribe, outbox: Outbox) -> None:
    subscriber = subscribe(mosquitto.port)
    chance = random.Random(7)
    for number in range(400):
        outbox.put("ruling", {"entry": number})
    with Publisher(mosquitto.url, "t1", outbox, backoff=Backoff(*QUICK)) as publisher:
        for _ in range(5):
            publisher.wait_connected(5)
            time.sleep(chance.uniform(0.0, 0.03))
            mosquitto.stop()
            mosquitto.start()
        assert publisher.wait_drained(10)
    assert wait_until(lambda: len(heard(subscriber)) >= 400)
    assert list(dict.fromkeys(subscriber.seqs())) == list(range(1, 401))


def has_grown(file: Path, size: int) -> bool:
    return file.exists() and file.stat().st_size > size


def killed_game(mosquitto: Mosquitto, subscribe: Subscribe, folder: Path, kills: int) -> None:
    """A game of which each process is killed at a random moment."""
    subscriber = subscribe(mosquitto.port)
    chance = random.Random(kills)
    command = [sys.executable, "-m", game.__name__, str(folder), mosquitto.url]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    log = folder / "match.jsonl"
    for kill in range(kills):
        played = log.stat().st_size if log.exists() else 0
        process = subprocess.Popen([*command, "1000000", "0.002"], env=environment)
        # Every third anywhere in the start, the others in the running game.
        if kill % 3:
            # As long as a process takes to begin on a machine that does much else.
            assert wait_until(partial(has_grown, log, played), 60)
        time.sleep(chance.uniform(0.0, 0.3))
        process.kill()
        process.wait()
    entries = len(read_lines(log).lines) + 50
    subprocess.run([*command, str(entries), "0"], env=environment, check=True, timeout=60)
    assert_all_heard(subscriber, folder / "match.jsonl")
    state, _ = game.folded(folder / "match.jsonl")
    assert game.as_heard(subscriber.messages("/match")[-1][1]) == game.as_heard(match_state(state))


def test_process_killed_at_200_moments(mosquitto: Mosquitto, subscribe: Subscribe, tmp_path: Path) -> None:
    killed_game(mosquitto, subscribe, tmp_path, kills=200)


def test_a_refused_password_is_named_and_healed_without_a_restart(
    new_mosquitto: Callable[..., Mosquitto], tmp_path: Path, outbox: Outbox, caplog: pytest.LogCaptureFixture
) -> None:
    users = tmp_path / "users"
    users.touch(0o600)
    subprocess.run([program("mosquitto_passwd"), "-b", str(users), "table", "old"], check=True, capture_output=True)
    broker = new_mosquitto(access=f"allow_anonymous false\npassword_file {users}")
    url = broker.url.replace("mqtt://", "mqtt://table:new@")
    for protocol in ("3.1.1", "5"):
        with (
            Publisher(f"{url}?protocol={protocol}", "t1", outbox) as publisher,
            pytest.raises(BrokerRefused, match=r"[Nn]ot authori[sz]ed"),
        ):
            publisher.wait_connected(5)
    outbox.put("ruling", {"entry": 1})
    with Publisher(url, "t1", outbox, backoff=Backoff(*QUICK)) as publisher:
        assert wait_until(lambda: "ot authori" in (publisher.connection.reason or ""))
        assert "new" not in (publisher.connection.reason or "")
        broker.stop()
        subprocess.run([program("mosquitto_passwd"), "-b", str(users), "table", "new"], check=True, capture_output=True)
        broker.start()
        assert publisher.wait_drained(10)
    assert "table:new" not in caplog.text


def test_an_acl_that_swallows_rulings_is_found_out(new_mosquitto: Callable[..., Mosquitto], tmp_path: Path, outbox: Outbox) -> None:
    (tmp_path / "acl").write_text("topic write novuss/other/#\ntopic write novuss/t1/status\n")
    (tmp_path / "acl").chmod(0o600)
    broker = new_mosquitto(access=f"allow_anonymous true\nacl_file {tmp_path}/acl")
    outbox.put("ruling", {"entry": 1})
    with Publisher(broker.url, "t1", outbox) as publisher:
        assert wait_until(lambda: "refuses t1's messages: Not authorized" in (publisher.connection.reason or ""))
        assert outbox.waiting == 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small tmpfs")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(folder)], check=False, capture_output=True)
    if mounted.returncode != 0:
        pytest.skip(f"no small tmpfs here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Take all room that is left."""
    filler = folder / "recording"
    with pytest.raises(OSError, match="No space"):
        filler.write_bytes(bytes(16 * 1024 * 1024))
    return filler


def enter_until_refused(referee: Referee, number: int) -> int:
    """Enter entries from `number` on until one is not taken; its number. What is left of the last block may take some."""
    for refused in range(number, number + 50):
        try:
            referee.enter(game.entry(refused))
        except StorageFailed:
            return refused
    pytest.fail("the disk is not full")


def test_a_full_disk_stops_the_log_whole_and_it_goes_on_when_there_is_room(
    mosquitto: Mosquitto, subscribe: Subscribe, small_disk: Path
) -> None:
    subscriber = subscribe(mosquitto.port)
    log = small_disk / "match.jsonl"
    number = 1
    with (
        Outbox.open(small_disk / "outbox") as outbox,
        game.table(log, outbox) as referee,
        Publisher(mosquitto.url, "t1", outbox) as publisher,
    ):
        for _ in range(3):
            for _ in range(20):
                referee.enter(game.entry(number))
                number += 1
            filler = fill(small_disk)
            number = enter_until_refused(referee, number)
            assert read_lines(log).damage is None
            assert len(read_lines(log).lines) == number
            filler.unlink()
        referee.enter(game.entry(number))
        assert publisher.wait_drained(10)
    assert len(read_lines(log).lines) == number + 1
    assert_all_heard(subscriber, log)


def test_a_full_disk_under_the_outbox_delays_rulings_and_keeps_their_order(
    mosquitto: Mosquitto, subscribe: Subscribe, small_disk: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    subscriber = subscribe(mosquitto.port)
    log = tmp_path / "match.jsonl"
    with (
        Outbox.open(small_disk / "outbox") as outbox,
        game.table(log, outbox) as referee,
        Publisher(mosquitto.url, "t1", outbox) as publisher,
    ):
        for number in range(1, 41):
            referee.enter(game.entry(number))
            if number == 10:
                filler = fill(small_disk)
            if number == 39:
                assert "No space left" in caplog.text
                filler.unlink()
        assert publisher.wait_drained(10)
    assert_all_heard(subscriber, log)


def test_a_process_that_ends_with_a_full_disk_sends_the_rest_at_its_next_start(
    mosquitto: Mosquitto, subscribe: Subscribe, small_disk: Path, tmp_path: Path
) -> None:
    subscriber = subscribe(mosquitto.port)
    log = tmp_path / "match.jsonl"
    with Outbox.open(small_disk / "outbox") as outbox, game.table(log, outbox) as referee:
        for number in range(1, 11):
            referee.enter(game.entry(number))
        filler = fill(small_disk)
        for number in range(11, 41):
            referee.enter(game.entry(number))
    filler.unlink()
    with Outbox.open(small_disk / "outbox") as outbox, game.table(log, outbox), Publisher(mosquitto.url, "t1", outbox) as publisher:
        assert publisher.wait_drained(10)
    assert_all_heard(subscriber, log)


def test_a_full_outbox_says_so_and_the_rest_goes_out_when_there_is_room(
    mosquitto: Mosquitto, subscribe: Subscribe, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    subscriber = subscribe(mosquitto.port)
    log = tmp_path / "match.jsonl"
    with Outbox.open(tmp_path / "outbox", waiting_limit=20) as outbox, game.table(log, outbox) as referee:
        for number in range(1, 31):
            referee.enter(game.entry(number))
        assert outbox.waiting <= 20
        assert "20 messages wait for the broker" in caplog.text
        with Publisher(mosquitto.url, "t1", outbox) as publisher:
            for number in range(31, 40):
                assert wait_until(lambda: outbox.waiting == 0)
                referee.enter(game.entry(number))
            assert publisher.wait_drained(5)
    assert_all_heard(subscriber, log)
