"""Every analysis is found by the name it has, which is all that travels of it."""

from __future__ import annotations

import pytest

from spark_tasks.registry import ANALYSES, find


@pytest.mark.parametrize("name", ANALYSES)
def test_it_is_what_its_row_says(name: str):
    analysis = find(name)
    assert analysis.name == name
    assert isinstance(analysis.parameters_type, type)
    assert isinstance(analysis.result_type, type)


def test_an_unknown_name():
    with pytest.raises(KeyError, match="no_such"):
        find("no_such")
