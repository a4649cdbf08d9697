"""The disc network: a patch unrolled into rings around the asked place, where each ray says how far out the disc's edges lie.

A disc that is aside by (x, y) has its edges further out by x cos a + y sin a along the ray at angle a. So every ray gives its offset
and the weight that it deserves (none where a hand covers it), and the shift is the weighted least squares of all rays; what light and
shadow add to that in common is learned on top. Weights are shared between rays, which is what lets so small a network learn this well.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from models.training.dataset import KINDS, POSES
from vision.discs.patches import RAYS, RINGS

WIDE = (12, 20, 28)
PER_RAY = 48  # features of a ray
HIDDEN = 64
RAYS_LEFT = RAYS // 2
RINGS_LEFT = math.ceil(RINGS / 8)
FORGOTTEN = 0.05  # share of the features left out in training
LEAST_WEIGHT = 0.02  # of a shift of nothing, so that a patch without any edge has an answer
LEAST_LOG_SIGMA, MOST_LOG_SIGMA = -4.0, 3.0  # of the shift, in samples


def _round(features: Tensor, beyond: int) -> Tensor:
    """Rays go round: the first follows the last."""
    return torch.cat([features[..., -beyond:], features, features[..., :beyond]], dim=-1)


class _OverRings(nn.Module):
    """Convolution over rings and rays, normalised."""

    def __init__(self, given: int, wide: int, rings: int, stride: tuple[int, int]) -> None:
        super().__init__()
        self.convolve = nn.Conv2d(given, wide, (rings, 3), stride, (rings // 2, 0), bias=False)
        self.normalise = nn.BatchNorm2d(wide)

    def forward(self, features: Tensor) -> Tensor:
        return torch.relu(self.normalise(self.convolve(_round(features, 1))))


class _OverRays(nn.Module):
    """What a ray learns from its neighbours, added to what it has."""

    def __init__(self, wide: int) -> None:
        super().__init__()
        self.convolve = nn.Conv1d(wide, wide, 3, bias=False)
        self.normalise = nn.BatchNorm1d(wide)

    def forward(self, features: Tensor) -> Tensor:
        return features + torch.relu(self.normalise(self.convolve(_round(features, 1))))


class DiscNetwork(nn.Module):
    """`rings` (N, 3, RINGS, RAYS) and `seen` (N, 2) to kind (N, 4) and pose (N, 3) as logits, shift (N, 2) and log sigma (N, 2)."""

    def __init__(self) -> None:
        super().__init__()
        first, second, third = WIDE
        self.look = nn.Sequential(
            _OverRings(3, first, 5, (2, 1)), _OverRings(first, second, 3, (2, 2)), _OverRings(second, third, 3, (2, 1))
        )
        angle = torch.arange(RAYS_LEFT) * (2 * math.pi / RAYS_LEFT)
        self.register_buffer("cosine", torch.cos(angle), persistent=False)
        self.register_buffer("sine", torch.sin(angle), persistent=False)
        self.gather = nn.Sequential(nn.Conv1d(third * RINGS_LEFT, PER_RAY, 1, bias=False), nn.BatchNorm1d(PER_RAY), nn.ReLU())
        self.overlook = nn.Sequential(nn.Dropout(FORGOTTEN), nn.Linear(3 * PER_RAY + 2, HIDDEN), nn.ReLU())
        self.tell = nn.Linear(HIDDEN, PER_RAY)
        self.mix = _OverRays(PER_RAY)
        self.ray = nn.Conv1d(PER_RAY, 2, 1)
        self.think = nn.Sequential(nn.Dropout(FORGOTTEN), nn.Linear(3 * PER_RAY + HIDDEN + 4, HIDDEN), nn.ReLU())
        self.answer = nn.Linear(HIDDEN, len(KINDS) + len(POSES) + 4)

    def _whole(self, rays: Tensor) -> Tensor:
        """A summary that turns with the patch: mean and first wave of each feature around the rays."""
        return torch.cat([rays.mean(2), (rays * self.cosine).mean(2), (rays * self.sine).mean(2)], dim=1)

    def forward(self, rings: Tensor, seen: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Answers to a batch, in the order of the class's text."""
        rays = self.gather(self.look(rings).flatten(1, 2))
        whole = self.overlook(torch.cat([self._whole(rays), seen], dim=1))
        rays = self.mix(rays + self.tell(whole)[:, :, None])
        wave, xx, yy = self._fitted(self.ray(rays))
        out = self.answer(self.think(torch.cat([self._whole(rays), whole, wave, xx[:, None], yy[:, None]], dim=1)))
        kind, pose, shift, log_sigma = torch.split(out, [len(KINDS), len(POSES), 2, 2], dim=1)
        return kind, pose, wave + shift, log_sigma.clamp(LEAST_LOG_SIGMA, MOST_LOG_SIGMA)

    def _fitted(self, said: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Shift (N, 2) that fits the rays' offsets best, and how much the rays say along either direction (N,)."""
        offset, weight = said[:, 0], torch.sigmoid(said[:, 1])
        along, across = weight * self.cosine, weight * self.sine
        xx, yy = (along * self.cosine).mean(1) + LEAST_WEIGHT, (across * self.sine).mean(1) + LEAST_WEIGHT
        xy = (along * self.sine).mean(1)
        x, y = (along * offset).mean(1), (across * offset).mean(1)
        shift = torch.stack([yy * x - xy * y, xx * y - xy * x], dim=1) / (xx * yy - xy * xy)[:, None]
        return shift, xx, yy
