from __future__ import annotations

from device.blind_guard import BlindGuard

S = 1_000_000_000


def watch(guard: BlindGuard, *frames: tuple[float, bool]) -> list[bool]:
    """Whether something would be called with each frame (seconds, at rest)."""
    called = []
    for t_s, at_rest in frames:
        guard.frame(round(t_s * S))
        called.append(guard.reason is None)
        guard.seen(round(t_s * S), at_rest=at_rest)
    return called


def test_lost_frames_are_no_blindness() -> None:
    assert watch(BlindGuard(), (0, True), (0.5, False), (2.4, False), (3.0, True)) == [True] * 4


def test_after_a_stall_nothing_is_called_until_all_has_been_at_rest_for_a_while() -> None:
    guard = BlindGuard()
    assert watch(guard, (0, False), (4.5, False), (5.0, True), (5.5, False), (6.0, True), (6.4, True)) == [True] + [False] * 5
    assert guard.reason == "the camera gave no picture for 4.5 s"
    assert watch(guard, (6.6, True), (6.7, True)) == [False, True]


def test_a_second_stall_begins_anew() -> None:
    guard = BlindGuard()
    watch(guard, (0, True), (3, True), (3.9, True), (9, True))
    assert guard.reason == "the camera gave no picture for 5.1 s"
    assert watch(guard, (9.5, True), (10.1, True), (10.2, True)) == [False, False, True]
