"""The written cases of the workplace, where it is present: every ruling as the rule book's readers expect it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[3] / "shared" / "bench"


@pytest.mark.skipif(not (BENCH / "rule_cases.jsonl").exists(), reason="the written cases are not on this machine (../shared/bench)")
def test_written_cases():
    command = f"{sys.executable} -c 'from device.cli import main; main()' rule -"
    done = subprocess.run(
        [sys.executable, BENCH / "check_rules.py", BENCH / "rule_cases.jsonl", "--command", command, "--batch"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    cases = len([line for line in (BENCH / "rule_cases.jsonl").read_text().splitlines() if json.loads(line)])
    assert done.stdout.splitlines()[-1] == f"{cases} passed, 0 failed", done.stdout + done.stderr
