"""What commands work out in waves: all of it, or what came before somebody interrupted."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import click
import numpy as np
import pytest

from model.analyses.analysis import Wave, run_here
from spark_tasks.spark_client import IN_PROCESS, Engine
from tests.spark.engine.sums import SUMS, SumsParameters
from tui.cli.waved import Computed, computed

ARRAYS = {"values": np.arange(1000)}
SLICES = (3, 5, 2)


def sums(parts: Callable[[Callable[[], float]], Iterator[Wave]], whole: SumsParameters) -> Computed:
    return computed(Engine("here"), SUMS, ARRAYS, whole, parts, lambda part: part.slices, "slices", first=1.0)


def waves(_: Callable[[], float]) -> Iterator[Wave]:
    """Each is as an analysis of its own."""
    for number, slices in enumerate(SLICES):
        yield Wave(SumsParameters(slices=slices), float(slices), float(sum(SLICES[number + 1 :])))


def test_all_waves_come_in_order() -> None:
    found = sums(waves, SumsParameters(slices=10))
    assert [part.slices for part in found.parts] == list(SLICES) and not found.partial
    assert [one.sums for one in found.results] == [run_here(SUMS, ARRAYS, part).sums for part in found.parts]
    assert (found.outcome.engine, found.outcome.tasks) == (IN_PROCESS, 3)


def test_what_came_before_an_interruption_is_kept_and_told(capfd: pytest.CaptureFixture[str]) -> None:
    def interrupted(most: Callable[[], float]) -> Iterator[Wave]:
        for number, wave in enumerate(waves(most)):
            if number == 2:
                os.kill(os.getpid(), signal.SIGINT)
            yield wave

    found = sums(interrupted, SumsParameters(slices=10))
    assert ([part.slices for part in found.parts], found.partial) == ([3, 5], "partial: 8 of 10 slices")
    assert capfd.readouterr().err.strip() == "kdrill: interrupted: what follows is partial: 8 of 10 slices"


def test_an_interruption_before_anything_came_is_one() -> None:
    def at_once(most: Callable[[], float]) -> Iterator[Wave]:
        os.kill(os.getpid(), signal.SIGINT)
        yield from waves(most)

    with pytest.raises(KeyboardInterrupt):
        sums(at_once, SumsParameters(slices=10))


def test_what_the_analysis_refuses_is_said() -> None:
    with pytest.raises(click.ClickException, match="-1 slices: give 0 or more"):
        sums(waves, SumsParameters(slices=-1))
