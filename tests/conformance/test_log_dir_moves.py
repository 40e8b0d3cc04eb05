"""Replicas move between the log dirs of a real 3.9.1 and of ours: answers, Kafka's own tool, a kill halfway."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Producer
from confluent_kafka.cimpl import NewTopic

from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import shaped, shapes
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.conformance.kafka.releases import Installation, install_or_skip
from tests.conformance.kafka.tool_server import tool_done
from tests.harness.host_processes import BrokerProcess, make_topic
from tests.harness.kafka import Cluster
from tests.harness.ours_beside_kafka import connected, two_alike
from tests.harness.waiting import eventually, eventually_async

pytestmark = [pytest.mark.conformance, pytest.mark.timeout(300)]

DESCRIBE_CONFIGS, ALTER, DESCRIBE, SET_CONFIGS = 32, 34, 35, 44
BROKER = 4
RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
RECORDS = 60
SETTINGS = "replica.fetch.max.bytes=5000\nreplica.fetch.backoff.ms=100\nlog.segment.delete.delay.ms=500\n"


class Place(NamedTuple):
    """A broker; `kill` kills it and starts it again."""

    bootstrap: str
    dirs: tuple[Path, Path]
    kill: Callable[[], None]


@pytest.fixture(scope="module")
def kafka() -> Installation:
    return install_or_skip("3.9.1")


@pytest.fixture(scope="module")
def places(
    kafka: Installation, zookeeper_server: EmbeddedZooKeeper, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Place]]:
    folder = tmp_path_factory.mktemp("moves-")
    dirs = [(folder / name / "a", folder / name / "b") for name in ("theirs", "ours")]
    settings = [f"\n{SETTINGS}log.dirs={','.join(map(str, each))}\n" for each in dirs]
    chroot = f"{zookeeper_server.address}/{folder.name}"
    with Cluster(kafka, chroot, folder, size=1, settings=settings[0]) as java:
        ours = BrokerProcess(folder / "process", f"{chroot}-ours", 1)
        text = ours.properties.read_text()
        ours.properties.write_text(re.sub("(?m)^log.dirs=.*$", "", text) + settings[1])

        def kill_theirs() -> None:
            java.brokers[1].kill()
            eventually(lambda: 1 not in java.registered(), "its session to end")
            java.brokers[1].start()
            java.await_serving(1)

        def kill_ours() -> None:
            address = ours.address
            ours.kill()
            ours.start(f"listeners=PLAINTEXT://{address}")
            ours.ready()

        with two_alike(java, ours, {}) as addresses:
            kills = (kill_theirs, kill_ours)
            yield [Place(*each) for each in zip(addresses, dirs, kills, strict=True)]


def filled(place: Place, topic: str) -> None:
    """A topic whose records lie in batches of one, in the first log dir."""
    eventually(lambda: _made(place, topic), "it to lie there")
    producer = Producer({"bootstrap.servers": place.bootstrap, "batch.num.messages": 1, "log_level": 0})
    for number in range(RECORDS):
        producer.produce(topic, bytes(1000), key=str(number))
    assert eventually(lambda: producer.flush(1) == 0, "all records to be acknowledged")


def _made(place: Place, topic: str) -> bool:
    """A new topic lies where the fewest do: another one goes before it if need be."""
    make_topic(place.bootstrap, NewTopic(topic, 2, 1))
    return (place.dirs[0] / f"{topic}-0").exists() or (place.dirs[1] / f"{topic}-0").exists()


class Asker:
    """`home` is where the first partition of a topic lies at first, `other` the other log dir."""

    def __init__(self, connection: Connection, place: Place, topic: str) -> None:
        self._connection = connection
        self._place = place
        self.topic = topic
        self.home, self.other = sorted(place.dirs, key=lambda each: not (each / f"{topic}-0").exists())

    async def move(self, path: Path | str, topic: str = "", number: int = 0, version: int = 2) -> str:
        return (await self.move_to((path,), topic, number, version))[0]

    async def move_to(self, paths: tuple[Path | str, ...], topic: str = "", number: int = 0, version: int = 2) -> Any:
        module: Any = shapes(ALTER, version, "request")
        topics = (module.AlterReplicaLogDirTopic(name=topic or self.topic, partitions=(number,)),)
        dirs = tuple(module.AlterReplicaLogDir(path=str(path), topics=topics) for path in paths)
        response = await self._connection.ask(module.AlterReplicaLogDirsRequest(dirs=dirs))
        return [part.error_code.name for each in response.results for part in each.partitions]

    async def logs(self) -> Any:
        """In each log dir: which logs of the topic, with size and lag, and whether they are still to be."""
        module: Any = shapes(DESCRIBE, 4, "request")
        response = await self._connection.ask(shaped(module.DescribeLogDirsRequest, topics=None))
        found: list[Any] = []
        for each in sorted(response.results, key=lambda result: result.log_dir != str(self.home)):
            parts = [part for topic in each.topics if topic.name == self.topic for part in topic.partitions]
            found.append(sorted((p.partition_index, p.is_future_key, p.offset_lag, p.partition_size) for p in parts))
        return found

    async def allow(self, rate: int) -> None:
        module: Any = shapes(SET_CONFIGS, 1, "request")
        config = module.AlterableConfig(name=RATE, config_operation=0, value=str(rate))
        resource = module.AlterConfigsResource(resource_type=BROKER, resource_name="1", configs=(config,))
        await self._connection.ask(module.IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False))

        await until(lambda: self._is_allowed(rate))
        await asyncio.sleep(0.5)

    async def _is_allowed(self, rate: int) -> bool:
        module: Any = shapes(DESCRIBE_CONFIGS, 4, "request")
        resource = module.DescribeConfigsResource(resource_type=BROKER, resource_name="1", configuration_keys=(RATE,))
        wish = module.DescribeConfigsRequest(resources=(resource,), include_synonyms=False, include_documentation=False)
        (result,) = (await self._connection.ask(wish)).results
        return [each.value for each in result.configs] == [str(rate)]

    async def is_halfway(self) -> bool:
        return any(is_future and lag > 0 and size for _, is_future, lag, size in (await self.logs())[1])


async def until(condition: Callable[[], Any]) -> None:
    for _ in range(600):
        if await condition():
            return
        await asyncio.sleep(0.1)
    raise AssertionError("it never was so")


async def steps(one: Asker) -> list[Any]:
    """What is answered to this and that."""
    told: list[Any] = []
    for version in (0, 1, 2):
        told += [await one.move(each, version=version) for each in ("/no/such/dir", "a", f"{one.other}/", one.home)]
        told += [await one.move(one.other, topic, 0, version) for topic in ("unknown", "no such", "t" * 249)]
        told.append(await one.move(one.other, number=7, version=version))
    await one.allow(1)
    told.append(await one.move_to((one.home, one.other)))
    await until(one.is_halfway)
    told.append(await one.logs())
    told.append(await one.move(one.other))
    told.append(await one.move(one.home))
    told.append(await one.logs())
    return told


async def test_requests_are_answered_alike(places: list[Place]) -> None:
    for place in places:
        filled(place, "asked")
    async with connected(*(place.bootstrap for place in places)) as connections:
        theirs, ours = [
            await steps(Asker(each, place, "asked")) for each, place in zip(connections, places, strict=True)
        ]
    assert theirs == ours


async def test_a_replica_is_made_where_it_was_ordered(places: list[Place]) -> None:
    for place in places:
        async with connected(place.bootstrap) as (connection,):
            one = Asker(connection, place, "asked")
            for number, path in enumerate(place.dirs * 2):
                assert await one.move(path, f"made{number}") == "unknown_topic_or_partition"
                make_topic(place.bootstrap, NewTopic(f"made{number}", 1, 1))
                await eventually_async((path / f"made{number}-0").exists)


async def test_a_move_goes_on_after_a_kill(places: list[Place]) -> None:
    for place in places:
        filled(place, "killed")
        async with connected(place.bootstrap) as (connection,):
            one = Asker(connection, place, "killed")
            await one.allow(1)
            assert await one.move(one.other) == "none"
            await until(one.is_halfway)
        await asyncio.to_thread(place.kill)
        async with connected(place.bootstrap) as (connection,):
            again = Asker(connection, place, "killed")
            again.home, again.other = one.home, one.other
            await until(again.is_halfway)
            await again.allow(2**63 - 1)
            await eventually_async(lambda home=one.home: not (home / "killed-0").exists())
            assert [each[:3] for each in (await again.logs())[1] if each[0] == 0] == [(0, False, 0)]


def test_the_tool_executes_and_verifies_alike(places: list[Place], kafka: Installation, tmp_path: Path) -> None:
    said: list[list[str]] = []
    for place in places:
        filled(place, "tooled")
        home, other = sorted(place.dirs, key=lambda each: not (each / "tooled-0").exists())
        plan = tmp_path / "plan.json"
        moved = {"topic": "tooled", "partition": 0, "replicas": [1], "log_dirs": [str(other)]}
        plan.write_text(json.dumps({"version": 1, "partitions": [moved]}))

        def reassign(*words: str, plan: Path = plan, place: Place = place, home: Path = home) -> str:
            options = ["--bootstrap-server", place.bootstrap, "--reassignment-json-file", str(plan), *words]
            done = tool_done(kafka, kafka.release.classes["reassign"], *options)
            return (done.stdout + done.stderr).replace(str(home), "HOME").replace(str(home.parent), "PLACE")

        lines = [reassign("--execute", "--replica-alter-log-dirs-throttle", "1"), reassign("--verify")]
        lines.append(reassign("--execute", "--additional", "--replica-alter-log-dirs-throttle", "5000000"))
        eventually(lambda: "completed successfully" in reassign("--verify", "--preserve-throttles"), "the move's end")
        lines.append(reassign("--verify"))
        said.append([re.sub(r"PLACE/.", "OTHER", each) for each in lines])
    assert said[0] == said[1]
    assert "is still in progress" in said[0][1]
