"""Encrypted connections to a real mosquitto: trusted by its CA file, refused with the reason otherwise."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from device.messaging import Publisher
from device.storage import Outbox
from rules.errors import BrokerRefused
from tests.parts.brokers import LOOPBACK, Mosquitto, Subscriber, free_port, program, wait_until


def certificate(folder: Path, name: str, subject_alt: str) -> None:
    """A certificate authority `name-ca.pem` and a server certificate signed by it."""
    openssl = program("openssl")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    run = [
        [openssl, "req", "-x509", *key, "-keyout", f"{name}-ca.key", "-out", f"{name}-ca.pem", "-subj", f"/CN={name} CA", "-days", "2"],
        [openssl, "req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}"],
        [openssl, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{name}-ca.pem", "-CAkey", f"{name}-ca.key", "-CAcreateserial"]
        + ["-out", f"{name}.pem", "-days", "2", "-extfile", f"{name}.ext"],
    ]
    (folder / f"{name}.ext").write_text(f"subjectAltName={subject_alt}\n")
    for command in run:
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (folder / f"{name}.key").chmod(0o644)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    certificate(folder, "hall", f"IP:{LOOPBACK},DNS:hall.local")
    certificate(folder, "other", "DNS:elsewhere.local")
    return folder


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    with Outbox.open(tmp_path / "outbox") as outbox:
        yield outbox


def tls_listener(certificates: Path, name: str, port: int, protocol: str = "mqtt") -> str:
    return f"listener {port} {LOOPBACK}\nprotocol {protocol}\ncertfile {certificates}/{name}.pem\nkeyfile {certificates}/{name}.key\n"


@pytest.mark.parametrize(("scheme", "protocol"), [("mqtts", "mqtt"), ("wss", "websockets")])
def test_rulings_over_tls(
    new_mosquitto: Callable[..., Mosquitto],
    subscribe: Callable[..., Subscriber],
    certificates: Path,
    outbox: Outbox,
    scheme: str,
    protocol: str,
) -> None:
    port = free_port()
    broker = new_mosquitto(extra=tls_listener(certificates, "hall", port, protocol))
    subscriber = subscribe(broker.port)
    with Publisher(f"{scheme}://{LOOPBACK}:{port}?ca={certificates}/hall-ca.pem", "t1", outbox) as publisher:
        assert publisher.wait_connected(5)
        for number in range(100):
            outbox.put("ruling", {"entry": number, "padding": "x" * 5000})
        assert publisher.wait_drained(10)
    assert wait_until(lambda: len(subscriber.seqs()) >= 100)
    assert subscriber.seqs() == list(range(1, 101))


@pytest.mark.parametrize(
    ("served", "trusted", "reason"),
    [
        ("hall", "?ca={folder}/other-ca.pem", "certificate is not trusted"),
        ("hall", "", "certificate is not trusted"),
        ("other", "?ca={folder}/other-ca.pem", "certificate is not trusted .*IP address mismatch"),
    ],
)
def test_a_certificate_that_does_not_prove_the_broker_is_refused(
    new_mosquitto: Callable[..., Mosquitto], certificates: Path, outbox: Outbox, served: str, trusted: str, reason: str
) -> None:
    port = free_port()
    new_mosquitto(extra=tls_listener(certificates, served, port))
    refused = pytest.raises(BrokerRefused, match=reason)
    with Publisher(f"mqtts://{LOOPBACK}:{port}{trusted.format(folder=certificates)}", "t1", outbox) as publisher, refused:
        publisher.wait_connected(5)


@pytest.mark.parametrize("scheme", ["mqtt", "ws", "mqtts", "wss"])
def test_the_wrong_kind_of_listener_is_one_sentence(
    new_mosquitto: Callable[..., Mosquitto], certificates: Path, outbox: Outbox, scheme: str
) -> None:
    port = free_port()
    broker = new_mosquitto(extra=tls_listener(certificates, "hall", port))
    wrong = {"mqtt": port, "ws": broker.port, "mqtts": broker.port, "wss": port}[scheme]
    url = f"{scheme}://{LOOPBACK}:{wrong}?ca={certificates}/hall-ca.pem&protocol=3.1.1"
    with Publisher(url, "t1", outbox) as publisher:
        assert wait_until(lambda: publisher.connection.failures > 0)
        reason = publisher.connection.reason or ""
    assert "refused" not in reason
    assert reason.startswith(f"{scheme}://{LOOPBACK}:{wrong}")
    assert "\n" not in reason
