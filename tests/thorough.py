"""More of the same: further seeds, sizes and looks, which a plain run of the suite leaves to `pytest --all`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pytest


def the_rest_when_asked(values: Iterable[Any], first: int = 1) -> Iterator[Any]:
    """For `parametrize`: the first of these values as they are, the others marked `thorough`."""
    each = iter(values)
    yield from islice(each, first)
    for value in each:
        yield pytest.param(value, marks=pytest.mark.thorough)
