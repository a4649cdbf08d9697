"""Inputs made from good ones: bits, bytes, pieces and JSON values changed by chance; the same seed makes the same inputs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import msgspec

from rules.errors import UNREADABLE

LONGEST = 64 * 1024
ODD_BYTES = (
    *(b"\0", b"\n", b"\r\n", b"\xff", b"\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\"),
    *(b"[" * 2000, b'{"a":' * 2000, b"null", b"true", b"-1", b"1e999", b"NaN", b"9" * 400, b"\0" * 512, b"A" * 5000),
    *(b"../", b"%2e%2e%2f", b"%00", b"%", b"+", b"#", b"$SYS/", b"<script>", b"{{7*7}}", b"\xe2\x80\xae", b"\\ud800"),
)
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, -(2**31), 2**53, 2**63, -(2**63), 2**64 - 1, 0.0, -0.0, 1e308, -1e308, 1e-308, 0.5, 600.1),
    *("", "S", "N", "X", "striker", "r1", "b1", "novuss.ruling/1", "\0", "\u202e", "a" * 3000, "<b>", "16.1", "19.1.e"),
    *([], {}, [[]], {"a": {}}, ["S"], {"S": 1}, [None] * 40),
)
ODD_NAMES = ("x", "seq", "side", "entry", "event", "t", "schema", "id")
_TRIES = 8


class Mutator:
    """Makes one input after another out of the seeds."""

    def __init__(self, seeds: Sequence[bytes], seed: int) -> None:
        self._seeds = list(seeds)
        self._chance = random.Random(seed)

    def next(self) -> bytes:
        """Another input; now and then it becomes a seed itself, so that changes add up."""
        chance = self._chance
        data = chance.choice(self._seeds)
        for _ in range(chance.choice((1, 1, 2, 3, 8))):
            data = (self._by_value(data) if chance.random() < 0.5 else self._by_bytes(data))[:LONGEST]
        if chance.random() < 0.02 and len(self._seeds) < 2000:
            self._seeds.append(data)
        return data

    def _by_bytes(self, data: bytes) -> bytes:
        chance = self._chance
        at, end = sorted((chance.randint(0, len(data)), chance.randint(0, len(data))))
        match chance.randrange(7):
            case 0 if data:
                return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
            case 1 if at < len(data):
                return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
            case 2:
                return data[:at] + data[end:]
            case 3:
                return data[:end] + data[at:end] * chance.choice((1, 2, 20)) + data[end:]
            case 4:
                return data[:at] + chance.choice(ODD_BYTES) + data[at:]
            case 5:
                other = chance.choice(self._seeds)
                return data[:at] + other[chance.randint(0, len(other)) :]
            case _:
                return data[:at] + chance.randbytes(chance.choice((1, 4, 64))) + data[end:]

    def _by_value(self, data: bytes) -> bytes:
        """One line's JSON changed in one place; what is no JSON is changed as bytes."""
        lines = data.split(b"\n")
        for _ in range(_TRIES):
            place = self._chance.randrange(len(lines))
            try:
                value = msgspec.json.decode(lines[place])
            except UNREADABLE:
                continue
            if self._chance.random() < 0.1:
                lines.insert(self._chance.randint(0, len(lines)), lines[place])
                return b"\n".join(lines)
            lines[place] = msgspec.json.encode(self._changed(value))
            return b"\n".join(lines)
        return self._by_bytes(data)

    def _changed(self, value: Any) -> Any:
        chance = self._chance
        if isinstance(value, dict) and value and chance.random() < 0.85:
            key = chance.choice(list(value))
            match chance.randrange(6):
                case 0:
                    return {other: part for other, part in value.items() if other != key}
                case 1:
                    return value | {chance.choice((*ODD_NAMES, key)): chance.choice(ODD_VALUES)}
                case _:
                    return value | {key: self._changed(value[key])}
        if isinstance(value, list) and value and chance.random() < 0.85:
            place = chance.randrange(len(value))
            match chance.randrange(5):
                case 0:
                    return value[:place] + value[place + 1 :]
                case 1:
                    return value + [value[place]]
                case _:
                    return value[:place] + [self._changed(value[place])] + value[place + 1 :]
        if isinstance(value, int | float) and not isinstance(value, bool) and chance.random() < 0.5:
            return value + chance.choice((-1, 1, 1000) if isinstance(value, int) else (-0.001, 0.001, 0.5))
        return chance.choice(ODD_VALUES)
