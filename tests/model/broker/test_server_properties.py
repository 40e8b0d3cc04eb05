"""A server.properties, as an operator writes it, and what is said about it."""

from __future__ import annotations

import pytest

from model.broker.settings import keys
from model.broker.settings.server_properties import read_server_properties
from model.broker.settings.settings import (
    Listener,
    Settings,
    advertised_listeners_of,
    inter_broker_listener_of,
    listeners_of,
    quorum_addresses,
    replication_settings,
)

KAFKAS_OWN = """\
# The id of the broker.
broker.id=0
#listeners=PLAINTEXT://:9092
num.network.threads=3
socket.request.max.bytes=104857600
log.dirs=/tmp/kafka-logs
num.partitions=1
offsets.topic.replication.factor=1
log.retention.hours=168
log.retention.check.interval.ms=300000
zookeeper.connect=localhost:2181
zookeeper.connection.timeout.ms=18000
group.initial.rebalance.delay.ms=0
"""


def lines_of(text: str, *, start: str = "zookeeper.connect=localhost\n") -> tuple[str, ...]:
    return read_server_properties(start + text).refusals


def test_kafkas_own_file_is_fine() -> None:
    read = read_server_properties(KAFKAS_OWN)
    assert read.refusals == ()
    assert read.remarks == ("server.properties:4: num.network.threads has no effect here",)
    assert read.settings[keys.BROKER_ID] == 0
    assert read.settings[keys.ZOOKEEPER_CONNECTION_TIMEOUT_MS] == 18_000


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("min.insync.replicas=two", f"min.insync.replicas takes a whole number from 1 to {2**31 - 1}, not 'two'"),
        ("min.insync.replicas=0", f"min.insync.replicas takes a whole number from 1 to {2**31 - 1}, not '0'"),
        (
            "min.insync.replicas=99999999999",
            f"min.insync.replicas takes a whole number from 1 to {2**31 - 1}, not '99999999999'",
        ),
        ("num.partitions=", f"num.partitions takes a whole number from 1 to {2**31 - 1}, not ''"),
        ("num.partitions=٣", f"num.partitions takes a whole number from 1 to {2**31 - 1}, not '٣'"),
        ("num.partitions=--1", f"num.partitions takes a whole number from 1 to {2**31 - 1}, not '--1'"),
        ("delete.topic.enable=yes", "delete.topic.enable takes true or false, not 'yes'"),
        ("log.cleanup.policy=shred", "log.cleanup.policy takes some of compact, delete, with commas, not 'shred'"),
        (
            "log.cleaner.min.cleanable.ratio=1.5",
            "log.cleaner.min.cleanable.ratio takes a number from 0 to 1, not '1.5'",
        ),
        (
            "log.cleaner.min.cleanable.ratio=nan",
            "log.cleaner.min.cleanable.ratio takes a number from 0 to 1, not 'nan'",
        ),
        (
            "log.message.timestamp.type=Now",
            "log.message.timestamp.type takes one of CreateTime, LogAppendTime, not 'Now'",
        ),
    ],
)
def test_a_bad_value_is_one_line_that_names_file_line_key_and_value(text: str, line: str) -> None:
    assert lines_of(text) == (f"server.properties:2: {line}",)


def test_what_java_takes_is_taken() -> None:
    read = read_server_properties(
        "zookeeper.connect=z\ndelete.topic.enable= TRUE\nnum.partitions= +7 \nbroker.rack=r 1\n"
    )
    assert read.refusals == ()
    assert read.settings[keys.DELETE_TOPIC_ENABLE] is True
    assert read.settings[keys.BROKER_RACK] == "r 1"


def test_all_that_is_wrong_is_told_at_once_and_the_later_of_two_wins() -> None:
    text = "num.partitions=x\nlisteners\nnum.partitions=2\ndelete.topic.enable=2\nmin.isr=3\n"
    read = read_server_properties("zookeeper.connect=z\n" + text, "broker-1.properties")
    assert read.refusals == ("broker-1.properties:5: delete.topic.enable takes true or false, not '2'",)
    assert read.remarks[0].startswith("broker-1.properties:6: 'min.isr' is no key of server.properties")


@pytest.mark.parametrize(
    "text",
    [
        "replica.lag.time.max.ms=500",
        "replica.fetch.wait.max.ms=30000",
        "replica.socket.timeout.ms=500",
        "broker.id=1000",
        "broker.id=0\nbroker.id.generation.enable=false",
        "inter.broker.protocol.version=2.8\nlog.message.format.version=2.8",
        "inter.broker.protocol.version=3.0\nlog.message.format.version=3.9",
        "log.retention.ms=1",
        "log.retention.ms=-1",
    ],
)
def test_the_last_value_that_is_no_contradiction_is_taken(text: str) -> None:
    assert lines_of(text) == ()


