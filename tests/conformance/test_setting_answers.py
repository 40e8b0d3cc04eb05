"""A real broker of 3.9.1 and ours are told the same settings and quotas, and take, refuse and describe them alike."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from model.broker.settings.catalogue import ALL_TOPIC_KEYS, DYNAMIC_KEYS, RATE_KEYS, broker_key
from model.broker.settings.keys import as_text
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import shapes
from model.hosts.wire.names import ApiKey, error_name
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.conformance.kafka.releases import install_or_skip
from tests.harness.host_processes import LONG_SESSION, BrokerProcess
from tests.harness.kafka import Cluster
from tests.harness.ours_beside_kafka import connected, two_alike

pytestmark = [pytest.mark.conformance, pytest.mark.timeout(300)]

SET, DELETE, APPEND, SUBTRACT = range(4)
TOPIC, BROKER = 2, 4
SETTINGS = """
log.retention.hours=24
message.max.bytes=2000000
some.unknown=5
num.io.threads=2
num.network.threads=1
log.cleaner.enable=false
"""
OF_THIS_MACHINE = ("listener", "log.dirs", "zookeeper.", "broker.rack", "kdrill.")
TRIES = {
    "BOOLEAN": ("true", "x", ""),
    "INT": ("1", "2", "7", "x", "-1", "2147483648"),
    "LONG": ("0", "1", "5000000", "x", "-2"),
    "SHORT": ("70", "x", "-1"),
    "DOUBLE": ("0.5", "x", "-1", "2"),
    "STRING": ("none", "zstd", ""),
    "LIST": ("compact", "", "0:1,1:2", "x:1", "*"),
    "CLASS": ("no.such.Class",),
    "PASSWORD": (),
}
Setting = tuple[str, int, str | None]
LEFT_OUT = {"remote.storage.enable", "num.network.threads", "advertised.listeners", "listeners"}
"""Where the real one looks at what else is on the machine, or at settings of before."""


class Broker:
    """A connection to one of them."""

    def __init__(self, connection: Connection) -> None:
        self.ask = connection.ask

    async def alter(self, kind: int, name: str, settings: Sequence[Setting], *, dry: bool = False) -> str:
        module: Any = shapes(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, "request")
        configs = tuple(module.AlterableConfig(name=n, config_operation=op, value=v) for n, op, v in settings)
        resource = module.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
        response = await self.ask(module.IncrementalAlterConfigsRequest(resources=(resource,), validate_only=dry))
        return error_name(response.responses[0].error_code)

    async def replace(self, kind: int, name: str, settings: Mapping[str, str | None]) -> str:
        module: Any = shapes(ApiKey.ALTER_CONFIGS, 2, "request")
        configs = tuple(module.AlterableConfig(name=n, value=v) for n, v in settings.items())
        resource = module.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
        response = await self.ask(module.AlterConfigsRequest(resources=(resource,), validate_only=False))
        return error_name(response.responses[0].error_code)

    async def describe(self, kind: int, name: str) -> tuple[str, dict[str, Any]]:
        """The error, and of each key that says nothing of this machine: value, source, marks, type, synonyms."""
        module: Any = shapes(ApiKey.DESCRIBE_CONFIGS, 4, "request")
        resource = module.DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
        request = module.DescribeConfigsRequest(
            resources=(resource,), include_synonyms=True, include_documentation=False
        )
        (result,) = (await self.ask(request)).results
        return error_name(result.error_code), {
            each.name: (
                *(each.value, each.config_source, each.read_only, each.is_sensitive, each.config_type),
                [(synonym.source, synonym.name, synonym.value) for synonym in each.synonyms],
            )
            for each in result.configs
            if not each.name.startswith(OF_THIS_MACHINE)
        }


class Both(NamedTuple):
    theirs: Broker
    ours: Broker


@pytest.fixture(scope="module")
def places(zookeeper_server: EmbeddedZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    folder = tmp_path_factory.mktemp("settings-")
    chroot = f"{zookeeper_server.address}/{folder.name}"
    with Cluster(install_or_skip("3.9.1"), chroot, folder, size=1, settings=SETTINGS) as java:
        # Ours has the real one's file, but for where things are.
        lines = (folder / "broker-1" / "server.properties").read_text().splitlines()
        alike = [line for line in lines if not line.startswith(("broker.id", "listeners", "log.dirs", "zookeeper"))]
        ours = BrokerProcess(folder / "ours", f"{chroot}-ours", 1)
        text = "".join(line + "\n" for line in ours.properties.read_text().splitlines() if line.startswith(KEPT_LINES))
        ours.properties.write_text(text + "\n".join(alike) + f"\n{LONG_SESSION}\n")
        with two_alike(java, ours, {"orders": {}}) as both_places:
            yield both_places
    shutil.rmtree(folder)


KEPT_LINES = ("broker.id", "listeners", "log.dirs", "zookeeper.connect=", "kdrill")


@pytest.fixture
async def both(places: tuple[str, str]) -> AsyncIterator[Both]:
    async with connected(*places) as connections:
        brokers = [Broker(connection) for connection in connections]
        for broker in brokers:
            for name in ("1", ""):
                assert await broker.replace(BROKER, name, {}) == "NONE"
        yield Both(*brokers)


async def test_every_key_is_taken_or_refused_alike(both: Both) -> None:
    names = sorted((DYNAMIC_KEYS | RATE_KEYS.keys() | {"broker.rack", "log.retention.hours", "made.up"}) - LEFT_OUT)
    prefixed = [
        f"listener.name.other.{name}"
        for name in names
        if name.startswith(("ssl.", "max.connection")) and "per.ip" not in name
    ]
    unlike: list[object] = []
    for kind, places, keys in ((BROKER, ("1", ""), names + prefixed), (TOPIC, ("orders",), sorted(ALL_TOPIC_KEYS))):
        for name in keys:
            key = broker_key(name) if kind == BROKER else ALL_TOPIC_KEYS[name]
            values = ("1",) if key is None else TRIES[key.kind.type]
            if key is not None and key.default is not None:
                values += (as_text(key.default),)
            for place in places:
                for value in values if name not in LEFT_OUT else ("false",):
                    answers = [await broker.alter(kind, place, [(name, SET, value)], dry=True) for broker in both]
                    if answers[0] != answers[1]:
                        unlike.append((name, place, value, *answers))
    assert not unlike, "\n".join(map(str, unlike))


ODD: list[tuple[int, str, list[Setting]]] = [
    (TOPIC, "orders", [("retention.ms", APPEND, "5")]),
    (TOPIC, "orders", [("nosuch", APPEND, "5")]),
    (TOPIC, "orders", [("nosuch", DELETE, None)]),
    (TOPIC, "orders", [("nosuch", SET, "1")]),
    (TOPIC, "orders", [("retention.ms", SET, None)]),
    (TOPIC, "orders", [("retention.ms", SET, "5"), ("retention.ms", DELETE, None)]),
    (TOPIC, "orders", [("retention.ms", 9, "5")]),
    (TOPIC, "orders", [("min.compaction.lag.ms", SET, "10"), ("max.compaction.lag.ms", SET, "5")]),
    (TOPIC, "", [("retention.ms", SET, "5")]),
    (TOPIC, "nosuch", [("retention.ms", SET, "5")]),
    (TOPIC, "no such", [("retention.ms", SET, "5")]),
    (BROKER, "2", [("log.retention.ms", SET, "5")]),
    (BROKER, "x", [("log.retention.ms", SET, "5")]),
    (BROKER, "1", [("auto.create.topics.enable", DELETE, None)]),
    (8, "1", [("root", DELETE, None)]),
    (8, "1", [("no.such.logger", SET, "DEBUG")]),
    (8, "", [("root", SET, "INFO")]),
    (16, "x", [("a", SET, "b")]),
    (0, "x", [("a", SET, "b")]),
]


async def test_odd_requests_are_refused_alike(both: Both) -> None:
    for kind, name, settings in ODD:
        answers = [await broker.alter(kind, name, settings, dry=True) for broker in both]
        assert answers[0] == answers[1], (kind, name, settings)
    for kind, name in ((TOPIC, ""), (TOPIC, "nosuch"), (TOPIC, "no such"), (BROKER, "2"), (BROKER, "x"), (16, "x")):
        told = [await broker.describe(kind, name) for broker in both]
        assert told[0] == told[1], (kind, name)
    for broker in both:
        assert await broker.replace(TOPIC, "orders", {"retention.ms": None}) == "INVALID_REQUEST"
        assert await broker.replace(8, "1", {"root": "INFO"}) == "INVALID_REQUEST"


STEPS = 12


@pytest.mark.parametrize("seed", range(4))
async def test_what_is_set_is_described_alike(both: Both, seed: int) -> None:
    dice = random.Random(seed)
    of_topic = ["retention.ms", "cleanup.policy", "segment.ms", "flush.ms", "leader.replication.throttled.replicas"]
    of_broker = ["log.retention.ms", "log.cleanup.policy", "log.roll.ms", "log.flush.interval.ms", "made.up"]
    of_broker += ["message.max.bytes", "leader.replication.throttled.rate", "background.threads", "log.roll.jitter.ms"]
    of_broker += ["listener.name.other.max.connections", "log.cleaner.io.max.bytes.per.second"]
    for _ in range(STEPS):
        kind, name = dice.choice(((TOPIC, "orders"), (BROKER, "1"), (BROKER, "1"), (BROKER, "")))
        key = dice.choice(of_topic if kind == TOPIC else of_broker)
        operation = dice.choice((SET, SET, SET, DELETE, APPEND, SUBTRACT))
        value = dice.choice(("compact", "delete", "1:1,2:1", "*") if "pol" in key or "replicas" in key else ("7", "12"))
        answers = [await broker.alter(kind, name, [(key, operation, value)]) for broker in both]
        assert answers[0] == answers[1], (kind, name, key, operation, value)
        await told_alike(both)


async def told_alike(both: Both) -> None:
    """A broker hears of what was set by ZooKeeper, a moment later."""
    unlike: dict[str, Any] = {}
    for _ in range(200):
        told = [await asyncio.gather(*(each.describe(*what) for what in DESCRIBED)) for each in both]
        theirs, ours = ({(n, k): v for n, (_, e) in enumerate(d) for k, v in e.items()} for d in told)
        unlike = {str(k): (theirs.get(k), ours.get(k)) for k in {*theirs, *ours} if theirs.get(k) != ours.get(k)}
        if not unlike:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(unlike)


DESCRIBED = ((TOPIC, "orders"), (BROKER, "1"), (BROKER, ""))
Parts = tuple[tuple[str, str | None], ...]
QUOTAS: list[tuple[Parts, tuple[tuple[str, float | None], ...]]] = [
    ((("user", "u"), ("client-id", "c")), (("producer_byte_rate", 1000.0),)),
    ((("user", None),), (("consumer_byte_rate", 5.5),)),
    ((("client-id", "*"),), (("request_percentage", 5.5),)),
    ((("client-id", ""),), (("request_percentage", 5.5),)),
    ((("ip", "127.0.0.1"),), (("connection_creation_rate", 5.0),)),
    ((("ip", "127.0.0.1"), ("user", "x")), (("connection_creation_rate", 5.0),)),
    ((("ip", None),), (("connection_creation_rate", 5.0),)),
    ((("ip", "127.0.0.1"),), (("producer_byte_rate", 5.0),)),
    ((("user", "u"),), (("nosuch", 5.0),)),
    ((("user", "u"),), (("nosuch", None),)),
    ((("user", "u"),), (("producer_byte_rate", -5.0),)),
    ((("user", "u"),), (("producer_byte_rate", float(2**63)),)),
    ((("nosuch", "u"),), (("producer_byte_rate", 5.0),)),
    ((), (("producer_byte_rate", 5.0),)),
    ((("user", "a b/c%"),), (("request_percentage", 0.0), ("controller_mutation_rate", 2.0))),
    ((("user", "u"),), (("producer_byte_rate", 5.0), ("producer_byte_rate", 6.0))),
    ((("user", "u"),), (("producer_byte_rate", None),)),
    ((("user", None), ("client-id", None)), (("producer_byte_rate", 98.0),)),
    ((("user", "w"), ("client-id", None)), (("producer_byte_rate", 97.0),)),
    ((("ip", "127.0.0.1"),), (("connection_creation_rate", 5.5),)),
]
EXACT, DEFAULT, ANY = range(3)
QUESTIONS: list[tuple[tuple[tuple[str, int, str | None], ...], bool]] = [
    ((), False),
    ((), True),
    ((("user", ANY, None),), False),
    ((("user", EXACT, "u"),), False),
    ((("user", EXACT, "u"),), True),
    ((("user", DEFAULT, None),), False),
    ((("client-id", ANY, None),), True),
    ((("ip", DEFAULT, None),), False),
    ((("user", ANY, None), ("client-id", ANY, None)), False),
    ((("user", ANY, None), ("ip", ANY, None)), False),
    ((("nosuch", ANY, None),), False),
    ((("user", 3, None),), False),
    ((("user", ANY, None), ("user", ANY, None)), False),
]


async def test_quotas_are_taken_refused_and_described_alike(both: Both) -> None:
    for parts, operations in QUOTAS:
        answers = [await alter_quota(broker, parts, operations) for broker in both]
        assert answers[0] == answers[1], (parts, operations)
    for components, strict in QUESTIONS:
        told = [await describe_quotas(broker, components, strict=strict) for broker in both]
        assert told[0] == told[1], (components, strict)


async def alter_quota(broker: Broker, parts: Parts, operations: Sequence[tuple[str, float | None]]) -> str:
    module: Any = shapes(ApiKey.ALTER_CLIENT_QUOTAS, 1, "request")
    entity = tuple(module.EntityData(entity_type=kind, entity_name=name) for kind, name in parts)
    ops = tuple(module.OpData(key=key, value=value or 0.0, remove=value is None) for key, value in operations)
    entry = module.EntryData(entity=entity, ops=ops)
    response = await broker.ask(module.AlterClientQuotasRequest(entries=(entry,), validate_only=False))
    return error_name(response.entries[0].error_code)


async def describe_quotas(broker: Broker, components: Sequence[tuple[str, int, str | None]], *, strict: bool) -> Any:
    module: Any = shapes(ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, "request")
    asked = tuple(
        module.ComponentData(entity_type=kind, match_type=match, match=name) for kind, match, name in components
    )
    response = await broker.ask(module.DescribeClientQuotasRequest(components=asked, strict=strict))
    entries = (
        None
        if response.entries is None
        else {
            (
                frozenset((each.entity_type, each.entity_name) for each in entry.entity),
                frozenset((each.key, each.value) for each in entry.values),
            )
            for entry in response.entries
        }
    )
    return error_name(response.error_code), entries
