"""Worked cases of old clients: a real broker of 3.9.1 and ours answer as is kept in tests/data.

KDRILL_UPDATE_SNAPSHOTS=1 keeps what the real one says.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.cimpl import NewTopic

from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import shapes
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.conformance.kafka.releases import install_or_skip
from tests.harness.host_processes import LONG_SESSION, BrokerProcess, make_topic
from tests.harness.kafka import Cluster
from tests.harness.ours_beside_kafka import connected, two_alike
from tests.harness.waiting import eventually_async
from tests.harness.worked_cases import ANSWERS, CASES, OF_2_8, kept_answers, rewritten
from tests.harness.zookeeper import Znodes

pytestmark = [pytest.mark.conformance, pytest.mark.timeout(300)]
OFFSET_COMMIT, OFFSET_FETCH = 8, 9
SETTINGS = "log.initial.task.delay.ms=500\nlog.cleaner.enable=false\n"


@dataclass
class Site:
    """A broker's process: its address, its ZooKeeper and its log dir."""

    bootstrap: str
    zookeeper: str
    logs: Path
    connection: Connection | None = None

    async def make(self, topic: str, **config: str) -> None:
        settings = {key.replace("_", "."): value for key, value in config.items()}
        new = NewTopic(topic, 2, 1, config=settings)
        await asyncio.to_thread(make_topic, self.bootstrap, new)

    async def make_with_dead_replicas(self, topic: str) -> None:
        """As a controller finds it in ZooKeeper."""
        with Znodes(self.zookeeper) as znodes:
            znodes.write(f"/brokers/topics/{topic}", '{"version":1,"partitions":{"0":[1,2,3]}}')
        await eventually_async((self.logs / f"{topic}-0").exists)
        await asyncio.sleep(1)

    async def ask(self, request: Any) -> Any:
        assert self.connection is not None
        return await self.connection.ask(request)

    def segments(self, topic: str) -> Sequence[Path]:
        return sorted((self.logs / f"{topic}-0").glob("*.log"))


@pytest.fixture(scope="module")
def sites(
    zookeeper_server: EmbeddedZooKeeper, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, tuple[Site, Site]]]:
    folder, found = tmp_path_factory.mktemp("worked-"), dict[str, tuple[Site, Site]]()
    kafka = install_or_skip("3.9.1")
    with ExitStack() as stack:
        for version in ("3.9", "2.8"):
            chroot = f"{zookeeper_server.address}/{folder.name}-{version}"
            settings = f"{SETTINGS}inter.broker.protocol.version={version}\n"
            java = stack.enter_context(Cluster(kafka, chroot, folder / version, size=1, settings=settings))
            ours = BrokerProcess(folder / f"ours-{version}", f"{chroot}-ours", 1, settings + LONG_SESSION)
            addresses = stack.enter_context(two_alike(java, ours, {}))
            zookeepers = (chroot, f"{chroot}-ours")
            logs = (folder / version / "broker-1/logs", ours.folder / "logs")
            theirs, own = (Site(*each) for each in zip(addresses, zookeepers, logs, strict=True))
            found[version] = theirs, own
        yield found
    shutil.rmtree(folder)


UNCOORDINATED = ("not_coordinator", "coordinator_load_in_progress", "coordinator_not_available")
ODD_OFFSETS = (
    "42",
    "forty",
    "",
    "-5",
    "+7",
    " 42",
    "42 ",
    "4_2",
    "4.2",
    "0x1",
    f"{2**63}",
    f"{2**63 - 1}",
    "\xff",
)


async def zookeeper_offsets(site: Site) -> list[str]:
    """C17, C18, and what somebody wrote into ZooKeeper who is no consumer."""
    await site.make("committed")
    told = [await committed(site, 0, "g")]
    for number, offset in ((0, 42), (0, -3), (0, 2**62), (7, 1)):
        told.append(await commit(site, number, offset))
        told += [await committed(site, version, "g") for version in (0, 1)]
    path = "/consumers/g/offsets/committed/0"
    with Znodes(site.zookeeper) as znodes:
        told.append(znodes.text(path))
        for text in ODD_OFFSETS:
            znodes.overwrite(path, text)
            told.append(f"{text!r}: {await committed(site, 0, 'g')}")
        told.append(await commit(site, 0, 43))
        told.append(znodes.text(path))
    return told


async def commit(site: Site, number: int, offset: int) -> str:
    module: Any = shapes(OFFSET_COMMIT, 0, "request")
    part = module.OffsetCommitRequestPartition(partition_index=number, committed_offset=offset, committed_metadata="m")
    topic = module.OffsetCommitRequestTopic(name="committed", partitions=(part,))
    (found,) = (await site.ask(module.OffsetCommitRequest(group_id="g", topics=(topic,)))).topics[0].partitions
    return found.error_code.name


async def committed(site: Site, version: int, group: str) -> str:
    module: Any = shapes(OFFSET_FETCH, version, "request")
    topic = module.OffsetFetchRequestTopic(name="committed", partition_indexes=(0,))
    request = module.OffsetFetchRequest(group_id=group, topics=(topic,))
    for _ in range(300):
        topics = (await site.ask(request)).topics
        if topics and topics[0].partitions[0].error_code.name not in UNCOORDINATED:
            (found,) = topics[0].partitions
            return f"{found.committed_offset} {found.metadata!r} {found.error_code.name}"
        await site.ask(shapes(10, 0, "request").FindCoordinatorRequest(key=group))
        await asyncio.sleep(0.1)
    raise AssertionError("no coordinator")


async def test_offsets_in_zookeeper(sites: dict[str, tuple[Site, Site]]) -> None:
    told: list[list[str]] = []
    for site in sites["3.9"]:
        async with connected(site.bootstrap) as (site.connection,):
            told.append(await zookeeper_offsets(site))
    assert told[0] == told[1]
    assert told[0][:4] == ["-1 '' unknown_topic_or_partition", "none", "42 '' none", "-1 '' none"]


async def test_both_answer_as_is_kept(sites: dict[str, tuple[Site, Site]]) -> None:
    told: list[dict[str, list[str]]] = [{}, {}]
    for name, case in CASES.items():
        for answers, site in zip(told, sites["2.8" if name in OF_2_8 else "3.9"], strict=True):
            async with connected(site.bootstrap) as (site.connection,):
                answers[name] = await case(site)
    if os.environ.get("KDRILL_UPDATE_SNAPSHOTS"):
        ANSWERS.write_text(rewritten(told[0]))
    assert told[0] == kept_answers()
    assert told[1] == told[0]
