"""What the colours of a theme become in eyes that lack one of three kinds of cones.

Matrices: Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency"
(2009), severity 1, on linear RGB. Distances: CIE 1976 in Lab; below about 10, neighbours on a screen look alike.
"""

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from tui.app.theme import Look

EYES = {
    "all cones": np.eye(3),
    "no red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no blue": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
)
WHITE = TO_XYZ.sum(axis=1)

SIGNS = ("leader", "isr", "out", "adding", "dead")
GOOD_AND_BAD = (("leader", "dead"), ("ok", "error"), ("ok", "warn"), ("added", "removed"))


def seen(theme: str, style: str, eyes: str) -> NDArray[np.float64]:
    """The Lab coordinates of what these eyes see."""
    color = Look(theme).style(style).color
    assert color is not None
    encoded = np.array(color.get_truecolor()) / 255
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    relative = TO_XYZ @ np.clip(EYES[eyes] @ linear, 0, 1) / WHITE
    x, y, z = np.where(relative > 0.008856, np.cbrt(relative), 7.787 * relative + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(theme: str, one: str, other: str, eyes: str) -> float:
    return float(np.linalg.norm(seen(theme, one, eyes) - seen(theme, other, eyes)))


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize(("one", "other"), [*combinations(SIGNS, 2), *GOOD_AND_BAD])
def test_the_safe_theme_tells_every_sign_of_the_map_from_every_other(one: str, other: str, eyes: str) -> None:
    assert distance("safe", one, other, eyes) > 15


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize(("one", "other"), GOOD_AND_BAD)
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_no_theme_tells_good_from_bad_by_red_and_green_alone(theme: str, one: str, other: str, eyes: str) -> None:
    assert distance(theme, one, other, eyes) > 10


def test_the_measure_knows_what_eyes_without_green_cannot_tell_apart() -> None:
    assert distance("dark", "isr", "adding", "all cones") > 30
    assert distance("dark", "isr", "adding", "no green") < 10
