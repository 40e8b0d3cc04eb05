"""What a broker in KRaft mode tells of where its replicas lie."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from model.broker.metadata import MetadataImage
from model.broker.metadata_log import LoggedCluster
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import directory_number
from model.hosts.background import BackgroundTasks
from model.hosts.live_broker import directory_reports
from model.hosts.live_broker.directory_reports import DirectoryReports
from model.hosts.wire.connection import Build
from model.hosts.wire.messages import Entity, shapes
from model.hosts.wire.names import ApiKey, UnavailableError, topic_id_text, topic_uuid
from tests.harness.waiting import eventually_async

TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAOQ"
ONE, TWO = Path("/one"), Path("/two")
IDS = {ONE: uuid.UUID(int=1 << 100), TWO: uuid.UUID(int=2 << 100)}
A, B = TopicPartition("orders", 0), TopicPartition("orders", 1)
UNASSIGNED = 1


def number(path: Path) -> int:
    return directory_number(topic_id_text(IDS[path]) or "")


def logged(level: int = 33, **placed: int) -> LoggedCluster:
    names = {"a": A, "b": B}
    return LoggedCluster(
        image=MetadataImage(topic_ids={"orders": TOPIC_ID}, is_logged=True),
        placed={names[name]: where for name, where in placed.items()},
        features={"metadata.version": level},
    )


class Newest:
    """Any connection to a controller."""

    def request_shapes(self, key: int) -> Any:
        return shapes(key, 0, "request")


class Told:
    """A controller that fails first."""

    def __init__(self) -> None:
        self.requests: list[Any] = []

    async def __call__(self, build: Build) -> Entity:
        self.requests.append(build(Newest()))  # pyright: ignore[reportArgumentType]
        if len(self.requests) == 1:
            raise UnavailableError("no controller is known")
        answer: Any = shapes(ApiKey.ASSIGN_REPLICAS_TO_DIRS, 0, "response")
        return answer.AssignReplicasToDirsResponse(
            throttle_time=answer.i32Timedelta.resolution * 0, error_code=answer.ErrorCode.none, directories=()
        )


def reports(cluster: LoggedCluster, told: Told | None = None) -> DirectoryReports:
    made = DirectoryReports(told or Told(), lambda: {A: ONE, B: TWO}, lambda: cluster)
    made.ids = IDS
    return made


def test_what_lies_elsewhere_than_the_log_says_is_told() -> None:
    assert reports(logged(a=number(ONE), b=UNASSIGNED)).wanted() == {B: (topic_uuid(TOPIC_ID), IDS[TWO])}
    assert reports(logged(a=number(ONE), b=number(TWO))).wanted() == {}
    assert reports(logged(a=number(TWO), b=number(TWO))).wanted() == {A: (topic_uuid(TOPIC_ID), IDS[ONE])}
    assert reports(logged(a=UNASSIGNED)).wanted().keys() == {A}  # the other is no replica of this broker by the log
    assert reports(logged(16, a=UNASSIGNED)).wanted() == {}


async def test_it_is_told_until_it_is_answered_and_then_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory_reports, "PAUSE_S", 0.01)
    told = Told()
    telling = reports(logged(a=UNASSIGNED, b=UNASSIGNED), told)
    tasks = BackgroundTasks(print)
    tasks.spawn(telling.run())
    telling.look()
    await eventually_async(lambda: len(told.requests) == 2)
    telling.look()
    await eventually_async(lambda: telling.wanted() == {})
    await tasks.close()
    request = told.requests[-1]
    places = {(each.id_, part.partition_index) for each in request.directories for part in each.topics[0].partitions}
    assert places == {(IDS[ONE], 0), (IDS[TWO], 1)}
    assert len(told.requests) == 2
