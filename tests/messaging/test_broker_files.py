"""A generated broker, run for real: strangers are refused on every listener, and each role can do its part and no more."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from device import topics
from device.broker_files import BrokerPlan, acl_text, refused, renew_access_list, write_broker_files
from device.cli import main
from device.messaging import JudgeRequest, Publisher
from device.storage import Outbox
from rules.errors import BrokerRefused, InputUnusable
from tests.parts.brokers import LOOPBACK, Subscriber, answers, free_port, program, publish, wait_until


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> BrokerPlan:
    program("mosquitto_passwd")
    program("openssl")
    folder = tmp_path_factory.mktemp("hall")
    return BrokerPlan(
        folder=folder / "broker",
        tables=["1", "2"],
        names=[LOOPBACK, "hall.local"],
        persistence=folder,
        user="root",
        plain_port=free_port(),
        tls_port=free_port(),
        websocket_port=free_port(),
    )


@pytest.fixture(scope="module")
def hall(plan: BrokerPlan) -> Iterator[BrokerPlan]:
    write_broker_files(plan)
    log = plan.folder / "log"
    with log.open("wb") as stream:
        process = subprocess.Popen([program("mosquitto"), "-c", str(plan.folder / "mosquitto.conf")], stdout=stream, stderr=stream)
    try:
        assert wait_until(lambda: all(map(answers, (plan.plain_port, plan.tls_port, plan.websocket_port)))), log.read_text()
        yield plan
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    with Outbox.open(tmp_path / "outbox") as outbox:
        yield outbox


def login(plan: BrokerPlan, user: str) -> tuple[str, ...]:
    return ("-u", user, "-P", (plan.folder / "passwords" / user).read_text().strip())


def urls(plan: BrokerPlan, user: str = "") -> list[str]:
    who = f"{user}:{(plan.folder / 'passwords' / user).read_text().strip()}@" if user else ""
    ca = f"?ca={plan.folder}/ca.pem"
    return [
        f"mqtt://{who}{LOOPBACK}:{plan.plain_port}",
        f"mqtts://{who}{LOOPBACK}:{plan.tls_port}{ca}",
        f"wss://{who}{LOOPBACK}:{plan.websocket_port}{ca}",
    ]


WEBSOCKET = 2


@pytest.mark.parametrize("listener", range(3))
@pytest.mark.parametrize("who", ["", "1:wrong@", "nobody:nothing@"])
def test_a_stranger_is_refused_on_every_listener(hall: BrokerPlan, outbox: Outbox, listener: int, who: str) -> None:
    url = urls(hall)[listener].replace("://", f"://{who}")
    refused = pytest.raises(BrokerRefused, match=r"[Nn]ot authori[sz]ed")
    log = hall.folder / "log"
    before = log.read_text().lower().count("not authorised")
    with Publisher(url, "1", outbox) as publisher, refused:
        publisher.wait_connected(5)
    # Mosquitto 2.0 says nothing of those whom it turns away on a websocket, at any level that a hall could bear.
    assert listener == WEBSOCKET or wait_until(lambda: log.read_text().lower().count("not authorised") > before)


@pytest.mark.parametrize("listener", range(3))
def test_a_table_publishes_everything_it_has_on_every_listener(
    hall: BrokerPlan, subscribe: Callable[..., Subscriber], outbox: Outbox, listener: int
) -> None:
    board = subscribe(hall.plain_port, "novuss/1/#", *login(hall, "hub"), ready_topic="novuss/9/replay")
    with Publisher(urls(hall, "1")[listener], "1", outbox) as publisher:
        for topic in (topics.HEALTH, topics.CALIBRATION, topics.DISCS, topics.MATCH):
            publisher.publish_state(topic, {"listener": listener})
        for topic in topics.SEQUENCED:
            outbox.put(topic, {"listener": listener})
        assert publisher.wait_drained(5)
    expected = {f"novuss/1/{topic}" for topic in ("health", "calibration", "discs", "match", "stroke", "ruling", "incident", "status")}
    assert wait_until(lambda: {topic for topic, payload in board.messages() if payload.get("listener", listener) == listener} >= expected)
    assert outbox.waiting == 0


def test_a_table_cannot_speak_for_another(hall: BrokerPlan, outbox: Outbox) -> None:
    outbox.put("ruling", {})
    with Publisher(urls(hall, "1")[0], "2", outbox) as publisher:
        assert wait_until(lambda: "Not authorized" in (publisher.connection.reason or ""))
    assert outbox.waiting == 1


def test_judge_commands_come_from_judges_only(hall: BrokerPlan, outbox: Outbox) -> None:
    heard: list[JudgeRequest] = []
    command = '{"command":"end_match","by":"%s"}'
    with Publisher(urls(hall, "1")[0], "1", outbox, on_judge=heard.append) as publisher:
        assert publisher.wait_connected(5)
        for user in ("1", "2", "board", "hub", "judge"):
            publish(hall.plain_port, "novuss/1/judge", command % user, *login(hall, user))
        assert wait_until(lambda: heard)
    assert [request.command.by for request in heard] == ["judge"]


def test_running_it_again_keeps_passwords_and_authority_and_adds_a_table(plan: BrokerPlan, tmp_path: Path) -> None:
    folder = tmp_path / "again"
    first = BrokerPlan(folder=folder, tables=["1"], names=["hall.local"], user="root")
    write_broker_files(first)
    before = {name: (folder / name).read_bytes() for name in ("ca.pem", "server.pem", "passwords/1", "passwords/judge")}
    write_broker_files(BrokerPlan(folder=folder, tables=["1", "2"], names=["hall.local"], user="root"))
    assert {name: (folder / name).read_bytes() for name in before} == before
    users = [line.split(":")[0] for line in (folder / "users").read_text().splitlines()]
    assert users == ["1", "2", "board", "judge", "hub", "home-assistant"]
    write_broker_files(BrokerPlan(folder=folder, tables=["1"], names=["hall.local", "10.0.0.5"], user="root"))
    assert (folder / "ca.pem").read_bytes() == before["ca.pem"]
    shown = subprocess.run(
        [program("openssl"), "x509", "-in", str(folder / "server.pem"), "-noout", "-ext", "subjectAltName"], capture_output=True, check=True
    )
    assert b"DNS:hall.local, IP Address:10.0.0.5" in shown.stdout


def test_secrets_are_readable_by_nobody_else(hall: BrokerPlan) -> None:
    for name in ("users", "acl", "ca.key", "server.key", *(f"passwords/{user}" for user in ("1", "2", "board", "judge", "hub"))):
        assert stat.S_IMODE((hall.folder / name).stat().st_mode) & 0o027 == 0, name
    text = (hall.folder / "mosquitto.conf").read_text() + (hall.folder / "users").read_text()
    assert (hall.folder / "passwords" / "1").read_text().strip() not in text


@pytest.mark.parametrize("table", ["", "judge", "a/b", "+", "a:b", "a b"])
def test_table_names_that_would_reach_further_are_refused(tmp_path: Path, table: str) -> None:
    with pytest.raises(InputUnusable, match="table name"):
        write_broker_files(BrokerPlan(folder=tmp_path / "x", tables=[table], names=["hall.local"], user="root"))
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("name", ["", "hall,IP:1.2.3.4", "hall local", "häll\n"])
def test_names_that_are_none_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputUnusable, match="no host name"):
        write_broker_files(BrokerPlan(folder=tmp_path, tables=["1"], names=[name], user="root"))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["broker", str(tmp_path), "--table", "1", "--name", "hall.local", "--user", "root"])
    assert left.value.code == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert f"judge: password in {tmp_path}/passwords/judge" in said.err


def test_an_access_list_of_an_older_version_is_renewed_and_passwords_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An upgraded machine refused the topics that came later until somebody ran `novuss broker` by hand."""
    old = acl_text().replace("pattern write novuss/%u/picture\n", "").replace("topic write novuss/+/replay\n", "")
    (tmp_path / "acl").write_text(old)
    (tmp_path / "acl").chmod(0o640)
    (tmp_path / "passwords").mkdir()
    for name in ("users", "mosquitto.conf", "passwords/1"):
        (tmp_path / name).write_text("as it was\n")
    assert refused(old) == ["%u write novuss/%u/picture", *(f"{role} write novuss/+/replay" for role in ("board", "hub", "judge"))]
    for changed in (True, False):
        with pytest.raises(SystemExit) as left:
            main(["broker", str(tmp_path), "--renew"])
        assert left.value.code == 0
        assert ("reload mosquitto" in capsys.readouterr().err) == changed
    assert (tmp_path / "acl").read_text() == acl_text()
    assert (tmp_path / "acl.before").read_text() == old
    for name in ("acl", "acl.before"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640, name
    assert {(tmp_path / name).read_text() for name in ("users", "mosquitto.conf", "passwords/1")} == {"as it was\n"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_renewed_access_list_is_still_the_brokers_to_read(tmp_path: Path) -> None:
    (tmp_path / "acl").write_text("# older\n")
    os.chown(tmp_path / "acl", 12, 34)
    assert renew_access_list(tmp_path)
    for name in ("acl", "acl.before"):
        assert ((tmp_path / name).stat().st_uid, (tmp_path / name).stat().st_gid) == (12, 34), name


def test_there_is_nothing_to_renew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, status, said in (
        (["--renew"], 1, "no access list"),
        (["--renew", "--table", "1"], 2, "exclude each other"),
        ([], 2, "--table"),
    ):
        with pytest.raises(SystemExit) as left:
            main(["broker", str(tmp_path / "none"), *words])
        assert left.value.code == status
        assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