def test_text_that_is_no_properties_is_one_line() -> None:
    assert lines_of("a=\\u12") == (
        "server.properties: line 2: \\u12 is no character: \\u takes four hexadecimal digits",
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("broker.id=1001", "broker.id is 1001: it takes 0 to 1000 (reserved.broker.max.id), or -1 to be given one"),
        (
            "broker.id.generation.enable=false",
            "broker.id is -1: without broker.id.generation.enable it takes 0 or more",
        ),
        (
            "replica.lag.time.max.ms=400",
            "replica.fetch.wait.max.ms is 500: it must not be above replica.lag.time.max.ms (400)",
        ),
        (
            "replica.socket.timeout.ms=400",
            "replica.socket.timeout.ms is 400: it must be replica.fetch.wait.max.ms (500) at least",
        ),
        ("log.retention.hours=0", "log.retention.hours is 0: it takes 1 or more, or -1 to keep all"),
        (
            "inter.broker.protocol.version=0.7",
            "inter.broker.protocol.version: '0.7' is not a release of Kafka that kdrill knows: name one from 0.8.0 on, "
            "as 3.9",
        ),
        ("listeners=9092", "listeners takes NAME://HOST:PORT, with commas, not '9092'"),
        ("listeners=PLAINTEXT://h:99999", "listeners takes NAME://HOST:PORT, with commas, not 'PLAINTEXT://h:99999'"),
        ("listeners=", "listeners is empty: it takes NAME://HOST:PORT, as PLAINTEXT://:9092"),
        ("listeners=PLAINTEXT://a:1,PLAINTEXT://b:2", "listeners names PLAINTEXT twice"),
        (
            "advertised.listeners=PLAINTEXT://0.0.0.0:9092",
            "advertised.listeners cannot have 0.0.0.0: nobody can connect to it, name a host",
        ),
        ("inter.broker.listener.name=INSIDE", "inter.broker.listener.name is INSIDE, which no advertised listener has"),
    ],
)
def test_settings_that_contradict_each_other_are_one_line(text: str, line: str) -> None:
    assert lines_of(text) == (f"server.properties: {line}",)


def test_zookeeper_must_be_named() -> None:
    assert lines_of("", start="") == (
        "server.properties: zookeeper.connect is missing: name a server, as localhost:2181/kafka",
    )


KRAFT = "process.roles=broker\nnode.id=4\ncontroller.quorum.bootstrap.servers=c1:9093,[::1]:9094\n"


def test_in_kraft_mode_controllers_stand_in_for_zookeeper() -> None:
    read = read_server_properties(KRAFT)
    assert (read.refusals, read.remarks) == ((), ())
    assert read.settings[keys.BROKER_ID] == 4
    assert quorum_addresses(read.settings) == (("c1", 9093), ("::1", 9094))
    voters = read_server_properties("controller.quorum.voters=1@c1:9093,2@c2:9093")
    assert quorum_addresses(voters.settings) == (("c1", 9093), ("c2", 9093))


@pytest.mark.parametrize(
    ("lines", "refusal"),
    [
        ("zookeeper.connect=a:1", "process.roles and zookeeper.connect are both set"),
        ("process.roles=broker,controller", "here a broker is no controller"),
        ("controller.quorum.bootstrap.servers=c1", "takes HOST:PORT, with commas, not 'c1'"),
        ("controller.quorum.bootstrap.servers=", "controller.quorum.bootstrap.servers is missing"),
        ("node.id=-1", "in KRaft mode it takes 0 or more"),
        ("broker.id=5", "they have to be the same"),
    ],
)
def test_in_kraft_mode_what_cannot_be_is_refused(lines: str, refusal: str) -> None:
    refusals = read_server_properties(KRAFT + lines).refusals
    assert any(refusal in each for each in refusals), refusals


def test_only_plain_text_is_served() -> None:
    (refusal, _) = lines_of("listeners=SSL://:9093")
    assert refusal == (
        "server.properties: listener SSL has the protocol SSL: only PLAINTEXT is served here "
        "(listener.security.protocol.map)"
    )


def test_listeners_are_taken_apart() -> None:
    text = (
        "zookeeper.connect=z\nlisteners=inside://:9092, OUTSIDE://[::1]:19092\n"
        "advertised.listeners=INSIDE://one:9092,OUTSIDE://one.example:19092\n"
        "listener.security.protocol.map=INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT\ninter.broker.listener.name=INSIDE\n"
    )
    read = read_server_properties(text)
    assert read.refusals == ()
    assert listeners_of(read.settings) == (Listener("INSIDE", "", 9092), Listener("OUTSIDE", "::1", 19092))
    assert advertised_listeners_of(read.settings)[1] == Listener("OUTSIDE", "one.example", 19092)
    assert inter_broker_listener_of(read.settings) == "INSIDE"
    anywhere = (Listener("PLAINTEXT", "127.0.0.1", 9092),)
    assert advertised_listeners_of(Settings()) == listeners_of(Settings()) == anywhere


def test_an_advertised_listener_must_be_listened_on() -> None:
    assert lines_of("advertised.listeners=PLAINTEXT://a:1,OUTSIDE://b:2") == (
        "server.properties: advertised.listeners has OUTSIDE, which listeners has not",
    )


def test_the_rule_of_0_8_can_be_chosen() -> None:
    text = "zookeeper.connect=z\ninter.broker.protocol.version=0.8.2\nreplica.lag.max.messages=100\n"
    read = read_server_properties(text)
    assert read.remarks == read.refusals == ()
    assert replication_settings(read.settings).rules.lag == "silent, or too many messages"
    assert read.settings[keys.REPLICA_LAG_MAX_MESSAGES] == 100


def test_numbers_of_keys_without_effect_are_checked_too() -> None:
    """Kafka would not start with them, and what they are set to is told."""
    read = read_server_properties("zookeeper.connect=z:1\nnum.io.threads=many\nssl.client.auth=perhaps\n")
    most = 2**31 - 1
    assert read.refusals == (f"server.properties:2: num.io.threads takes a whole number from 1 to {most}, not 'many'",)
    assert "num.io.threads" not in read.settings.given
