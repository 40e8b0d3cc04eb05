"""Three broker processes on a real ZooKeeper, and clients that nobody here wrote: librdkafka and kafka-python."""

from __future__ import annotations

import asyncio
import re
import socket
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka import KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource, ConfigSource
from confluent_kafka.cimpl import NewPartitions, NewTopic
from kafka import KafkaConsumer
from kafka.admin import KafkaAdminClient

from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import shaped, shapes
from model.hosts.wire.names import ApiKey
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.harness.host_processes import LONG_SESSION, BrokerProcess
from tests.harness.waiting import eventually
from tests.harness.zookeeper import kazoo

PATIENCE_S = 60


class Cluster:
    """The brokers, and where they are."""

    def __init__(self, zookeeper: str, brokers: Sequence[BrokerProcess]) -> None:
        self.zookeeper = zookeeper
        self.brokers = brokers
        self.ready = [broker.ready() for broker in brokers]
        self.bootstrap = ",".join(broker.address for broker in brokers)
        self.admin = AdminClient({"log_level": 0, "bootstrap.servers": self.bootstrap})

    @property
    def controller(self) -> int:
        return self.admin.list_topics(timeout=PATIENCE_S).controller_id

    def leaders(self, topic: str) -> list[int]:
        partitions = self.admin.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions
        return [partitions[number].leader for number in sorted(partitions)]

    def create(self, topic: str, partitions: int = 1, factor: int = 3, **config: str) -> None:
        new = NewTopic(
            topic, partitions, factor, config={key.replace("_", "."): value for key, value in config.items()}
        )
        self.admin.create_topics([new], request_timeout=PATIENCE_S, operation_timeout=PATIENCE_S)[topic].result(60)


@pytest.fixture(scope="module")
def cluster(zookeeper_server: EmbeddedZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """For all tests of this module, which harm nobody. Broker 3 has a key too many."""
    zookeeper = f"{zookeeper_server.address}/live-{uuid.uuid4().hex[:8]}/made"
    folder = tmp_path_factory.mktemp("brokers")
    with ExitStack() as stack:
        more = f"{LONG_SESSION}\nbroker.rack=r"
        brokers = [BrokerProcess(folder, zookeeper, number, f"{more}{number}") for number in (1, 2, 3)]
        for broker in brokers:
            stack.callback(broker.kill)
            broker.start(*(("min.insync.replica=2", "num.io.threads=3") if broker.id == 3 else ()))
        yield Cluster(zookeeper, brokers)


def test_it_says_what_it_is_and_which_keys_mean_nothing(cluster: Cluster) -> None:
    for broker, ready in zip(cluster.brokers, cluster.ready, strict=True):
        assert ready["broker_id"] == broker.id and ready["broker_epoch"] > 0
        assert ready["listeners"] == {"PLAINTEXT": broker.address}
    told = cluster.brokers[2].log
    assert "'min.insync.replica' is no key of server.properties: did you mean min.insync.replicas?" in told
    assert "num.io.threads has no effect here" in told
    seen = cluster.admin.describe_cluster().result(PATIENCE_S)
    assert {(node.id, f"{node.host}:{node.port}", node.rack) for node in seen.nodes} == {
        (broker.id, broker.address, f"r{broker.id}") for broker in cluster.brokers
    }
    assert seen.controller.id == cluster.controller
    assert re.fullmatch(r"[A-Za-z0-9_-]{22}", seen.cluster_id)


def test_clients_write_and_read_what_they_wrote(cluster: Cluster) -> None:
    cluster.create("orders", 3)
    assert sorted(cluster.leaders("orders")) == [1, 2, 3]
    failed: list[object] = []

    def told(error: object, _message: Message) -> None:
        if error is not None:
            failed.append(error)

    producer = Producer({"log_level": 0, "bootstrap.servers": cluster.bootstrap, "enable.idempotence": True})
    for number in range(300):
        producer.produce("orders", str(number), key=str(number % 7), on_delivery=told)
    assert producer.flush(PATIENCE_S) == 0 and not failed
    reader = KafkaConsumer(
        "orders",
        bootstrap_servers=cluster.bootstrap.split(","),
        group_id="readers",
        auto_offset_reset="earliest",
        consumer_timeout_ms=PATIENCE_S * 1000,
    )
    read = [next(reader).value for _ in range(300)]
    reader.close()
    assert sorted(map(int, read)) == list(range(300))
    cluster.admin.create_partitions([NewPartitions("orders", 4)])["orders"].result(PATIENCE_S)
    assert len(cluster.leaders("orders")) == 4


def test_topics_come_by_asking_and_go_by_deletion(cluster: Cluster) -> None:
    """With the defaults of the broker's settings."""
    eventually(lambda: cluster.admin.list_topics("asked-for", timeout=PATIENCE_S).topics["asked-for"].partitions, "it")
    assert len(cluster.leaders("asked-for")) == 2
    admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap.split(","))
    assert "asked-for" in admin.list_topics()
    cluster.admin.delete_topics(["asked-for"], operation_timeout=PATIENCE_S)["asked-for"].result(PATIENCE_S)
    assert "asked-for" not in admin.list_topics()
    admin.close()


