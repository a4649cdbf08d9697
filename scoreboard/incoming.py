"""A request that changes something: whether a page of ours sent it, and its body, of which no more is read than is due."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request


class Refused(Exception):
    """A request that no page of ours sends."""

    def __init__(self, why: str, status: int = 400) -> None:
        super().__init__(why)
        self.status = status


def is_from_our_page(request: Request) -> bool:
    """Browsers name the page a write comes from; another site's page can't forge it. Other programs name none and need the cookie."""
    origin = request.headers.get("origin")
    try:
        return origin is None or urlsplit(origin).netloc == request.headers.get("host")
    except ValueError:  # no address at all
        return False


async def body_of(request: Request, most: int) -> bytes:
    """The body, of at most so many bytes. Raises Refused."""
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > most:
                raise Refused(f"longer than {most} bytes", 413)
    except ClientDisconnect as error:
        raise Refused("its sender left before the end") from error
    return body
