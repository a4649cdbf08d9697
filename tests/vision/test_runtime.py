"""What both networks share: a process without their runtime goes on, and a model is small and is the one that its card tells of."""

import hashlib
import re
import subprocess
import sys

import pytest

from vision import occluders
from vision.discs import eyes


@pytest.mark.parametrize(
    "load",
    [
        "from vision.discs.eyes import eyes; assert eyes() is None",
        "from vision.occluders import Occluders; assert Occluders.load() is None",
    ],
)
def test_a_process_without_the_runtime_goes_on(load):
    code = f"import sys; sys.modules['onnxruntime'] = None; {load}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("model", "classes"), [(eyes.MODEL, (*filter(None, eyes.KINDS), *eyes.POSES)), (occluders.MODEL, ("hands", "cue"))]
)
def test_a_card_tells_what_its_model_is_worth_and_not_for(model, classes):
    card = model.with_suffix(".md").read_text(encoding="utf-8")
    for told in ("Trained on", "opset", "IR", "MB", "ms of one core", "Expected calibration error", "Curve", "Not for", "lamp", *classes):
        assert re.search(rf"\b{told}\b", card), told
    assert len(re.findall(r"^\| \d\.\d\d \|", card, flags=re.M)) >= 5


@pytest.mark.parametrize(("model", "most_bytes"), [(eyes.MODEL, 500_000), (occluders.MODEL, 500_000)])
def test_the_model_is_small_and_its_card_names_its_sum(model, most_bytes):
    assert model.stat().st_size < most_bytes
    assert hashlib.sha256(model.read_bytes()).hexdigest() in model.with_suffix(".md").read_text(encoding="utf-8")
