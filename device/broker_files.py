"""What a mosquitto for a hall needs: its configuration, who may do what, passwords, and a certificate that names the machine.

Running it again keeps every password and certificate that is there and adds what is missing.
"""

from __future__ import annotations

import ipaddress
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from device import topics
from device.interface import home_assistant
from device.storage import write_bytes, write_text
from rules.errors import InputUnusable

# Who is not a table: what each may read, and what it may write, below novuss/<any table>/.
ROLES: Final = {
    "board": (["#"], [topics.REPLAY.name]),
    "judge": (["#"], [topics.JUDGE.name, topics.REPLAY.name]),
    "hub": (["#"], [topics.REPLAY.name]),
    "home-assistant": ([f"+/{topics.STATUS.name}", f"+/{topics.HEALTH.name}"], []),
}
# What a table may write and read below novuss/<its own name>/: never its own judge commands.
TABLE_WRITES: Final = (
    topics.STATUS,
    topics.HEALTH,
    topics.CALIBRATION,
    topics.DISCS,
    topics.PICTURE,
    topics.MATCH,
    topics.CLOCK,
    topics.STATS,
    topics.EVIDENCE,
    topics.STROKE,
    topics.RULING,
    topics.INCIDENT,
    topics.JUDGE_RESULT,
    topics.REPLAY_RESULT,
)
TABLE_READS: Final = (topics.JUDGE, topics.REPLAY, topics.STATUS)
# Where the installer has them written, and mosquitto's drop-in names them.
FOLDER: Final = Path("/etc/novuss/broker")
ACL: Final = "acl"
# Bytes of randomness: beyond guessing, short enough to type in an emergency.
PASSWORD_BYTES: Final = 18
# Days; a hall's certificate is looked after by nobody, and 825 is the most that phones accept.
CERTIFICATE_DAYS: Final = 825
AUTHORITY_DAYS: Final = 3650
# A key that every phone and microcontroller accepts.
KEY: Final = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


class BrokerPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for: tables by name, and the names and addresses under which the machine is reached."""

    folder: Path
    tables: Sequence[str]
    names: Sequence[str]
    persistence: Path = Path("/var/lib/mosquitto")
    user: str = "mosquitto"
    plain_port: int = 1883
    tls_port: int = 8883
    websocket_port: int = 8884
    lan_address: str | None = None


def write_broker_files(plan: BrokerPlan) -> list[Path]:
    """Write everything into `plan.folder`; returns the password files. Raises InputUnusable where a name or a program is wrong."""
    for table in plan.tables:
        # "/" and wildcards would reach into other tables' topics, ":" ends a name in the password file.
        if not table or table in ROLES or any(letter in "+#/:\0\n " for letter in table):
            raise InputUnusable(f"table name {table!r}: no space, +, #, /, :, not empty, and not one of {', '.join(ROLES)}")
    plan.folder.mkdir(parents=True, exist_ok=True)
    passwords = plan.folder / "passwords"
    passwords.mkdir(mode=0o700, exist_ok=True)
    users = [*plan.tables, *ROLES]
    for user in users:
        if not (passwords / user).exists():
            _write_secret(passwords / user, secrets.token_urlsafe(PASSWORD_BYTES) + "\n", readable_by=None)
    hashed = _hashed({user: (passwords / user).read_text(encoding="utf-8").strip() for user in users})
    _write_secret(plan.folder / "users", hashed, readable_by=plan.user)
    _write_secret(plan.folder / ACL, acl_text(), readable_by=plan.user)
    _write_certificate(plan.folder, plan.names, plan.user)
    write_text(plan.folder / "mosquitto.conf", mosquitto_conf(plan))
    return [passwords / user for user in users]


def mosquitto_conf(plan: BrokerPlan) -> str:
    """A whole configuration: nothing is left to a default that has changed between versions of mosquitto."""
    folder = plan.folder.resolve()
    lan = f" {plan.lan_address}" if plan.lan_address else ""
    tls = f"certfile {folder}/server.pem\nkeyfile {folder}/server.key\ntls_version tlsv1.2\n"
    return f"""\
# Written by `novuss broker`; changes made here are lost when it is run again.
user {plan.user}
per_listener_settings false
allow_anonymous false
password_file {folder}/users
acl_file {folder}/{ACL}

# Sessions, queues and retained messages survive a restart.
persistence true
persistence_location {plan.persistence}/
autosave_interval 60
persistent_client_expiration 14d

# A board that is away for a day finds its rulings queued; one that never comes back does not fill the memory.
max_queued_messages 10000
max_inflight_messages 20
max_packet_size 1048576

log_dest stderr
log_type error
log_type warning
log_type notice

# This machine.
listener {plan.plain_port} 127.0.0.1

# The hall, encrypted.
listener {plan.tls_port}{lan}
{tls}
# Browsers in the hall, encrypted.
listener {plan.websocket_port}{lan}
protocol websockets
{tls}"""


def acl_text() -> str:
    """Access list: a table's user has its table's name; whatever is not listed is refused."""
    lines = ["# Written by `novuss broker`. A user that has a table's name may speak for that table only."]
    lines += [f"pattern write {topics.PREFIX}/%u/{topic.name}" for topic in TABLE_WRITES]
    lines += [f"pattern read {topics.PREFIX}/%u/{topic.name}" for topic in TABLE_READS]
    # Home Assistant's own part of the broker: what tables tell it, and its word that it is there.
    lines += [f"pattern write {home_assistant.topic('%u')}", "", "user home-assistant", f"topic readwrite {home_assistant.PREFIX}/#"]
    for role, (reads, writes) in ROLES.items():
        lines += ["", f"user {role}"]
        lines += [f"topic read {topics.PREFIX}/{what}" for what in reads]
        lines += [f"topic write {topics.PREFIX}/+/{what}" for what in writes]
    return "\n".join(lines) + "\n"


def refused(text: str) -> list[str]:
    """What this version's access list grants and that one does not: user, what they may do, where."""
    return sorted(_grants(acl_text()) - _grants(text))


