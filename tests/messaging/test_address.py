"""Broker URLs, and that a password is never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from device.messaging import parse_url
from rules.errors import InputUnusable, WrongUsage


@pytest.mark.parametrize(
    ("url", "scheme", "host", "port", "path"),
    [
        ("mqtt://hall", "mqtt", "hall", 1883, "/mqtt"),
        ("hall", "mqtt", "hall", 1883, "/mqtt"),
        ("hall:1884", "mqtt", "hall", 1884, "/mqtt"),
        ("mqtts://hall.local", "mqtts", "hall.local", 8883, "/mqtt"),
        ("ws://10.0.0.1:9001", "ws", "10.0.0.1", 9001, "/mqtt"),
        ("wss://hall/broker", "wss", "hall", 443, "/broker"),
        ("mqtt://[::1]:1885", "mqtt", "::1", 1885, "/mqtt"),
    ],
)
def test_what_a_url_says(url: str, scheme: str, host: str, port: int, path: str) -> None:
    address = parse_url(url, {})
    assert (address.scheme, address.host, address.port, address.path) == (scheme, host, port, path)
    assert (address.user, address.password, address.protocol) == (None, None, None)


def test_user_and_password_from_the_url_are_unquoted_and_hidden() -> None:
    address = parse_url("mqtts://t%40ble:s%3Acret@hall?protocol=5", {})
    assert (address.user, address.password, address.protocol) == ("t@ble", "s:cret", "5")
    assert str(address) == repr(address) == "mqtts://t@ble@hall:8883"


def test_user_and_password_from_the_environment(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("from file\n")
    assert parse_url("hall", {"NOVUSS_MQTT_USER": "u", "NOVUSS_MQTT_PASSWORD": "p"}).password == "p"
    address = parse_url("hall", {"NOVUSS_MQTT_USER": "u", "NOVUSS_MQTT_PASSWORD_FILE": str(tmp_path / "password")})
    assert (address.user, address.password) == ("u", "from file")
    with pytest.raises(InputUnusable, match="NOVUSS_MQTT_PASSWORD_FILE"):
        parse_url("hall", {"NOVUSS_MQTT_PASSWORD_FILE": str(tmp_path / "gone")})


def test_a_certificate_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InputUnusable, match=r"gone\.pem"):
        parse_url(f"mqtts://hall?ca={tmp_path}/gone.pem", {})


@pytest.mark.parametrize(
    "url", ["", "http://hall", "mqtt://", "mqtt://hall:port", "mqtt://hall:99999", "hall?insecure=1", "hall?protocol=4", "mqtt://[::1"]
)
def test_what_is_no_broker_url_is_wrong_usage(url: str) -> None:
    with pytest.raises(WrongUsage, match="broker address"):
        parse_url(url, {})
