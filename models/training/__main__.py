"""python -m models.training: from nothing to models and their cards.

python -m models.training                                    both, about two hours on two cores, 12 GB of memory
python -m models.training occluders                          only that one
python -m models.training discs --scenes 400 --rounds 2      a trial run
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from models.training.card import card
from models.training.dataset import Samples, samples_of
from models.training.export import export, export_cover
from models.training.learn import answers_of, make_honest, train
from models.training.occluder_card import cover_card
from models.training.occluder_learn import logits_of, make_sure, train_cover
from models.training.occluder_scene import PICTURES, CoverSamples, covers_of
from models.training.store import make, read

SCENES = {"discs": 36_000, "occluders": 1_100}
ROUNDS = {"discs": 24, "occluders": 15}
PART = {"discs": 400, "occluders": 100}  # scenes a file: about half a minute's work
HELD_OUT_PARTS = 3
SEED = 17


def _discs(folder: Path, out: Path, scenes: int, rounds: int, say: Callable[[str], None]) -> None:
    learned = max(1, scenes // PART["discs"])
    make(folder, range(HELD_OUT_PARTS + learned), PART["discs"], samples_of, say)
    samples = read(folder, range(HELD_OUT_PARTS, HELD_OUT_PARTS + learned), Samples)
    network = train(samples, rounds, SEED, say)
    unseen = read(folder, range(HELD_OUT_PARTS), Samples)
    factor = make_honest(network, unseen)
    said = answers_of(network, unseen)
    sha256 = export(network, out)
    trained_on = f"{len(samples.kind)} patches of {learned * PART['discs']} traced scenes (`models/training/scene.py`), {rounds} rounds"
    out.with_suffix(".md").write_text(card(out, sha256, unseen, said, trained_on), encoding="utf-8")
    say(f"{out} written, sigma scaled by {factor:.2f}; its card: {out.with_suffix('.md')}")


def _occluders(folder: Path, out: Path, scenes: int, rounds: int, say: Callable[[str], None]) -> None:
    learned = max(1, scenes // PART["occluders"])
    make(folder, range(HELD_OUT_PARTS + learned), PART["occluders"], covers_of, say)
    samples = read(folder, range(HELD_OUT_PARTS, HELD_OUT_PARTS + learned), CoverSamples)
    network = train_cover(samples, rounds, SEED, say)
    # Probabilities are made honest on one part and judged on the others.
    scale, shift = make_sure(network, read(folder, range(1), CoverSamples))
    unseen = read(folder, range(1, HELD_OUT_PARTS), CoverSamples)
    sha256 = export_cover(network, out)
    tables = learned * PART["occluders"]
    trained_on = (
        f"{tables * PICTURES} pictures of {tables} traced tables (`models/training/scene.py`) with rendered hands, arms, cues, people and "
        f"things over them (`bodies.py`, `flats.py`, `casting.py`, `occluder_scene.py`), {rounds} rounds"
    )
    out.with_suffix(".md").write_text(cover_card(out, sha256, unseen, logits_of(network, unseen), trained_on), encoding="utf-8")
    say(f"{out} written, logits scaled by {scale:.2f} and shifted by {shift:.2f}; its card: {out.with_suffix('.md')}")


MAKERS = {"discs": _discs, "occluders": _occluders}


def main() -> None:
    """Command line of the training."""
    parser = argparse.ArgumentParser(prog="models.training", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", nargs="*", help=f"models to make: {', '.join(MAKERS)}; all of them when none is named")
    parser.add_argument("--scenes", type=int, help="scenes to learn from")
    parser.add_argument("--rounds", type=int, help="times that each sample is seen")
    parser.add_argument("--folder", type=Path, default=Path("build/training"), help="where scenes are kept, some GB")
    parser.add_argument("--out", type=Path, default=Path("models"), help="folder for the models; their cards go beside them")
    args = parser.parse_args()
    if unknown := set(args.which) - set(MAKERS):
        parser.error(f"no model is called {', '.join(sorted(unknown))}")
    for name in args.which or MAKERS:
        MAKERS[name](
            args.folder / name,
            args.out / f"{name}.onnx",
            SCENES[name] if args.scenes is None else args.scenes,
            ROUNDS[name] if args.rounds is None else args.rounds,
            Console(stderr=True).print,
        )


if __name__ == "__main__":
    main()
