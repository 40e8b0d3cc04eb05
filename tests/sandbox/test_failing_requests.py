"""A broker that fails at requests: clients get the error response of each API over a connection that stays.

The feed says what failed.
"""

import dataclasses
import random
import sys
import typing
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio
from kio.schema.errors import ErrorCode

from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import API_VERSIONS_KEY, name_of, shapes
from model.hosts.wire.names import ApiKey, UnavailableError
from model.sandbox.messages import SandboxEvent
from model.sandbox.options import SandboxOptions
from tests.architecture.source_tree import ROOT
from tests.conformance.random_requests import Requests
from tests.harness.sandbox import started_sandbox
from tests.harness.waiting import eventually_async

pytestmark = pytest.mark.asyncio(loop_scope="module")

COMMAND = (sys.executable, "-P", str(ROOT / "tests/harness/failing_broker.py"))
DRAWS = 50
"""Requests of one version of an API, until one asks about something."""


class Failing(NamedTuple):
    """A sandbox of one broker, which fails at every request while `told_to` is there."""

    address: tuple[str, int]
    connection: Connection
    events: list[SandboxEvent]
    told_to: Path


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def failing() -> AsyncIterator[Failing]:
    events: list[SandboxEvent] = []
    async with started_sandbox(SandboxOptions(brokers=1, topics=1), events.append, COMMAND) as sandbox:
        told_to = sandbox.cluster.brokers[1].folder / "fail"
        told_to.touch()
        host, _, port = sandbox.cluster.ready().bootstrap.partition(":")
        address = host, int(port)
        connection = await Connection.open(*address, "test")
        yield Failing(address, connection, events, told_to)
        await connection.close()
        told_to.unlink(missing_ok=True)  # so that it can leave in order


def errors(answer: Any) -> Iterator[ErrorCode]:
    """All that it has room for."""
    for each in dataclasses.fields(answer):
        value = getattr(answer, each.name)
        if isinstance(value, ErrorCode):
            yield value
        elif isinstance(value, tuple):
            entities = filter(dataclasses.is_dataclass, typing.cast("tuple[Any, ...]", value))
            yield from (error for entity in entities for error in errors(entity))


def failures(failing: Failing) -> list[str]:
    """What the feed says of them."""
    return [event.text for event in failing.events if event.kind == "failure"]


async def test_each_version_of_each_api_has_its_own_error_response(failing: Failing) -> None:
    requests = Requests(random.Random(5), lambda _: b"")
    served = {key: range(low, high + 1) for key, (low, high) in failing.connection.versions.items()}
    del served[API_VERSIONS_KEY]  # which the table of APIs answers
    assert len(served) > 35
    for key, versions in served.items():
        for version in versions:
            found: set[ErrorCode] = set()
            for _ in range(DRAWS):
                found |= {*errors(await failing.connection.ask(requests.draw(key, version)))}
                if found:
                    break
            has_room = key != ApiKey.DESCRIBE_LOG_DIRS or version >= 3
            assert found == ({ErrorCode.unknown_server_error} if has_room else set()), (key, version)
    asked = {f"{name_of(key)} v{version}" for key, versions in served.items() for version in versions}
    start, end = "broker 1 failed at a ", " request, and answered UNKNOWN_SERVER_ERROR: OSError: told to fail; see /"
    await eventually_async(
        lambda: all(any(text.startswith(f"{start}{each}{end}") for text in failures(failing)) for each in asked),
        "the feed to tell of each",
    )
    assert len(failures(failing)) == len({*failures(failing)})  # once, however often it failed


async def test_a_produce_that_gets_no_answer_loses_its_connection(failing: Failing) -> None:
    """Nothing else could tell its client."""
    module: Any = shapes(ApiKey.PRODUCE, 2, "request")
    partition = module.PartitionProduceData(index=0, records=b"")
    topic = module.TopicProduceData(name="topic-1", partition_data=(partition,))
    request = module.ProduceRequest(acks=0, timeout=timedelta(seconds=30), topic_data=(topic,))
    connection = await Connection.open(*failing.address, "test")
    with pytest.raises(UnavailableError, match="closed"):
        await connection.ask(request)
    await connection.close()


async def test_who_fails_no_more_serves_on(failing: Failing) -> None:
    failing.told_to.unlink()
    module: Any = shapes(ApiKey.METADATA, 1, "request")
    answer = await failing.connection.ask(module.MetadataRequest(topics=None))
    assert [broker.node_id for broker in answer.brokers] == [1]
    assert {*errors(answer)} == {ErrorCode.none}
