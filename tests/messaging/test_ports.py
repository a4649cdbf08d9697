"""Ports of test brokers: two processes that test side by side must never meet on one."""

from __future__ import annotations

import random

from tests.parts.brokers import free_port, own_ports


def test_processes_that_test_side_by_side_share_no_ports() -> None:
    shares = [set(own_ports(f"gw{number}")) for number in range(8)]
    assert len(set().union(*shares)) == sum(len(share) for share in shares)


def test_a_port_that_was_given_is_not_given_again_though_nothing_listens_there() -> None:
    given = []
    for _ in range(40):
        random.seed(1)
        given.append(free_port())
    assert len(set(given)) == len(given)
