"""What a sandbox's broker is told, read by the broker's own reader of settings."""

import pytest

from model.broker.settings.server_properties import read_server_properties
from model.sandbox.broker_process import broker_properties, properties_text
from model.sandbox.first_topics import first_topics
from model.sandbox.options import SandboxOptions

ADVERTISED = {"CLIENT": "127.0.0.1:40001", "REPLICATION": "127.0.0.1:40002"}

ZOOKEEPER = {"broker.id": "2", "zookeeper.connect": "127.0.0.1:40000/kafka", "zookeeper.session.timeout.ms": "6000"}
KRAFT = {
    "process.roles": "broker",
    "node.id": "2",
    "controller.quorum.bootstrap.servers": "127.0.0.1:40101,127.0.0.1:40102",
    "broker.heartbeat.interval.ms": "1000",
    "broker.session.timeout.ms": "6000",
}


def properties(options: SandboxOptions, broker: int = 2) -> dict[str, str]:
    metadata = KRAFT if options.is_kraft else ZOOKEEPER
    return dict(broker_properties(options, broker, folder="/lab/broker-2", metadata=metadata, advertised=ADVERTISED))


@pytest.mark.parametrize("options", [SandboxOptions(), SandboxOptions(mode="kraft")])
def test_a_broker_understands_all_of_it(options: SandboxOptions):
    read = read_server_properties(properties_text(properties(options)), "server.properties")
    assert not read.refusals
    told_to_forecasts = "broker.session.timeout.ms has no effect here"  # controllers obey it
    assert [each.partition(": ")[2] for each in read.remarks] == [told_to_forecasts] * options.is_kraft


def test_brokers_listen_where_they_like_and_tell_the_proxies():
    told = properties(SandboxOptions())
    assert told["listeners"] == "CLIENT://127.0.0.1:0,REPLICATION://127.0.0.1:0"
    assert told["advertised.listeners"] == "CLIENT://127.0.0.1:40001,REPLICATION://127.0.0.1:40002"
    assert told["log.dirs"] == "/lab/broker-2/logs"


def test_racks_in_turn_and_none():
    options = SandboxOptions(brokers=5, racks=2)
    assert [options.rack_of(broker) for broker in options.broker_ids] == ["r1", "r2", "r1", "r2", "r1"]
    assert "broker.rack" not in properties(SandboxOptions(racks=0))


@pytest.mark.parametrize(("brokers", "factor", "least"), [(1, "1", "1"), (2, "2", "1"), (3, "3", "2"), (5, "3", "2")])
def test_no_more_copies_than_brokers(brokers: int, factor: str, least: str):
    told = properties(SandboxOptions(brokers=brokers))
    assert (told["default.replication.factor"], told["min.insync.replicas"]) == (factor, least)
    assert {topic.replicas for topic in first_topics(SandboxOptions(brokers=brokers))} == {int(factor)}


def test_ones_own_settings_win():
    assert properties(SandboxOptions(settings={"num.partitions": "1"}))["num.partitions"] == "1"


def test_first_topics():
    assert [(topic.name, topic.partitions) for topic in first_topics(SandboxOptions(topics=10, partitions=2))] == [
        (f"topic-{number:02}", 2) for number in range(1, 11)
    ]
    assert {topic.name for topic in first_topics(SandboxOptions())} == {"orders", "payments", "shipments", "customers"}
    assert first_topics(SandboxOptions(topics=0)) == ()