def test_what_kafka_refuses_is_refused(cluster: Cluster) -> None:
    cases = [
        (NewTopic("no name", 1, 1), "INVALID_TOPIC|contains one or more characters"),
        (NewTopic("wide", 1, 4), "INVALID_REPLICATION_FACTOR"),
        (NewTopic("odd", 1, 1, config={"retention": "1"}), "Unknown topic config name: retention"),
        (NewTopic("wrong", 1, 1, config={"retention.ms": "soon"}), "retention.ms takes a whole number"),
    ]
    for topic, said in cases:
        refused = cluster.admin.create_topics([topic], request_timeout=PATIENCE_S)[topic.topic]
        with pytest.raises(KafkaException, match=said):
            refused.result(PATIENCE_S)


def described(cluster: Cluster, kind: ConfigResource.Type, name: str) -> dict[str, ConfigEntry]:
    [found] = cluster.admin.describe_configs([ConfigResource(kind, name)]).values()
    return found.result(PATIENCE_S)


def test_configurations_say_where_they_come_from(cluster: Cluster) -> None:
    cluster.create("kept", retention_ms="3600000")
    topic = described(cluster, ConfigResource.Type.TOPIC, "kept")
    sources = {name: ConfigSource(topic[name].source) for name in ("retention.ms", "segment.bytes")}
    assert sources == {
        "retention.ms": ConfigSource.DYNAMIC_TOPIC_CONFIG,
        "segment.bytes": ConfigSource.DEFAULT_CONFIG,
    }
    assert (topic["retention.ms"].value, topic["segment.bytes"].value) == ("3600000", "1073741824")
    broker = described(cluster, ConfigResource.Type.BROKER, "2")
    assert broker["num.partitions"].value == "2"
    assert ConfigSource(broker["num.partitions"].source) is ConfigSource.STATIC_BROKER_CONFIG
    assert broker["num.partitions"].is_read_only and not broker["log.retention.ms"].is_read_only


def alter(cluster: Cluster, kind: ConfigResource.Type, name: str, key: str, value: str) -> None:
    entry = ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
    [done] = cluster.admin.incremental_alter_configs([ConfigResource(kind, name, incremental_configs=[entry])]).values()
    done.result(PATIENCE_S)


def is_too_large(cluster: Cluster, topic: str) -> bool:
    """Whether 1,000 bytes are more than the topic takes."""
    told: list[Any] = []
    producer = Producer({"log_level": 0, "bootstrap.servers": cluster.bootstrap})
    producer.produce(topic, b"x" * 1000, on_delivery=lambda error, _: told.append(error))
    assert producer.flush(PATIENCE_S) == 0
    return told[0] is not None and told[0].code() == confluent_kafka.KafkaError.MSG_SIZE_TOO_LARGE


def test_configurations_take_effect_while_brokers_run(cluster: Cluster) -> None:
    """Of a topic, by a client and by a tool that writes ZooKeeper; of a broker."""
    cluster.create("small", factor=1)
    assert not is_too_large(cluster, "small")
    alter(cluster, ConfigResource.Type.TOPIC, "small", "max.message.bytes", "500")
    eventually(lambda: is_too_large(cluster, "small"), "the limit")
    with kazoo(cluster.zookeeper) as tool:
        tool.set("/config/topics/small", b'{"version":1,"config":{}}')
        tool.create("/config/changes/config_change_", b'{"version":2,"entity_path":"topics/small"}', sequence=True)
    eventually(lambda: not is_too_large(cluster, "small"), "no limit")
    leader = str(cluster.leaders("small")[0])
    alter(cluster, ConfigResource.Type.BROKER, leader, "message.max.bytes", "500")
    eventually(lambda: is_too_large(cluster, "small"), "the limit of its leader")
    alter(cluster, ConfigResource.Type.BROKER, leader, "message.max.bytes", "100000")
    eventually(lambda: not is_too_large(cluster, "small"), "a higher limit")
    with pytest.raises(KafkaException, match=r"Cannot update these configs dynamically: num\.partitions"):
        alter(cluster, ConfigResource.Type.BROKER, leader, "num.partitions", "5")


