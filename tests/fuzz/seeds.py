"""Good inputs to begin with, small, and of every kind that there is."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from rules.fold import match_state, start, step
from tests.messaging import game

JUDGE = tuple(
    msgspec.json.encode(command)
    for command in (
        {"command": "warning", "side": "N", "clause": "19.1.e", "correlation": "j-1"},
        {"command": "fault", "side": "S", "clause": "17.1.b", "by": "Ilze"},
        {"command": "award_set", "side": "N", "clause": "16.1", "preview": True},
        {"command": "award_match", "side": "S", "clause": "16.1"},
        {"command": "debt_forgotten", "side": "N"},
        {"command": "swap_places", "side": "S"},
        {"command": "void", "entry": 1},
        {"command": "confirm", "entry": 1},
        {"command": "resolve", "entry": 1, "assume": {"r1": "dark"}},
        {"command": "override", "entry": 1, "ruling": {"lawful": True, "turn": "passes", "faults": [{"clause": "17.1.b", "side": "S"}]}},
        {"command": "add_event", "entry": 1, "event": {"event": "touched", "discs": ["r1"], "side": "S", "by": "hand"}, "when": "first"},
        {"command": "add_event", "entry": 1, "event": {"event": "pocket", "disc": "r1", "pocket": "NE"}, "when": "last"},
        {"command": "wave_through"},
        {"command": "start_set"},
        {"command": "end_match"},
        {"command": "start_match", "match": msgspec.to_builtins(game.MATCH), "force": True},
        {"command": "clock", "span": "ready", "run": True},
        {"command": "keep_evidence", "evidence": "0000017-3f9a2c41", "keep": True},
        {"command": "show_table", "show": True},
    )
)
REPLAYS = (b'{"from":1,"to":5,"correlation":"a"}', b'{"from":3}', b'{"from":-5,"to":9007199254740993}', b'{"from":20,"to":1}')


def log_lines() -> bytes:
    """A match log with every kind of entry and many kinds of event."""
    stroke = msgspec.to_builtins(game.STROKE)
    more = [
        {"t": 0.3, "event": "rail", "disc": "striker", "rail": "N"},
        {"t": 0.4, "event": "pocket", "disc": "r1", "pocket": "NE", "confidence": 0.9},
        {"t": 0.5, "event": "returned", "depth_mm": 3.0, "sigma_mm": 0.2},
        {"t": 0.6, "event": "over_rail", "disc": "b1", "rail": "SW"},
        {"t": 0.7, "event": "touched", "discs": ["b1"], "side": "S", "by": "cue"},
        {"t": 1.0, "event": "rest"},
    ]
    timeline = stroke["stroke"]["timeline"][:2] + more
    rich = {"stroke": stroke["stroke"] | {"timeline": timeline}}
    between = [{"t": 4.0, "event": "time", "elapsed_s": 31.0}, {"t": 5.0, "event": "table_shaken", "moved": ["r1"]}]
    incident = {"incident": {"side": "N", "timeline": between}}
    judge = [{"judge": msgspec.json.decode(line)} for line in JUDGE[:15]]
    entries = [{"match": msgspec.to_builtins(game.MATCH)}, stroke, rich, incident, *judge]
    return b"\n".join(msgspec.json.encode(entry) for entry in entries) + b"\n"


def board_messages() -> tuple[bytes, ...]:
    """`topic payload`, as a board hears them."""
    state = start(game.MATCH)
    said: list[tuple[str, object]] = [("match", match_state(state) | {"last_ruling": None})]
    common = {"seq": 1, "match_id": "m1", "at": "2026-01-31T18:00:00Z", "clock_synchronised": True, "evidence": "0000001-3f9a2c41"}
    for number, entry in enumerate((game.STROKE, game.entry(5), game.STROKE), 1):
        state, ruling = step(state, entry)
        said.append(("ruling", common | {"seq": 2 * number} | msgspec.to_builtins(ruling)))
        if entry.stroke is not None:
            said.append(("stroke", common | {"seq": 2 * number - 1, "entry": number} | msgspec.to_builtins(entry.stroke)))
        said.append(("match", match_state(state) | {"last_ruling": msgspec.to_builtins(ruling)}))
    disc = {"kind": "red", "x_mm": 0.0, "y_mm": 1.0, "sigma_mm": 0.1, "id": "r1", "clearance_mm": {"S": -9.0, "circle": 1.0}}
    said += [
        ("discs", {"schema": "novuss.discs/1", "discs": [disc, disc | {"kind": "striker", "id": None}], "occluders": [], "t_s": 1.0}),
        ("status", {"schema": "novuss.status/1", "state": "online", "version": "0.1.0", "since": "2026-01-31T18:00:00Z", "next_seq": 9}),
        ("clock", {"span": "stroke", "limit_s": 30.0, "run": True, "at": "2026-01-31T18:00:00+00:00", "by": None}),
        ("evidence", {"latest": [{"evidence": "0000001-3f9a2c41", "entry": 1, "missing": None, "clip": "c.mp4", "moment_s": 3.0}]}),
        ("stats", {"match_id": "m1", "strokes": 1, "players": [], "cell_mm": 50.0}),
        ("replay/result", {"seq": 3, "topic": "stroke", "payload": {"seq": 3}, "correlation": "x"}),
        ("replay/result", {"from": 1, "to": 2, "sent": 2, "missing": [], "next": 3, "correlation": "x", "done": True}),
        ("judge/result", {"correlation": "x", "accepted": False, "error": "no"}),
        ("picture", {"jpeg": "/9j/AAAA", "half_mm": 300.0}),
        ("health", {"fps": 60.0}),
    ]  # fmt: skip
    return tuple(topic.encode() + b" " + msgspec.json.encode(payload) for topic, payload in said)


def pictures() -> tuple[bytes, ...]:
    """Small stills in every format that is read."""
    rng = np.random.default_rng(1)
    image = rng.integers(0, 255, (72, 80, 3), np.uint8)
    smooth = cv2.GaussianBlur(image, (9, 9), 0)
    found = [cv2.imencode(ending, smooth)[1].tobytes() for ending in (".jpg", ".png", ".bmp", ".tiff", ".webp", ".ppm")]
    exif = b"\xff\xe1\x00\x22Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
    return (*found, found[0][:2] + exif + found[0][2:])


def mqtt_packets() -> tuple[bytes, ...]:
    """What a client says to a broker: MQTT 3.1.1 packets one after another."""
    connect = _packet(0x10, b"\0\x04MQTT\x04\x02\0\x3c" + _text(b"ab"))
    with_will = _packet(0x10, b"\0\x04MQTT\x04\x2e\0\x3c" + _text(b"ac") + _text(b"novuss/t/status") + _text(b"gone"))
    subscribe = _packet(0x82, b"\0\1" + _text(b"novuss/#") + b"\1")
    publish = _packet(0x30, _text(b"novuss/t/x") + b"hello!")
    publish_1 = _packet(0x33, _text(b"novuss/t/x") + b"\0\7hello!")
    rest = _packet(0xA2, b"\0\2" + _text(b"novuss/#")) + _packet(0xC0, b"") + _packet(0x40, b"\0\7") + _packet(0xE0, b"")
    return (connect + subscribe + publish, connect + publish_1 + rest, with_will + subscribe, connect + rest, connect)


def _packet(kind: int, body: bytes) -> bytes:
    return bytes([kind, len(body)]) + body


def _text(text: bytes) -> bytes:
    return len(text).to_bytes(2, "big") + text


def requests() -> tuple[bytes, ...]:
    """HTTP requests to every page of a board."""
    pages = (
        "/", "/overlay?parts=score,table&theme=dark", "/healthz", "/events?lang=lv", "/stats", "/judge", "/judge/journal", "/judge/sheet",
        "/static/board.js", "/static/../pages.py", "/favicon.ico", "/picture.jpg", "/evidence", "/evidence/0000017-3f9a2c41",
        "/evidence/0000017-3f9a2c41/clip.mp4", "/evidence/..%2f..%2fsecret/export.html?lang=de",
    )  # fmt: skip
    gets = [_get(page, b"Accept-Language: de,en;q=0.5\r\n") for page in pages]
    part = _get("/evidence/0000017-3f9a2c41/still.jpg", b"Range: bytes=0-9,20-\r\n")
    orders = [_post(path, body) for path in ("/judge/preview", "/judge/command", "/judge/match?preview") for body in JUDGE[:16:5]]
    return (*gets, part, *orders, _post("/judge/sign-in", b"name=Ilze&password=wrong"), _post("/judge/end-session", b"key=a"))


def _get(page: str, more: bytes) -> bytes:
    return f"GET {page} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n".encode() + more + b"\r\n"


def _post(path: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nCookie: novuss_judge=COOKIE\r\nConnection: close\r\n"
    return head.encode() + f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


SETTINGS = (
    b'[table]\nname = "7"\nsouth = "left"\nlang = "lv"\n[camera]\nsource = "virtual"\nexposure_us = 4000\ngain = 2.0\nmains_hz = 50\n',
    b'[mqtt]\nenabled = true\nurl = "mqtts://hall.local?ca=/etc/ca.pem"\nuser = "7"\n[board]\nport = 8080\nhost = "::1"\n',
    b'[match]\nruleset = "casual"\nsets = 3\nfirst_turn = "S"\n[webhook]\nurl = "https://a.b/c"\n[data]\nfolder = "~/x"\n',
)
FILES = (
    b'{"schema":"novuss.lens/1","width":1456,"height":1088,"K":[[1460,0,727],[0,1460,543],[0,0,1]],"dist":[-0.1,0.02,0,0,0],"rms_px":0.2}',
    b'{"schema":"novuss.calibration/1","lens":{"width":1456,"height":1088,"K":[[1460,0,727],[0,1460,543],[0,0,1]],"dist":[0,0,0,0,0]},'
    b'"rvec":[3.1,0.0,0.0],"tvec":[0.0,0.0,1500.0],"table":{"zone_line_mm":{"S":-370.1,"N":369.8,"W":-370.0,"E":370.2},'
    b'"circle":{"x_mm":0.1,"y_mm":-0.2,"radius_mm":125.1}},"rms_px":0.3,"made_at":"2026-01-31T18:00:00Z"}',
    msgspec.json.encode({"match": msgspec.to_builtins(game.MATCH)}),
    b'{"next":5,"last_key":"ab","schema":"novuss.outbox/1"}\n{"first":5,"key":"cd","items":[["stroke",{"seq":5}],["ruling",{"seq":6}]]}\n',
    b"Authorization: Bearer abc\nX-Table: 7\n",
)
URLS = (b"mqtt://user:pass@host:1883/", b"wss://[::1]:9001/mqtt?ca=/etc/x.pem&protocol=5", b"host", b"http://127.0.0.1:9/a?b=c")
