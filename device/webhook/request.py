"""One HTTP POST: where to, with which headers and text. Address and headers that are secrets come from files that others cannot read."""

from __future__ import annotations

import contextlib
import http.client
import re
import ssl
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, quote, urlsplit

import msgspec
from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from device.settings import Settings
from rules.errors import InputUnusable, NovussError

# Seconds for each step of the exchange; a receiver that needs longer is asked again.
TIMEOUT_S: Final = 10.0
# Bytes; a template of a page is a mistake.
LONGEST_FILE: Final = 100_000
# A header as RFC 9110 has it; what could begin another line is none.
_HEADER: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\t]*)")
_TYPES: Final = {".json": "application/json", ".xml": "application/xml", ".form": "application/x-www-form-urlencoded"}


class NotTaken(NovussError):
    """The receiver did not take it this time."""


class Refused(NotTaken):
    """The receiver says that it will never take this one."""


class Untellable(InputUnusable):
    """The template cannot tell this one; it may well tell the next."""


class Receiver:
    """Where news go. Files are read for each request, so that a mended one counts at once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.webhook

    @staticmethod
    def wanted(settings: Settings) -> bool:
        """Whether there is anybody to tell."""
        return settings.webhook.url is not None or settings.webhook.url_file is not None

    def check(self) -> str:
        """The receiver's host; InputUnusable where address, headers or template cannot be used."""
        parts = self._address()
        self._headers()
        if self._settings.template is not None:
            _compiled(self._settings.template)
        return parts.netloc

    def reach(self) -> None:
        """Whether somebody listens there, with a certificate that is trusted; nothing is sent. Raises NotTaken."""
        with _connected(self._address()):
            pass

    def post(self, news: Mapping[str, Any], identity: str) -> None:
        """Send it. `identity` is the same each time that this one is sent.

        Raises NotTaken, Refused or Untellable for this one, InputUnusable for what our own files make of every one.
        """
        parts, headers = self._address(), self._headers()
        body, kind = self._body(news)
        # Of letters that a header takes: tables and matches have any name.
        known = {"Content-Type": kind, "User-Agent": "novuss", "Idempotency-Key": quote(identity)}
        named = {name.lower() for name in headers}
        ours = {name: value for name, value in known.items() if name.lower() not in named}
        status, reason = _exchange(parts, ours | headers, body)
        if 200 <= status < 300:
            return
        said = f"{parts.hostname} answers {status} {reason}"
        if 300 <= status < 400:
            raise NotTaken(f"{said}: it has moved; name its new address")
        # 400 bad request, 409 conflict, 413 too large, 415 wrong type, 422 cannot be processed: about this very message.
        raise (Refused if status in {400, 409, 413, 415, 422} else NotTaken)(said)

    def _address(self) -> SplitResult:
        settings = self._settings
        where = f"{settings.url_file}" if settings.url_file is not None else "[webhook] url"
        text = _secret(settings.url_file).strip() if settings.url_file is not None else settings.url or ""
        try:
            parts = urlsplit(text)
            usable = parts.scheme in {"http", "https"} and parts.hostname and text.isprintable() and text.isascii() and " " not in text
            _ = parts.port
        except ValueError:
            usable = False
        if not usable:
            raise InputUnusable(f"{where}: write http://HOST/PATH or https://HOST/PATH")
        if parts.username is not None:
            raise InputUnusable(f"{where}: no user and password in the address; write an Authorization line into headers_file")
        return parts

    def _headers(self) -> dict[str, str]:
        file = self._settings.headers_file
        if file is None:
            return {}
        headers: dict[str, str] = {}
        for number, line in enumerate(_secret(file).splitlines(), 1):
            if line.strip():
                found = _HEADER.fullmatch(line.strip())
                if found is None:
                    raise InputUnusable(f"{file}:{number}: is no header; write NAME: VALUE")
                headers[found[1]] = found[2]
        return headers

    def _body(self, news: Mapping[str, Any]) -> tuple[bytes, str]:
        file = self._settings.template
        if file is None:
            return msgspec.json.encode(news), _TYPES[".json"]
        try:
            body = _compiled(file).render(news).encode()
        except InputUnusable:
            raise
        # Whatever a template can do wrong: it is a person's program.
        except Exception as error:
            raise Untellable(f"{file}: cannot be filled in: {error}") from error
        return body, _TYPES.get("".join(file.suffixes[-1:]), "text/plain; charset=utf-8")


@contextlib.contextmanager
def _connected(parts: SplitResult) -> Iterator[http.client.HTTPConnection]:
    host = parts.hostname or ""
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        connection = http.client.HTTPSConnection(host, parts.port, timeout=TIMEOUT_S, context=ssl.create_default_context())
    else:
        connection = http.client.HTTPConnection(host, parts.port, timeout=TIMEOUT_S)
    try:
        connection.connect()
        yield connection
    # ValueError: a host that no name server may be asked for.
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise NotTaken(f"{host} does not answer ({error or type(error).__name__})") from error
    finally:
        connection.close()


def _exchange(parts: SplitResult, headers: Mapping[str, str], body: bytes) -> tuple[int, str]:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    with _connected(parts) as connection:
        connection.request("POST", target, body, dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.reason


def _secret(file: Path) -> str:
    text = _read(file)
    if file.stat().st_mode & stat.S_IROTH:
        raise InputUnusable(f"{file}: can be read by everybody; chmod 640 {file}")
    return text


def _read(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(LONGEST_FILE + 1)
        if len(data) > LONGEST_FILE:
            raise InputUnusable(f"{file}: is longer than {LONGEST_FILE // 1000} kB")
        return data.decode()
    except OSError as error:
        raise InputUnusable(f"{file}: cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise InputUnusable(f"{file}: is not UTF-8 text (byte {error.start})") from error


def _compiled(file: Path) -> Any:  # noqa: ANN401 - jinja2's Template has no name of its own here
    try:
        return SandboxedEnvironment(undefined=StrictUndefined, autoescape=file.suffix == ".xml").from_string(_read(file))
    except TemplateError as error:
        raise InputUnusable(f"{file}: is no template: {error}") from error
