"""python -m models.training: from nothing to models and their cards.

python -m models.training                                    both, about two hours on two cores, 12 GB of memory
python -m models.training occluders                          only that one
python -m models.training discs --scenes 400 --rounds 2      a trial run
python -m models.training --cards                            measures the models that are there and writes their cards anew, minutes
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from models.training.card import card
from models.training.dataset import Samples, samples_of
from models.training.export import export, export_cover
from models.training.learn import disc_inputs, make_honest, train
from models.training.occluder_card import cover_card
from models.training.occluder_learn import make_sure, train_cover
from models.training.occluder_scene import PICTURES, CoverSamples, covers_of
from models.training.quantise import quantise
from models.training.store import make, read, some
from vision.discs.eyes import BATCH

SCENES = {"discs": 36_000, "occluders": 1_100}
ROUNDS = {"discs": 24, "occluders": 15}
PART = {"discs": 400, "occluders": 100}  # scenes a file: about half a minute's work
HELD_OUT_PARTS = 3
RANGED = 512  # patches, of those that it has learned from, that give 8-bit numbers their ranges
SEED = 17

Say = Callable[[str], None]


def _discs(folder: Path, out: Path, scenes: int, rounds: int, say: Say) -> None:
    learned = max(1, scenes // PART["discs"])
    make(folder, range(HELD_OUT_PARTS + learned), PART["discs"], samples_of, say)
    samples = read(folder, range(HELD_OUT_PARTS, HELD_OUT_PARTS + learned), Samples)
    network = train(samples, rounds, SEED, say)
    factor = make_honest(network, read(folder, range(HELD_OUT_PARTS), Samples))
    trained_on = f"{len(samples.kind)} patches of {learned * PART['discs']} traced scenes (`models/training/scene.py`), {rounds} rounds"
    export(network, out, trained_on)
    quantise(out, disc_inputs(some(samples, RANGED), BATCH))
    say(f"{out} written, sigma scaled by {factor:.2f}")


def _occluders(folder: Path, out: Path, scenes: int, rounds: int, say: Say) -> None:
    learned = max(1, scenes // PART["occluders"])
    make(folder, range(HELD_OUT_PARTS + learned), PART["occluders"], covers_of, say)
    samples = read(folder, range(HELD_OUT_PARTS, HELD_OUT_PARTS + learned), CoverSamples)
    network = train_cover(samples, rounds, SEED, say)
    # Probabilities are made honest on one part and judged on the others.
    scale, shift = make_sure(network, read(folder, range(1), CoverSamples))
    tables = learned * PART["occluders"]
    trained_on = (
        f"{tables * PICTURES} pictures of {tables} traced tables (`models/training/scene.py`) with rendered hands, arms, cues, people and "
        f"things over them (`bodies.py`, `flats.py`, `casting.py`, `occluder_scene.py`), {rounds} rounds"
    )
    export_cover(network, out, trained_on)
    say(f"{out} written, logits scaled by {scale:.2f} and shifted by {shift:.2f}")


def _disc_card(folder: Path, path: Path, say: Say) -> str:
    make(folder, range(HELD_OUT_PARTS), PART["discs"], samples_of, say)
    return card(path, read(folder, range(HELD_OUT_PARTS), Samples))


def _occluder_card(folder: Path, path: Path, say: Say) -> str:
    make(folder, range(1, HELD_OUT_PARTS), PART["occluders"], covers_of, say)
    return cover_card(path, read(folder, range(1, HELD_OUT_PARTS), CoverSamples))


MAKERS = {"discs": _discs, "occluders": _occluders}
CARDS = {"discs": _disc_card, "occluders": _occluder_card}


def main() -> None:
    """Command line of the training."""
    parser = argparse.ArgumentParser(prog="models.training", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", nargs="*", help=f"models to make: {', '.join(MAKERS)}; all of them when none is named")
    parser.add_argument("--scenes", type=int, help="scenes to learn from")
    parser.add_argument("--rounds", type=int, help="times that each sample is seen")
    parser.add_argument("--cards", action="store_true", help="make the cards only, of the models that are there")
    parser.add_argument("--folder", type=Path, default=Path("build/training"), help="where scenes are kept, some GB")
    parser.add_argument("--out", type=Path, default=Path("models"), help="folder for the models; their cards go beside them")
    args = parser.parse_args()
    if unknown := set(args.which) - set(MAKERS):
        parser.error(f"no model is called {', '.join(sorted(unknown))}")
    say = Console(stderr=True).print
    for name in args.which or MAKERS:
        folder, model = args.folder / name, args.out / f"{name}.onnx"
        if not args.cards:
            scenes = SCENES[name] if args.scenes is None else args.scenes
            MAKERS[name](folder, model, scenes, ROUNDS[name] if args.rounds is None else args.rounds, say)
        model.with_suffix(".md").write_text(CARDS[name](folder, model, say), encoding="utf-8")
        say(f"{model.with_suffix('.md')} written")


if __name__ == "__main__":
    main()
