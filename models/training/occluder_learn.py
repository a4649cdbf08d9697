"""Training of the occluder network, and its honesty: probabilities that are met as often as they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from models.training.descent import Descent
from models.training.occluder_network import OccluderNetwork
from models.training.occluder_scene import FULL, UNSEEN, CoverSamples
from vision.occluders import ON_RAILS_TOO, features

BATCH = 8  # many small steps: what an arm is takes ten thousand of them to learn
RATE = 4e-3
AT_ONCE = 48  # pictures that are answered together after training
DECAY = 2e-2
WHOLE = 0.6  # weight of the share of overlap beside that of each cell: a cue's few cells count as much as an arm's many
BEYOND = 0.3  # weight of cells beyond the rails, which show where arms come from but are not asked for
GRAIN = 0.12  # most noise that is added, in logarithms of light
# Half-length numbers where the processor reckons with them: nearly twice as fast, and no worse.
SHORT = bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
LIGHT, TINT = 0.05, 0.06  # jitter of the whole picture's light and of its colours, likewise


def _given(samples: CoverSamples, index: np.ndarray) -> tuple[Tensor, Tensor, Tensor]:
    """Cells (N, 5, C, C), share covered (N, C, C), and weight (N, C, C) of each cell."""
    cover = samples.cover[index]
    cells = np.stack([features(one, hidden != UNSEEN) for one, hidden in zip(samples.cells[index], cover, strict=True)])
    weight = np.where(cover == UNSEEN, 0.0, np.where(ON_RAILS_TOO, 1.0, BEYOND)).astype(np.float32)
    share = np.clip(cover.astype(np.float32) / FULL, 0, 1)
    return torch.from_numpy(cells), torch.from_numpy(share), torch.from_numpy(weight)


def _turned(fields: tuple[Tensor, ...], rng: torch.Generator) -> list[Tensor]:
    """The same table from another side or in a mirror, all of a batch alike."""
    quarter, mirror = int(torch.randint(4, (1,), generator=rng)), bool(torch.rand(1, generator=rng) < 0.5)
    out = [torch.rot90(field, quarter, (-2, -1)) for field in fields]
    return [field.flip(-1) if mirror else field for field in out]


def _loss(logit: Tensor, share: Tensor, weight: Tensor) -> Tensor:
    cells = functional.binary_cross_entropy_with_logits(logit, share, reduction="none") * weight
    loss = cells.sum() / weight.sum()
    chance = torch.sigmoid(logit) * weight
    truth = share * weight
    both = (chance * truth).sum((1, 2))
    # Soft overlap (Milletari et al. 2016); a cell's worth on either side keeps empty tables from ruling it.
    overlap = (2 * both + 20) / ((chance**2).sum((1, 2)) + (truth**2).sum((1, 2)) + 20)
    return 4 * loss + WHOLE * (1 - overlap).mean()


def train_cover(samples: CoverSamples, epochs: int, seed: int, say: Callable[[str], None]) -> OccluderNetwork:
    """A network trained on all samples for so many rounds; the same seed gives the same network on the same machine."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    rng = torch.Generator().manual_seed(seed)
    network = OccluderNetwork().to(memory_format=torch.channels_last)
    batch = min(BATCH, len(samples.cells))
    rounds = len(samples.cells) // batch
    descent = Descent(network, RATE, DECAY, epochs * rounds, warm=0.15, steepest=2.0)
    for epoch in range(epochs):
        network.train()
        order, total = torch.randperm(len(samples.cells), generator=rng).numpy(), 0.0
        for number in range(rounds):
            index = np.sort(order[number * batch : (number + 1) * batch])
            cells, share, weight = _turned(_given(samples, index), rng)
            light = cells[:, :3]  # of the very tensor: what is added to it is added to that
            light += LIGHT * torch.randn(batch, 1, 1, 1, generator=rng) + TINT * torch.randn(batch, 3, 1, 1, generator=rng)
            light += GRAIN * torch.rand(batch, 1, 1, 1, generator=rng) ** 2 * torch.randn(light.shape, generator=rng)
            with torch.autocast("cpu", torch.bfloat16, enabled=SHORT):
                logit = network(cells.contiguous(memory_format=torch.channels_last))
            total += descent.step(_loss(logit.float(), share, weight))
        say(f"round {epoch + 1} of {epochs}: loss {total / rounds:.4f}")
    out = descent.mean
    assert isinstance(out, OccluderNetwork)
    return out.to(memory_format=torch.contiguous_format)


def cover_inputs(samples: CoverSamples) -> Iterator[dict[str, np.ndarray]]:
    """Pictures as the network's file is given them, one at a time, in their order."""
    for cells, cover in zip(samples.cells, samples.cover, strict=True):
        yield {"cells": features(cells, cover != UNSEEN)[None]}


def logits_of(network: OccluderNetwork, samples: CoverSamples) -> np.ndarray:
    """What a network says of samples, (N, CELLS, CELLS)."""
    network.eval()
    out = []
    with torch.no_grad():
        for start in range(0, len(samples.cells), AT_ONCE):
            cells, _, _ = _given(samples, np.arange(start, min(start + AT_ONCE, len(samples.cells))))
            out.append(network(cells).numpy())
    return np.concatenate(out)


def make_sure(network: OccluderNetwork, samples: CoverSamples) -> tuple[float, float]:
    """Scale and shift the logits (Platt 1999) on samples it has not learned from; both, as now kept in the network."""
    logit = torch.from_numpy(logits_of(network, samples))
    counts = torch.from_numpy((samples.cover != UNSEEN) & ON_RAILS_TOO)
    logit, truth = logit[counts], torch.from_numpy((samples.cover > FULL // 2).astype(np.float32))[counts]
    sureness = torch.tensor([1.0, 0.0], requires_grad=True)
    solver = torch.optim.LBFGS([sureness], max_iter=40)

    def closure() -> Tensor:
        solver.zero_grad()
        loss = functional.binary_cross_entropy_with_logits(logit * sureness[0] + sureness[1], truth)
        loss.backward()
        return loss

    solver.step(closure)
    scale, shift = (float(v) for v in sureness.detach())
    with torch.no_grad():
        before = network.sureness.clone()
        network.sureness.copy_(torch.stack([before[0] * scale, before[1] * scale + shift]))
    return scale, shift
