"""Training of the disc network: seeded, one process, with mirror images, shifted guesses, other light and things in the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from models.training.dataset import FARTHEST, Samples
from models.training.descent import Descent
from models.training.network import DiscNetwork
from vision.discs.patches import PER_RADIUS, SIDE, ring_positions

BATCH = 128
RATE = 3e-3  # highest
DECAY = 3e-2
STUDENT_NU = 4.0  # of the shift's errors: some patches are hopeless, and must not pull
LIGHT, TINT = 0.06, 0.03  # jitter of a patch's light and of its colours, in the patch's own units
LEANING = 0.06  # light that changes across a patch, at its border
CONTRAST = 0.06  # of the whole patch's contrast, relative
GRAIN = 0.05  # most noise that is added, in the patch's own units; half of it common to neighbours
NOISES = 200  # patches of noise that are drawn from
HIDDEN_SHARE = 0.08  # of the patches have something over a part of them
ELLIPSE_95 = 2.448
AT_ONCE = 512  # samples that are answered together after training


@dataclass(frozen=True, slots=True)
class Answers:
    """What a network says of samples, as numpy arrays in their order."""

    kind: np.ndarray
    pose: np.ndarray
    shift: np.ndarray
    log_sigma: np.ndarray


def _tensors(samples: Samples) -> list[Tensor]:
    return [torch.from_numpy(a) for a in (samples.patches, samples.seen, samples.kind, samples.pose, samples.shift)]


def _varied(patch: Tensor, shift: Tensor, noise: Tensor, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """The same truth seen otherwise: mirrored at the line of sight, asked for a sample aside, in other light, partly hidden, noisier.

    `noise` (N, 3, SIDE, SIDE) is what noise is drawn from.
    """
    count = len(patch)
    mirror = torch.rand(count, generator=rng) < 0.5
    patch[mirror] = patch[mirror].flip(2)
    shift[mirror, 1] *= -1
    aside = torch.randint(-1, 2, (2,), generator=rng)
    right, down = int(aside[0]), int(aside[1])
    wide = functional.pad(patch, (1, 1, 1, 1), mode="replicate")
    patch = wide[:, :, 1 + down : 1 + down + patch.shape[2], 1 + right : 1 + right + patch.shape[3]]
    shift = shift - aside.to(shift.dtype)
    across = torch.linspace(-1, 1, patch.shape[2])
    lean = LEANING * torch.randn(count, 1, 1, 2, generator=rng)
    light = lean[..., :1] * across[None, None, :, None] + lean[..., 1:] * across[None, None, None, :]
    light = light + LIGHT * torch.randn(count, 1, 1, 1, generator=rng) + TINT * torch.randn(count, 3, 1, 1, generator=rng)
    patch = torch.addcmul(light, patch, 1 + CONTRAST * torch.randn(count, 1, 1, 1, generator=rng))
    which = torch.randint(len(noise), (count,), generator=rng)
    patch.addcmul_(noise[which], GRAIN * torch.rand(count, 1, 1, 1, generator=rng) ** 2)
    for k in torch.nonzero(torch.rand(count, generator=rng) < HIDDEN_SHARE).flatten().tolist():
        patch[k] = _covered(patch[k], rng)
    return patch, shift


def _noise(rng: torch.Generator) -> Tensor:
    """Some patches of noise, half of it common to neighbours as colour mosaics make it."""
    single = torch.randn(NOISES, 3, SIDE, SIDE, generator=rng)
    return 0.5 * single + 1.5 * functional.avg_pool2d(single, 3, 1, 1)


def _covered(patch: Tensor, rng: torch.Generator) -> Tensor:
    """A patch with a hand's or a cue's edge over it, never over its middle."""
    side = patch.shape[1]
    ticks = torch.arange(side) - (side - 1) / 2
    angle = float(torch.rand(1, generator=rng)) * 2 * np.pi
    along = ticks[None, :] * np.cos(angle) + ticks[:, None] * np.sin(angle)
    begins = PER_RADIUS * (0.35 + 1.2 * float(torch.rand(1, generator=rng)))
    ends = begins + (200.0 if torch.rand(1, generator=rng) < 0.6 else PER_RADIUS * (0.4 + 0.5 * float(torch.rand(1, generator=rng))))
    share = torch.sigmoid((along - begins) / 0.7) * torch.sigmoid((ends - along) / 0.7)
    colour = torch.rand(1, 1, 1, generator=rng) * 1.9 - 1.6 + 0.25 * torch.randn(3, 1, 1, generator=rng)
    return patch * (1 - share) + share * (colour + 0.04 * torch.randn(3, side, side, generator=rng))


_WHERE = torch.from_numpy(ring_positions() / (SIDE / 2)).float()


def unroll(patch: Tensor, mode: str = "bilinear") -> Tensor:
    """Patches (N, 3, SIDE, SIDE) as the network sees them, (N, 3, RINGS, RAYS)."""
    return functional.grid_sample(patch, _WHERE.expand(len(patch), -1, -1, -1), mode, align_corners=False)


def _loss(answers: tuple[Tensor, Tensor, Tensor, Tensor], kind: Tensor, pose: Tensor, shift: Tensor) -> Tensor:
    said_kind, said_pose, said_shift, log_sigma = answers
    loss = functional.cross_entropy(said_kind, kind)
    lying = pose >= 0
    loss = loss + functional.cross_entropy(said_pose[lying], pose[lying])
    asked = ~torch.isnan(shift[:, 0]) & (shift.abs().amax(1) < FARTHEST)
    ratio2 = ((shift[asked] - said_shift[asked]) / torch.exp(log_sigma[asked])) ** 2
    told = log_sigma[asked] + (STUDENT_NU + 1) / 2 * torch.log1p(ratio2 / STUDENT_NU)
    return loss + told.sum(1).mean()


def train(samples: Samples, epochs: int, seed: int, say: Callable[[str], None]) -> DiscNetwork:
    """A network trained on all samples for so many rounds; the same seed gives the same network on the same machine."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the layers are small: a second thread spends its time waiting
    rng = torch.Generator().manual_seed(seed)
    patches, seen, kinds, poses, shifts = _tensors(samples)
    network = DiscNetwork()
    noise = _noise(rng)
    rounds = max(1, len(patches) // BATCH)
    descent = Descent(network, RATE, DECAY, epochs * rounds, warm=0.1, steepest=5.0)
    for epoch in range(epochs):
        network.train()
        order, total = torch.randperm(len(patches), generator=rng), 0.0
        for number in range(rounds):
            index = order[number * BATCH : (number + 1) * BATCH]
            patch, shift = _varied(patches[index].float(), shifts[index].clone(), noise, rng)
            sharp = bool(torch.rand(1, generator=rng) < 0.5)  # what is sampled from pictures at once is not blurred twice
            loss = _loss(network(unroll(patch, "bicubic" if sharp else "bilinear"), seen[index]), kinds[index], poses[index], shift)
            total += descent.step(loss)
        say(f"round {epoch + 1} of {epochs}: loss {total / rounds:.3f}")
    out = descent.mean
    assert isinstance(out, DiscNetwork)
    return out


def answers_of(network: DiscNetwork, samples: Samples) -> Answers:
    """What a network says of samples."""
    network.eval()
    with torch.no_grad():
        parts = [
            [out.numpy() for out in network(torch.from_numpy(given["rings"]), torch.from_numpy(given["seen"]))]
            for given in disc_inputs(samples, AT_ONCE)
        ]
    return Answers(*(np.concatenate([part[k] for part in parts]) for k in range(4)))


def disc_inputs(samples: Samples, batch: int) -> Iterator[dict[str, np.ndarray]]:
    """Samples as the network's file is given them, in their order."""
    for start in range(0, len(samples.patches), batch):
        rings = unroll(torch.from_numpy(samples.patches[start : start + batch].astype(np.float32)))
        yield {"rings": rings.numpy(), "seen": samples.seen[start : start + batch]}


def sigmas_off(samples: Samples, said: Answers) -> np.ndarray:
    """How many of its own sigmas each answer's shift is off, (N,)."""
    return np.asarray(np.linalg.norm((samples.shift - said.shift) / np.exp(said.log_sigma), axis=1))


def make_honest(network: DiscNetwork, samples: Samples) -> float:
    """Scale the network's sigma on samples it has not learned from, so that 95 % of its errors lie in the ellipse; the factor."""
    said = answers_of(network, samples)
    factor = float(np.percentile(sigmas_off(samples, said)[samples.asked], 95) / ELLIPSE_95)
    with torch.no_grad():
        network.answer.bias[-2:] += float(np.log(factor))
    return factor
