"""A recording opened as a source, by name and moment; the same image as when it was live."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.recordings.folder import DAY_MS
from model.sources.addresses import RecordingName, parse_source
from model.sources.feed import Feed, Moment
from model.sources.file_source import RecordingSource
from model.sources.source import SourceError
from tests.model.cluster.build import brokers, image, topic
from tests.model.recordings.lives import START_MS, life, record
from tests.zookeeper.followed import facts

TOLD = life([(0, [*brokers(1, 2), *topic("orders", (1, 2), 3)]), (5_000, [*topic("late", (2,))])])


def opened(name: str) -> Moment:
    named = parse_source(name)
    assert isinstance(named, RecordingName)
    source = RecordingSource(named)
    moments: list[Moment] = []
    source.open(Feed(source.name, moments.append))
    source.close()
    return moments[-1]


def test_without_a_time_it_is_the_end(tmp_path: Path) -> None:
    record(tmp_path, TOLD)
    moment = opened(str(tmp_path))
    assert facts(moment.image) == facts(TOLD[1])
    assert moment.image.provenance.complete
    assert moment.image.provenance.source == str(tmp_path)
    assert moment.status.phase == "snapshot"
    assert moment.status.reason == "recorded of test, last change 2024-10-04T01:00:05Z"


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("2024-10-04T01:00:00Z", TOLD[0]),
        ("2024-10-04T01:00:04.999Z", TOLD[0]),
        ("2024-10-04T01:00:05", TOLD[1]),
        ("2024-10-04T03:00:05+02:00", TOLD[1]),
        ("2024-10-04T01:00:06Z", TOLD[1]),
    ],
)
def test_at_a_time_it_is_what_was_so_then(tmp_path: Path, time: str, expected: object) -> None:
    record(tmp_path, TOLD)
    moment = opened(f"{tmp_path}@{time}")
    assert facts(moment.image) == facts(expected)  # pyright: ignore[reportArgumentType]
    assert moment.image.provenance.zxid == expected.provenance.zxid  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(("at", "times"), [("", [0, 5, 7]), ("@2024-10-04T01:00:05Z", [0, 5])])
def test_the_moments_before_are_known_too(tmp_path: Path, at: str, times: list[int]) -> None:
    told = life([(0, [*brokers(1, 2)]), (5_000, [*brokers(3)]), (2_000, [*topic("late", (2,))])])
    record(tmp_path, told)
    named = parse_source(f"{tmp_path}{at}")
    assert isinstance(named, RecordingName)
    source = RecordingSource(named)
    stretch = source.around(source.opened_ms, 10)
    assert (stretch.count, stretch.is_first, stretch.is_last) == (3, True, True), "those after the time as well"
    past = list(source.images(stretch.from_ms, min(stretch.to_ms, source.opened_ms)))
    assert [at_ms - START_MS for at_ms, _ in past] == [second * 1_000 for second in times]
    assert [facts(each) for _, each in past] == [facts(each) for each in told[: len(times)]]


def test_one_of_several_clusters(tmp_path: Path) -> None:
    record(tmp_path, TOLD, cluster="a")
    record(tmp_path, [image(*brokers(9), time_ms=START_MS)], cluster="b")
    assert set(opened(f"{tmp_path}/cluster=b").image.brokers) == {9}
    assert set(opened(f"{tmp_path}/cluster=a/@2024-10-04T01:00:00Z").image.brokers) == {1, 2}
    with pytest.raises(SourceError, match=r"2 clusters are recorded here; name one: .*/\(cluster=a, cluster=b\)"):
        opened(str(tmp_path))


def test_a_file_that_is_there_goes_before_a_moment(tmp_path: Path) -> None:
    path = tmp_path.with_name(f"{tmp_path.name}@noon")
    path.write_text("")
    assert parse_source(str(path)) == path


@pytest.mark.parametrize("time", ["", "noon", "2024-13-01", "2024-10-04T25:00:00Z", "0001-01-01T00:00:00+23:00"])
def test_what_is_no_time(tmp_path: Path, time: str) -> None:
    with pytest.raises(SourceError, match=r"is no time: write .*@2026-11-20T12:03:58Z"):
        parse_source(f"{tmp_path}@{time}")


def test_a_time_that_was_not_recorded(tmp_path: Path) -> None:
    record(tmp_path, TOLD)
    with pytest.raises(SourceError, match="recorded until 2024-10-04T01:00:06Z, not at 2024-10-05T00:00:00Z"):
        opened(f"{tmp_path}@2024-10-05")


def test_its_name_is_what_was_asked_for(tmp_path: Path) -> None:
    name = f"{tmp_path}@2024-10-04T00:00:00.250Z"
    parsed = parse_source(name)
    assert parsed == RecordingName(tmp_path, 20_000 * DAY_MS + 250)
    assert str(parsed) == f"{tmp_path}@2024-10-04T00:00:00.250Z"
