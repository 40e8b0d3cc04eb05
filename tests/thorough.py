"""More of the same: further seeds, sizes and looks, which a plain run of the suite leaves to `pytest --all`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def the_rest_when_asked(values: Sequence[Any], first: int = 1) -> list[Any]:
    """For `parametrize`: the first of these values as they are, the others marked `thorough`."""
    return [*values[:first], *(pytest.param(value, marks=pytest.mark.thorough) for value in values[first:])]
