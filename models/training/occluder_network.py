"""The occluder network: a small hourglass with shortcuts over the rectified table, at a half, a quarter and so on of its cells."""

from __future__ import annotations

import torch
from torch import Tensor, nn

CHANNELS = 5  # of a cell: its light, and its place
WIDE = (18, 28, 40, 54)  # features at a half, a quarter, an eighth and a sixteenth
SHARPEST = 2  # cells each way that one place of the finest features tells of


def _conv(given: int, wide: int, side: int = 3, stride: int = 1, dilation: int = 1) -> nn.Sequential:
    padding = dilation * (side // 2)
    return nn.Sequential(nn.Conv2d(given, wide, side, stride, padding, dilation, bias=False), nn.BatchNorm2d(wide), nn.ReLU(inplace=True))


class _More(nn.Module):
    """What a place learns from around it, added to what it has; deep and wide parts apart, which takes a fraction of the time."""

    def __init__(self, wide: int, dilation: int = 1) -> None:
        super().__init__()
        self.around = nn.Sequential(
            nn.Conv2d(wide, wide, 3, 1, dilation, dilation, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.ReLU(inplace=True)
        )
        self.mix = nn.Sequential(nn.Conv2d(wide, wide, 1, bias=False), nn.BatchNorm2d(wide))

    def forward(self, features: Tensor) -> Tensor:
        return torch.relu(features + self.mix(self.around(features)))


class OccluderNetwork(nn.Module):
    """`cells` (N, 5, CELLS, CELLS) to logits (N, CELLS, CELLS) of being covered; `sureness` makes them honest after training."""

    def __init__(self) -> None:
        super().__init__()
        a, b, c, d = WIDE
        self.first = _conv(CHANNELS, a, 5, 2)
        self.second = nn.Sequential(_conv(a, b, 3, 2), _More(b))
        self.third = nn.Sequential(_conv(b, c, 3, 2), _More(c), _More(c, 2))
        self.deep = nn.Sequential(_conv(c, d, 3, 2), _More(d), _More(d, 2), _More(d, 4), _conv(d, d), _More(d, 2))
        self.up_third, self.on_third = nn.Conv2d(d, c, 1), nn.Sequential(_conv(c, c), _More(c))
        self.up_second, self.on_second = nn.Conv2d(c, b, 1), nn.Sequential(_conv(b, b), _More(b))
        self.up_first, self.on_first = nn.Conv2d(b, a, 1), nn.Sequential(_conv(a, a), _More(a))
        self.tell = nn.Conv2d(a, SHARPEST**2, 1)
        self.register_buffer("sureness", torch.tensor([1.0, 0.0]))

    def forward(self, cells: Tensor) -> Tensor:
        """Answers to a batch."""
        first = self.first(cells)
        second = self.second(first)
        third = self.third(second)
        third = self.on_third(third + _twice(self.up_third(self.deep(third))))
        second = self.on_second(second + _twice(self.up_second(third)))
        first = self.on_first(first + _twice(self.up_first(second)))
        logit = nn.functional.pixel_shuffle(self.tell(first), SHARPEST)[:, 0]
        return logit * self.sureness[0] + self.sureness[1]


def _twice(features: Tensor) -> Tensor:
    return nn.functional.interpolate(features, scale_factor=2.0, mode="nearest")
