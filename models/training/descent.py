"""One way down for every network: AdamW with one cycle of the rate (Smith and Topin 2018), short steps, and the mean of the weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

KEPT = 0.998  # of the mean of the weights at each step: what the last few hundred agree on suits other lamps and cameras better


class Descent:
    """Steps of one training. `warm`: share of them in which the rate rises; `steepest`: longest gradient that is followed as it is."""

    def __init__(self, network: nn.Module, rate: float, decay: float, steps: int, warm: float, steepest: float) -> None:
        self._network = network
        self._steepest = steepest
        self._optimiser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=decay)
        self._schedule = torch.optim.lr_scheduler.OneCycleLR(self._optimiser, rate, total_steps=steps, pct_start=warm)
        self._mean = AveragedModel(network, avg_fn=_averaged, use_buffers=True)

    def step(self, loss: Tensor) -> float:
        """One step down this loss; its value."""
        self._optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), self._steepest)
        self._optimiser.step()
        self._schedule.step()
        self._mean.update_parameters(self._network)
        return float(loss.detach())

    @property
    def mean(self) -> nn.Module:
        """The network with the mean of the weights so far."""
        return self._mean.module


def _averaged(mean: Tensor, now: Tensor, steps: Tensor | int) -> Tensor:
    """Exponential moving average, shorter while there are few steps to average (Polyak and Juditsky 1992)."""
    kept = min(KEPT, (1 + float(steps)) / (10 + float(steps)))
    return mean * kept + now * (1 - kept)
