"""Small tools of the renderer: soft edges, colour coding, textures, and the geometry of rays at a height."""

from __future__ import annotations

from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from virtual_table.look import Colour, Lamp, Look

Field = NDArray[np.floating[Any]]
Image = NDArray[np.uint8]

_LEVELS: Final = 8192  # of the coding table; finer than the noise everywhere
_FINE: Final = 4  # steps per grey level while noise is made, so that a sigma under one level comes out right
_SMOOTHED: Final = 1.32  # interpolating the Bayer pattern averages this much of the noise away
GAMMA: Final = 1 / 2.2
_CODE: Final[Image] = np.clip(255 * (np.arange(_LEVELS) / (_LEVELS - 1)) ** GAMMA + 0.5, 0, 255).astype(np.uint8)
# Where the light comes from: direction on the table (x, y) and tangent of its angle off the vertical; penumbra as a share of length.
LAMPS: Final[dict[Lamp, tuple[float, float, float, float]]] = {
    "panels": (0.3, -1.0, 0.25, 1.2),
    "tubes": (1.0, 0.3, 0.45, 0.7),
    "warm_side": (0.35, -1.0, 1.25, 0.15),
    "window": (-1.0, 0.25, 1.5, 0.5),
    "dim": (-0.5, -0.8, 0.6, 0.5),
}


def encode(linear: Field) -> Image:
    """Linear light 0..1 -> 8-bit picture."""
    out: Image = _CODE[np.clip(linear * (_LEVELS - 1) + 0.5, 0, _LEVELS - 1).astype(np.uint16)]
    return out


def edge(distance_px: Field, blur_px: float) -> Field:
    """Coverage of a pixel whose centre lies `distance_px` inside an edge: 1 inside, 0 outside, 0.5 on it.

    The transition has the variance of the pixel's own square (1/12) and of the lens blur together.
    """
    wide = np.float32(np.sqrt(5 * (1 / 12 + blur_px**2)))
    t = np.clip(distance_px * (0.5 / wide) + 0.5, 0, 1)
    out: Field = t * t * (3 - 2 * t)
    return out


def soft(value: Field, low: float, high: float) -> Field:
    """0 below `low`, 1 above `high`, smooth between (or falling when low > high)."""
    t = np.clip((value - low) / (high - low), 0, 1)
    out: Field = (t * t * (3 - 2 * t)).astype(np.float32)
    return out


def lift(ground: Field, centre_mm: NDArray[np.float64], height_mm: float) -> Field:
    """The points where the rays through `ground` (z = 0) meet z = `height_mm`."""
    share = (centre_mm[2] - height_mm) / centre_mm[2]
    foot = centre_mm[:2].astype(np.float32)
    out: Field = foot + (ground - foot) * np.float32(share)
    return out


def lamp_vector(look: Look) -> tuple[float, float, float]:
    """Shadow per mm of height (x, y), and its softness per mm of length."""
    x, y, tangent, softness = LAMPS[look.lamp]
    size = (x * x + y * y) ** 0.5
    return -x / size * tangent, -y / size * tangent, softness


def light_colour(look: Look) -> Colour:
    """Colour of the light as the sensor's white balance leaves it, BGR, times exposure."""
    w = look.lamp_warmth
    return (look.exposure * (1 - 0.55 * w), look.exposure * (1 - 0.08 * w), look.exposure * (1 + 0.25 * w))


def noise_texture(rng: np.random.Generator, size: tuple[int, int], cells: tuple[int, int]) -> Field:
    """Smooth random field of unit variance: (rows, columns) from a coarser grid of `cells`."""
    coarse = rng.standard_normal(cells).astype(np.float32)
    field = cv2.resize(coarse, (size[1], size[0]), interpolation=cv2.INTER_CUBIC).astype(np.float32)
    out: Field = field / max(float(field.std()), 1e-6)
    return out


def wood_texture(rng: np.random.Generator, rows: int, columns: int) -> Field:
    """Grain along the columns: long fibres, broad bands, fine pores; zero mean, about unit variance."""
    fibres = noise_texture(rng, (rows, columns), (rows // 2, columns // 60))
    bands = noise_texture(rng, (rows, columns), (rows // 24, 3))
    flame = np.sin(noise_texture(rng, (rows, columns), (rows // 120, 4)) * 9 + bands)
    pores = noise_texture(rng, (rows, columns), (rows, columns // 12))
    out: Field = 0.55 * fibres + 0.45 * bands + 0.3 * flame.astype(np.float32) + 0.35 * pores
    return out


def sample(texture: Field, u: Field, v: Field) -> Field:
    """Texture at (u, v) texels (column, row), mirrored beyond its border so that no seam shows."""
    at_u = np.ascontiguousarray(u, dtype=np.float32)
    at_v = np.ascontiguousarray(v, dtype=np.float32)
    out: Field = cv2.remap(texture, at_u, at_v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101).astype(np.float32)
    return out


def sensor_noise(rng: np.random.Generator, shape: tuple[int, int], sigma: float) -> tuple[Image, Image]:
    """Noise of a Bayer sensor after demosaicing, as (to add, to subtract) 8-bit pictures.

    Photon noise is about even over the picture once light is coded by a square-root-like curve, so one field serves all greys.
    """
    rows, columns = shape
    mosaic = np.clip(np.rint(128 + rng.standard_normal((rows, columns)) * (sigma * _SMOOTHED * _FINE)), 0, 255).astype(np.uint8)
    full = cv2.cvtColor(mosaic, cv2.COLOR_BayerRG2BGR).astype(np.int16) - 128
    fine = np.rint(full / _FINE + rng.uniform(-0.5, 0.5, full.shape)).astype(np.int16)
    return np.clip(fine, 0, 255).astype(np.uint8), np.clip(-fine, 0, 255).astype(np.uint8)
