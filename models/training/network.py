"""The disc network: three strided convolutions over a patch, one hidden layer, four answers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models.training.dataset import KINDS, POSES
from vision.discs.patches import SIDE

WIDE = (12, 24, 48)
HIDDEN = 64
FORGOTTEN = 0.05  # share of the features left out in training: most of the weights are in the layer behind them
LEAST_LOG_SIGMA, MOST_LOG_SIGMA = -4.0, 3.0  # of the shift, in samples


class DiscNetwork(nn.Module):
    """`patch` (N, 3, SIDE, SIDE) and `seen` (N, 2) to kind (N, 4) and pose (N, 3) as logits, shift (N, 2) and log sigma (N, 2)."""

    def __init__(self) -> None:
        super().__init__()
        first, second, third = WIDE
        self.look = nn.Sequential(
            nn.Conv2d(3, first, 5, 2, 2, bias=False),
            nn.BatchNorm2d(first),
            nn.ReLU(),
            nn.Conv2d(first, second, 3, 2, 1, bias=False),
            nn.BatchNorm2d(second),
            nn.ReLU(),
            nn.Conv2d(second, third, 3, 2, 1, bias=False),
            nn.BatchNorm2d(third),
            nn.ReLU(),
        )
        self.think = nn.Sequential(
            nn.Dropout(FORGOTTEN), nn.Linear(third * (SIDE // 8) ** 2 + 2, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU()
        )
        self.answer = nn.Linear(HIDDEN, len(KINDS) + len(POSES) + 4)

    def forward(self, patch: Tensor, seen: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Answers to a batch, in the order of the class's text."""
        features = self.look(patch).flatten(1)
        out = self.answer(self.think(torch.cat([features, seen], dim=1)))
        kind, pose, shift, log_sigma = torch.split(out, [len(KINDS), len(POSES), 2, 2], dim=1)
        return kind, pose, shift, log_sigma.clamp(LEAST_LOG_SIGMA, MOST_LOG_SIGMA)