def _grants(text: str) -> set[str]:
    user, found = "", set()
    for line in text.splitlines():
        kind, _, what = line.strip().partition(" ")
        if kind == "user":
            user = what
        elif kind in {"pattern", "topic"}:
            found.add(f"{'%u' if kind == 'pattern' else user} {what}")
    return found


def renew_access_list(folder: Path) -> bool:
    """Write this version's access list in place of another's, which is kept as `acl.before`; False where it is this one already.

    Owner, group and mode stay, and so does all else: an upgrade needs neither mosquitto's programs nor the names of the tables.
    """
    file = folder / ACL
    before = file.with_name(f"{ACL}.before")
    try:
        old, known = file.read_text(encoding="utf-8", errors="replace"), file.stat()
    except OSError as error:
        raise InputUnusable(f"{file}: no access list to renew ({error.strerror}); novuss broker {folder} --table NAME makes one") from error
    if old == acl_text():
        return False
    for path, text in ((before, old), (file, acl_text())):
        _write_secret(path, text, readable_by=None)
        path.chmod(known.st_mode & 0o777)
        if os.geteuid() == 0:
            os.chown(path, known.st_uid, known.st_gid)
    return True


def _write_secret(path: Path, text: str, readable_by: str | None) -> None:
    """A file that only its owner, and the group that has to, can read from its first moment on."""
    if not path.exists():
        path.touch(0o600)
    write_text(path, text)
    if readable_by is not None and os.geteuid() == 0:
        try:
            shutil.chown(path, group=readable_by)
        except LookupError as error:
            raise InputUnusable(f"there is no group {readable_by}; sudo apt install mosquitto") from error
        path.chmod(0o640)


def _hashed(passwords: dict[str, str]) -> str:
    """Mosquitto's password file; the passwords appear on no command line."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "users"
        _write_secret(plain, "".join(f"{user}:{password}\n" for user, password in passwords.items()), readable_by=None)
        _run("mosquitto_passwd", "-U", str(plain))
        return plain.read_text(encoding="ascii")


def _write_certificate(folder: Path, names: Sequence[str], user: str) -> None:
    """An authority of the hall's own, and a certificate with every name and address of the machine, signed by it.

    Boards and tables trust `ca.pem`. The certificate is written again when the names change, the authority never.
    """
    wanted = "subjectAltName=" + ",".join(sorted(_alternative(name) for name in names))
    extensions = folder / "server.ext"
    if (folder / "server.pem").exists() and extensions.exists() and extensions.read_text(encoding="utf-8").strip() == wanted:
        return
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        if not (folder / "ca.pem").exists():
            _openssl(work, "req", "-x509", *KEY, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=novuss", "-days", f"{AUTHORITY_DAYS}")
            _write_secret(folder / "ca.key", (work / "ca.key").read_text(encoding="ascii"), readable_by=None)
            write_bytes(folder / "ca.pem", (work / "ca.pem").read_bytes())
        (work / "server.ext").write_text(wanted + "\n", encoding="utf-8")
        authority = ["-CA", str(folder.resolve() / "ca.pem"), "-CAkey", str(folder.resolve() / "ca.key"), "-CAcreateserial"]
        _openssl(work, "req", *KEY, "-keyout", "server.key", "-out", "server.csr", "-subj", f"/CN={names[0]}")
        signing = ["-in", "server.csr", "-CAserial", "serial", "-extfile", "server.ext", "-days", f"{CERTIFICATE_DAYS}"]
        _openssl(work, "x509", "-req", *authority, *signing, "-out", "server.pem")
        _write_secret(folder / "server.key", (work / "server.key").read_text(encoding="ascii"), readable_by=user)
        write_bytes(folder / "server.pem", (work / "server.pem").read_bytes())
        write_text(extensions, wanted + "\n")


def _alternative(name: str) -> str:
    """One entry of subjectAltName. Anything but a host name or an address could smuggle in further ones."""
    try:
        return f"IP:{ipaddress.ip_address(name)}"
    except ValueError:
        pass
    if not name or not all(letter.isascii() and (letter.isalnum() or letter in "-.") for letter in name):
        raise InputUnusable(f"{name!r} is no host name and no IP address")
    return f"DNS:{name}"


def _openssl(folder: Path, *arguments: str) -> None:
    _run("openssl", *arguments, folder=folder)


def _run(program: str, *arguments: str, folder: Path | None = None) -> None:
    found = shutil.which(program, path=os.defpath + ":/usr/sbin:/usr/local/bin")
    if found is None:
        raise InputUnusable(f"{program} is missing; sudo apt install mosquitto openssl")
    done = subprocess.run([found, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InputUnusable(f"{program} failed: {done.stderr.strip() or done.stdout.strip()}")
