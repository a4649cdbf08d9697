"""From light to code values, as a small camera does it: lens blur, colour mosaic, noise, white balance, curve, JPEG or video coding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
Field = NDArray[np.floating[Any]]

# OpenCV names a pattern by its second row's second and third pixel; beside it the colour (BGR index) of the first two rows.
_PATTERNS = (
    (cv2.COLOR_BayerRG2BGR, cv2.COLOR_BayerRG2BGR_EA, ((0, 1), (1, 2))),
    (cv2.COLOR_BayerBG2BGR, cv2.COLOR_BayerBG2BGR_EA, ((2, 1), (1, 0))),
    (cv2.COLOR_BayerGR2BGR, cv2.COLOR_BayerGR2BGR_EA, ((1, 0), (2, 1))),
    (cv2.COLOR_BayerGB2BGR, cv2.COLOR_BayerGB2BGR_EA, ((1, 2), (0, 1))),
)


@dataclass(frozen=True, slots=True)
class Sensor:
    """One way to take a picture of a traced patch."""

    exposure: float
    blur_px: float
    full_well: float
    read_noise: float
    balance: tuple[float, float, float]
    gamma: float
    mosaic: bool
    quality: int
    sharpen: float
    contrast: float
    saturation: float
    smooth_px: float

    @staticmethod
    def random(rng: np.random.Generator, wood_light: Field) -> Sensor:
        """Exposure such that wood comes out between dusky and nearly white."""
        target = rng.uniform(0.12, 0.75)
        dim = rng.random() < 0.25
        return Sensor(
            exposure=float(target / wood_light.max() * rng.lognormal(0, 0.1)),
            blur_px=float(rng.uniform(0.3, 1.0)),
            full_well=float(rng.uniform(500, 2500) if dim else rng.uniform(2500, 15000)),
            read_noise=float(rng.uniform(2, 8)),
            balance=(float(rng.lognormal(0, 0.07)), float(rng.lognormal(0, 0.02)), float(rng.lognormal(0, 0.07))),
            gamma=float(rng.choice([0.0, 1 / 2.2])),
            mosaic=bool(rng.random() < 0.85),
            quality=int(rng.choice([0, 0, 95, 90, 85, 75])),
            sharpen=float(rng.choice([0.0, 0.0, 0.25, 0.4, 0.6])),
            contrast=float(rng.uniform(0.0, 0.3)),
            saturation=float(rng.uniform(0.8, 1.2)),
            smooth_px=float(rng.choice([0.0, rng.uniform(0.4, 1.4), rng.uniform(0.4, 1.4)])),
        )

    def take(self, rng: np.random.Generator, light: Field) -> Image:
        """Code values (rows, columns, 3) of a patch's light."""
        light = cv2.GaussianBlur(light * self.exposure, (0, 0), self.blur_px, borderType=cv2.BORDER_REPLICATE)
        gains = np.array(self.balance)
        electrons = np.clip(light / gains.max(), 0, 1) * self.full_well
        electrons = rng.poisson(electrons) + rng.normal(0, self.read_noise, light.shape)
        raw = np.clip(electrons / self.full_well, 0, 1)
        if self.mosaic:
            raw = self._mosaic(rng, raw)
        linear = np.clip(raw * gains * gains.max(), 0, 1)
        code = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055) if self.gamma == 0 else linear**self.gamma
        code = self._coloured(code + self.contrast * (code * code * (3 - 2 * code) - code))
        if self.sharpen:
            code = code + self.sharpen * (code - cv2.GaussianBlur(code, (0, 0), 1.0))
        image = np.clip(code * 255 + 0.5, 0, 255).astype(np.uint8)
        if not self.quality:
            return image
        top, left = (int(v) for v in rng.integers(0, 16, 2))  # where the coder's blocks begin
        framed = cv2.copyMakeBorder(image, top, 16, left, 16, cv2.BORDER_REFLECT)
        _, coded = cv2.imencode(".jpg", framed, [cv2.IMWRITE_JPEG_QUALITY, self.quality])
        back = np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR), dtype=np.uint8)
        return back[top : top + image.shape[0], left : left + image.shape[1]]

    def _coloured(self, code: Field) -> Field:
        """Colours stronger or weaker, and their noise smoothed away while the light keeps its edges, as cameras do."""
        grey = cv2.cvtColor(code.astype(np.float32), cv2.COLOR_BGR2GRAY)[:, :, None].astype(np.float64)
        colour = (code - grey) * self.saturation
        if self.smooth_px:
            colour = cv2.GaussianBlur(colour, (0, 0), self.smooth_px, borderType=cv2.BORDER_REPLICATE)
        return np.asarray(grey + colour)

    @staticmethod
    def _mosaic(rng: np.random.Generator, raw: Field) -> Field:
        plain, edge_aware, order = _PATTERNS[int(rng.integers(4))]
        single = np.empty(raw.shape[:2])
        for row in range(2):
            for column in range(2):
                single[row::2, column::2] = raw[row::2, column::2, order[row][column]]
        fine = np.clip(single * 65535, 0, 65535).astype(np.uint16)
        method = edge_aware if rng.random() < 0.5 else plain
        return cv2.cvtColor(fine, method).astype(np.float64) / 65535
