"""python -m models.training: from nothing to a model and its card.

python -m models.training                          about two hours on two cores, 12 GB of memory
python -m models.training --scenes 400 --rounds 2  a trial run
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from models.training.card import card
from models.training.export import export
from models.training.learn import answers_of, make_honest, train
from models.training.store import PART, make, read

SCENES = 36_000
ROUNDS = 24
HELD_OUT_PARTS = 3
SEED = 17


def main() -> None:
    """Command line of the training."""
    parser = argparse.ArgumentParser(prog="models.training", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=SCENES, help="scenes to learn from")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="times that each sample is seen")
    parser.add_argument("--folder", type=Path, default=Path("build/training"), help="where scenes are kept, some GB")
    parser.add_argument("--out", type=Path, default=Path("models/discs.onnx"), help="model to write; the card goes beside it")
    args = parser.parse_args()
    say = Console(stderr=True).print
    learned = max(1, args.scenes // PART)
    parts, held_out = range(HELD_OUT_PARTS, HELD_OUT_PARTS + learned), range(HELD_OUT_PARTS)
    make(args.folder, range(HELD_OUT_PARTS + learned), say)
    samples = read(args.folder, parts)
    network = train(samples, args.rounds, SEED, say)
    unseen = read(args.folder, held_out)
    factor = make_honest(network, unseen)
    said = answers_of(network, unseen)
    sha256 = export(network, args.out)
    trained_on = f"{len(samples.kind)} patches of {learned * PART} traced scenes (`models/training/scene.py`), {args.rounds} rounds"
    text = card(args.out, sha256, unseen, said, trained_on)
    args.out.with_suffix(".md").write_text(text, encoding="utf-8")
    say(f"{args.out} written, sigma scaled by {factor:.2f}; its card: {args.out.with_suffix('.md')}")


if __name__ == "__main__":
    main()
