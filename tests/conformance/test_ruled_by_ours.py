"""Real brokers under a controller of ours: they register, serve, die and come back as under their own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,  # pyright: ignore[reportPrivateImportUsage]
    ConfigEntry,  # pyright: ignore[reportPrivateImportUsage]
    ConfigResource,  # pyright: ignore[reportPrivateImportUsage]
)
from confluent_kafka.cimpl import NewTopic

from tests.conformance.kafka.releases import QUORUMS, install_or_skip
from tests.harness.complaints import complaints
from tests.harness.kraft import KraftCluster
from tests.harness.ledger import Ledger
from tests.harness.waiting import eventually

pytestmark = pytest.mark.conformance
TOPIC, PARTITIONS = "ruled", 6


@pytest.fixture(params=QUORUMS)
def ruled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KraftCluster]:
    """Brokers 2, 3 and 4; our controller is node 1."""
    folder = tmp_path_factory.mktemp("ruled-")
    kafka = install_or_skip(request.param.removeprefix("KRaft "))
    with KraftCluster(kafka, folder, size=4, voters=1, ours=1) as cluster:
        yield cluster
    shutil.rmtree(folder)


def admin_of(cluster: KraftCluster) -> AdminClient:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    admin.list_topics(timeout=20)
    return admin


def leaders(cluster: KraftCluster, *asked: int) -> dict[int, tuple[int, list[int]]]:
    """Partition → leader, ISR."""
    admin = AdminClient({"bootstrap.servers": cluster.address(*asked), "log_level": 0})
    topic = admin.list_topics(TOPIC, timeout=20).topics[TOPIC]
    return {number: (each.leader, sorted(each.isrs)) for number, each in topic.partitions.items()}


def test_real_brokers_are_ruled(ruled: KraftCluster) -> None:
    admin = admin_of(ruled)
    admin.create_topics([NewTopic(TOPIC, PARTITIONS, 3, config={"min.insync.replicas": "1"})])[TOPIC].result(60)
    everywhere = {number: [2, 3, 4] for number in range(PARTITIONS)}
    eventually(lambda: {number: isr for number, (_, isr) in leaders(ruled).items()} == everywhere, "ISRs")
    ledger = Ledger(ruled, TOPIC, PARTITIONS)
    ledger.produce(100)
    ruled.kill(2)
    eventually(
        lambda: all(leader in (3, 4) and isr == [3, 4] for leader, isr in leaders(ruled, 3, 4).values()),
        "leaders and ISRs without the dead broker",
        standing=lambda: leaders(ruled, 3, 4),
    )
    ledger.produce(100)
    ruled.restore()
    eventually(lambda: {number: isr for number, (_, isr) in leaders(ruled).items()} == everywhere, "whole ISRs again")
    entry = ConfigEntry("retention.ms", "7200000", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, TOPIC, incremental_configs=[entry])
    admin = admin_of(ruled)
    admin.incremental_alter_configs([resource])[resource].result(60)
    ruled.kill(1)
    ruled.restore()
    ledger.produce(100)
    assert len(ledger.acknowledged) == 300
    ledger.audit()
    asked = ConfigResource(ConfigResource.Type.TOPIC, TOPIC)
    admin = admin_of(ruled)
    assert admin.describe_configs([asked])[asked].result(60)["retention.ms"].value == "7200000"
    ruled.stop(3)
    assert all(leader != 3 for leader, _ in leaders(ruled, 2, 4).values())
    ruled.restore()
    admin = admin_of(ruled)
    admin.delete_topics([TOPIC])[TOPIC].result(60)
    eventually(lambda: TOPIC not in admin.list_topics(timeout=20).topics, "the topic to go")
    assert complaints(ruled, (2, 3, 4)) == []
