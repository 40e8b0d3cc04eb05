"""A verdict finds what leaks and what was lost, and nothing where there is nothing."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from model.cluster.cluster_image import EMPTY, ControllerImage
from model.cluster.snapshot_file import write_snapshot
from tests.soak.samples import Sample
from tests.soak.truth import differences
from tests.soak.verdict import checks, growth

SAMPLES = 120
EVERY_S = 5.0
FIRST = Sample(0.0, 100.0, 10.0, 9, 6, 5, 1.0, 170.0, 1, 20)


def failed(change: Callable[[Sample, int], Sample], count: int = SAMPLES) -> list[str]:
    """What does not pass, of a ten-minute soak whose samples were changed so."""
    dice = random.Random(1)
    noisy = [replace(FIRST, at_s=EVERY_S * each, rss_mib=100 + dice.gauss(0, 3)) for each in range(count)]
    changed = [change(sample, place) for place, sample in enumerate(noisy)]
    return [check.what for check in checks(changed, most_mib=500, timeline_mib=256) if not check.passed]


def test_noise_is_no_leak() -> None:
    assert failed(lambda sample, _: sample) == []


def test_what_the_timeline_takes_is_no_leak() -> None:
    grow = lambda sample, place: replace(sample, rss_mib=sample.rss_mib + place, timeline_mib=10 + place)  # noqa: E731
    assert failed(grow) == []


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda sample, place: replace(sample, rss_mib=sample.rss_mib + place / 2), "memory is flat"),
        (lambda sample, place: replace(sample, rss_mib=501), "memory is bounded"),
        (lambda sample, place: replace(sample, rss_mib=500, timeline_mib=257), "the timeline is bounded"),
        (lambda sample, place: replace(sample, threads=9 + place // 10), "no threads leak"),
        (lambda sample, place: replace(sample, sockets=5 + place // 10), "no sockets leak"),
        (lambda sample, place: replace(sample, files=41 if place == 3 else 6), "no files leak"),
        (lambda sample, place: replace(sample, watches=place), "watches are few"),
    ],
)
def test_each_leak_is_found(change: Callable[[Sample, int], Sample], what: str) -> None:
    (found,) = failed(change)
    assert found.startswith(what)


def test_a_short_soak_only_knows_bounds_and_what_is_sure() -> None:
    assert failed(lambda sample, place: replace(sample, threads=9 + place), count=10) == []
    assert failed(lambda sample, place: replace(sample, threads=41), count=10) == ["threads are few"]
    assert failed(lambda sample, place: replace(sample, rss_mib=sample.rss_mib + 4 * place), count=10) == []
    (leak,) = failed(lambda sample, place: replace(sample, rss_mib=sample.rss_mib + 15 * place), count=10)
    assert leak.startswith("memory does not surely grow")


def test_a_line_is_measured_with_its_error() -> None:
    exact = growth([0, 1, 2, 3], [5, 7, 9, 11])
    assert (exact.mib, exact.error_mib, exact.mean_mib) == (6, 0, 8)
    assert growth([0, 1, 2, 3], [5, 9, 7, 11]).error_mib > 0


def test_what_differs_is_named(tmp_path: Path) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    write_snapshot(one, EMPTY)
    write_snapshot(other, msgspec.structs.replace(EMPTY, controller=ControllerImage(broker=3, epoch=7)))
    assert differences(one, one) == []
    assert [each.split(":")[0] for each in differences(one, other)] == ["/controller/broker", "/controller/epoch"]
