"""What goes wrong at a tournament, with real parts: nothing ruled is lost, doubled or out of order."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import game
import pytest
from real_parts import Mosquitto, Subscriber, program, wait_until

from device import topics
from device.messaging import Publisher
from device.messaging.backoff import Backoff
from device.storage import Ledger, MatchLog, Outbox
from device.storage.match_log import read_lines
from rules.errors import BrokerRefused, StorageFailed

Subscribe = Callable[..., Subscriber]
QUICK = (0.05, 0.2)


def heard(subscriber: Subscriber) -> dict[int, tuple[str, str]]:
    """What a subscriber knows after applying each message once by its seq; the same seq always carries the same message."""
    known: dict[int, tuple[str, str]] = {}
    for topic, payload in subscriber.messages():
        if topic.endswith(("stroke", "ruling", "incident")):
            message = (topic, json.dumps(payload))
            assert known.setdefault(payload["seq"], message) == message
    return known


def expected(log: Path) -> dict[int, tuple[str, str]]:
    """What the fold of the log says that every subscriber must know."""
    known: dict[int, tuple[str, str]] = {}
    for line in read_lines(log).lines:
        for topic, payload in game.rule(line):
            assert isinstance(topic, topics.Topic)
            seq = len(known) + 1
            known[seq] = (topics.path("t1", topic), json.dumps({"seq": seq} | dict(payload)))
    return known


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    with Outbox.open(tmp_path / "outbox") as outbox:
        yield outbox


def outage(mosquitto: Mosquitto, subscribe: Subscribe, folder: Path, seconds: float, *, hard: bool) -> None:
    """A game that goes on while the broker is away for a time."""
    subscriber = subscribe(mosquitto.port)
    log, recovered = MatchLog.open(folder / "match.jsonl")
    with log, Outbox.open(folder / "game") as outbox, Publisher(mosquitto.url, "t1", outbox) as publisher:
        ledger = Ledger(log, outbox, game.rule)
        ledger.resume(recovered.lines)
        ledger.record(game.MATCH)
        for number in range(1, 61):
            ledger.record(game.entry(number))
            time.sleep(0.01)
            if number == 20:
                mosquitto.stop(hard=hard)
                away_since = time.monotonic()
            if number == 40:
                time.sleep(max(0.0, seconds - (time.monotonic() - away_since)))
                mosquitto.start()
        back = time.monotonic()
        assert publisher.wait_drained(10)
        assert time.monotonic() - back < 10
    wanted = expected(folder / "match.jsonl")
    assert wait_until(lambda: len(heard(subscriber)) >= len(wanted))
    assert heard(subscriber) == wanted
    # The first time each seq is heard, they come in order.
    assert list(dict.fromkeys(subscriber.seqs())) == sorted(wanted)


def test_broker_stopped_and_back_in_mid_game(mosquitto: Mosquitto, subscribe: Subscribe, tmp_path: Path) -> None:
    outage(mosquitto, subscribe, tmp_path, 1.0, hard=False)


@pytest.mark.slow
def test_broker_away_for_30_s_in_mid_game(mosquitto: Mosquitto, subscribe: Subscribe, tmp_path: Path) -> None:
    outage(mosquitto, subscribe, tmp_path, 30.0, hard=False)


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


def killed_game(mosquitto: Mosquitto, subscribe: Subscribe, folder: Path, kills: int) -> None:
    """A game of which each process is killed at a random moment, from before its log is open to well into the game."""
    subscriber = subscribe(mosquitto.port)
    chance = random.Random(kills)
    command = [sys.executable, game.__file__, str(folder), mosquitto.url]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    lengths = [0]
    while len(lengths) <= kills:
        process = subprocess.Popen([*command, "1000000", "0.002"], env=environment)
        time.sleep(chance.uniform(0.1, 0.7))
        process.kill()
        process.wait()
        lengths.append(len(read_lines(folder / "match.jsonl").lines) if (folder / "match.jsonl").exists() else 0)
    entries = lengths[-1] + 50
    subprocess.run([*command, str(entries), "0"], env=environment, check=True, timeout=60)
    # Most kills fell into a running game, or this would prove nothing.
    assert sum(later > earlier for earlier, later in itertools.pairwise(lengths)) > kills / 4
    wanted = expected(folder / "match.jsonl")
    assert wait_until(lambda: len(heard(subscriber)) >= len(wanted))
    assert heard(subscriber) == wanted
    assert list(dict.fromkeys(subscriber.seqs())) == sorted(wanted)


def test_process_killed_in_mid_game_and_started_again(mosquitto: Mosquitto, subscribe: Subscribe, tmp_path: Path) -> None:
    killed_game(mosquitto, subscribe, tmp_path, kills=8)


@pytest.mark.slow
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


def test_a_full_disk_is_survived_and_what_waited_goes_out_in_order(mosquitto: Mosquitto, subscribe: Subscribe, small_disk: Path) -> None:
    subscriber = subscribe(mosquitto.port)
    log, recovered = MatchLog.open(small_disk / "match.jsonl")
    with log, Outbox.open(small_disk / "outbox") as outbox, Publisher(mosquitto.url, "t1", outbox) as publisher:
        ledger = Ledger(log, outbox, game.rule)
        ledger.resume(recovered.lines)
        ledger.record(game.MATCH)
        filler = small_disk / "recording"
        for number in range(1, 121):
            ledger.record(game.entry(number))
            if number == 30:
                with pytest.raises(OSError, match="No space"):
                    filler.write_bytes(bytes(1024 * 1024))
        assert ledger.held > 0
        assert "No space left" in (ledger.trouble or "")
        assert not ledger.retry()
        filler.unlink()
        assert ledger.retry()
        assert (ledger.held, ledger.trouble, ledger.dropped) == (0, None, 0)
        assert publisher.wait_drained(10)
    wanted = expected(small_disk / "match.jsonl")
    assert len(read_lines(small_disk / "match.jsonl").lines) == 121
    assert wait_until(lambda: len(heard(subscriber)) >= len(wanted))
    assert heard(subscriber) == wanted


def test_a_full_disk_leaves_no_half_file_and_the_log_readable(small_disk: Path) -> None:
    log, _ = MatchLog.open(small_disk / "match.jsonl")
    with log:
        log.append(game.MATCH)
        with pytest.raises(StorageFailed, match="No space left"):
            deque((log.append(game.STROKE) for _ in range(10_000)), maxlen=0)
    content = (small_disk / "match.jsonl").read_bytes()
    assert content.endswith(b"}\n")
    assert read_lines(small_disk / "match.jsonl").damage is None


def test_a_full_outbox_says_so_and_the_rest_goes_out_when_there_is_room(
    mosquitto: Mosquitto, subscribe: Subscribe, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    subscriber = subscribe(mosquitto.port)
    log, recovered = MatchLog.open(tmp_path / "match.jsonl")
    with log, Outbox.open(tmp_path / "outbox", waiting_limit=20) as outbox:
        ledger = Ledger(log, outbox, game.rule)
        ledger.resume(recovered.lines)
        ledger.record(game.MATCH)
        assert [ledger.record(game.STROKE) for _ in range(30)].count(True) == 10
        assert "20 messages wait for the broker" in (ledger.trouble or "")
        assert "20 messages wait for the broker" in caplog.text
        with Publisher(mosquitto.url, "t1", outbox) as publisher:
            assert wait_until(ledger.retry)
            assert publisher.wait_drained(5)
    assert wait_until(lambda: len(heard(subscriber)) >= 60)
    assert heard(subscriber) == expected(tmp_path / "match.jsonl")


def test_what_memory_could_not_hold_goes_out_after_the_next_start(tmp_path: Path) -> None:
    log, _ = MatchLog.open(tmp_path / "match.jsonl")
    with log, Outbox.open(tmp_path / "outbox", waiting_limit=4) as outbox:
        ledger = Ledger(log, outbox, game.rule, held_limit=3)
        for entry in [game.MATCH] + [game.STROKE] * 10:
            ledger.record(entry)
        outbox.mark_sent(4)
        ledger.retry()
        assert "5 rulings are in the match log only" in (ledger.trouble or "")
    log, recovered = MatchLog.open(tmp_path / "match.jsonl")
    with log, Outbox.open(tmp_path / "outbox") as outbox:
        outbox.mark_sent(outbox.next_seq - 1)
        assert Ledger(log, outbox, game.rule).resume(recovered.lines) > 0
        assert outbox.next_seq == 21
        assert [seq for seq, _ in expected(tmp_path / "match.jsonl").items()] == list(range(1, 21))