async def connect(address: str) -> Connection:
    host, _, port = address.partition(":")
    return await Connection.open(host, int(port), "test", PATIENCE_S)


async def test_only_the_controller_does_what_controllers_do(cluster: Cluster) -> None:
    other = next(broker for broker in cluster.brokers if broker.id != cluster.controller)
    connection = await connect(other.address)
    module = shapes(ApiKey.CREATE_TOPICS, 5, "request")
    topic = module.CreatableTopic(name="t", num_partitions=1, replication_factor=1, assignments=(), configs=())
    response = await connection.ask(module.CreateTopicsRequest(topics=(topic,)))
    assert response.topics[0].error_code.name == "not_controller"
    module = shapes(ApiKey.ELECT_LEADERS, 2, "request")
    response = await connection.ask(module.ElectLeadersRequest(election_type=0, topic_partitions=None))
    assert response.error_code.name == "not_controller"
    await connection.close()


@pytest.mark.parametrize("version", range(8))
async def test_topics_are_created_in_every_version(cluster: Cluster, version: int) -> None:
    controller = next(broker for broker in cluster.brokers if broker.id == cluster.controller)
    connection = await connect(controller.address)
    module = shapes(ApiKey.CREATE_TOPICS, version, "request")
    names = (f"made-{version}", "no name")
    shape = module.CreatableTopic
    topics = tuple(shape(name=n, num_partitions=1, replication_factor=1, assignments=(), configs=()) for n in names)
    response = await connection.ask(shaped(module.CreateTopicsRequest, topics=topics))
    assert [each.error_code.name for each in response.topics] == ["none", "invalid_topic_exception"]
    await connection.close()


@pytest.mark.parametrize("version", range(5))
async def test_configurations_are_described_in_every_version(cluster: Cluster, version: int) -> None:
    connection = await connect(cluster.brokers[0].address)
    module = shapes(ApiKey.DESCRIBE_CONFIGS, version, "request")
    keys = ("broker.id", "log.dir")
    asked = module.DescribeConfigsResource(resource_type=4, resource_name="1", configuration_keys=keys)
    response = await connection.ask(shaped(module.DescribeConfigsRequest, resources=(asked,), include_synonyms=True))
    told = {each.name: each for each in response.results[0].configs}
    assert {name: each.value for name, each in told.items()} == {"broker.id": "1", "log.dir": "/tmp/kafka-logs"}
    if version == 0:
        assert {name: each.is_default for name, each in told.items()} == {"broker.id": False, "log.dir": True}
    else:
        assert {name: each.config_source for name, each in told.items()} == {"broker.id": 4, "log.dir": 5}
        assert [each.source for each in told["broker.id"].synonyms] == [4, 5]
    await connection.close()


async def test_no_two_producers_get_the_same_id(cluster: Cluster) -> None:
    connections = [await connect(broker.address) for broker in cluster.brokers]
    module = shapes(ApiKey.INIT_PRODUCER_ID, 4, "request")
    wish = module.InitProducerIdRequest(transactional_id=None, transaction_timeout=module.i32Timedelta.resolution * 0)
    answers = await asyncio.gather(*(each.ask(wish) for each in connections for _ in range(5)))
    assert {each.error_code.name for each in answers} == {"none"}
    assert len({each.producer_id for each in answers}) == 15
    for each in connections:
        await each.close()


async def test_garbage_costs_its_sender_the_connection_and_nobody_else_anything(cluster: Cluster) -> None:
    broker = cluster.brokers[0]
    good = await connect(broker.address)
    host, _, port = broker.address.partition(":")
    frames = {
        "too long": b"\x7f\xff\xff\xff",
        "negative": b"\xff\xff\xff\xff",
        "not served": b"\0\0\0\x0a\0\x1d\0\1\0\0\0\1\xff\xff",
        "garbled": b"\0\0\0\x10\0\3\0\5\0\0\0\1\0\2hi\x7f\xff\xff\xff",
    }
    for frame in frames.values():
        with socket.create_connection((host, int(port)), PATIENCE_S) as bad:
            bad.sendall(frame)
            assert bad.recv(100) == b""
    eventually(lambda: broker.log.count("closing the connection of 127.0.0.1:") == len(frames), "a line for each")
    request = shapes(ApiKey.METADATA, 12, "request").MetadataRequest
    response = await good.ask(shaped(request, topics=(), include_topic_authorized_operations=False))
    assert len(response.brokers) == 3
    await good.close()
