"""What a reassignment's replication throttle sets, and what takes it off again. It says who waits, not when.

Source: KIP-73 (0.10.1); `ReassignPartitionsCommand.{calculateLeaderThrottles,calculateFollowerThrottles}` (3.9): all
that hold a partition that is copied send slowly, and those that get it receive slowly. Kafka's tool takes every
throttle off at the end; this brings back what was there before.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
TOPIC_KEYS = (LEADER_REPLICAS, FOLLOWER_REPLICAS)
BROKER_KEYS = (LEADER_RATE, FOLLOWER_RATE)

Settings = Mapping[str, Mapping[str, str | None]]
"""By entity as it is named below `/config` (`topics/orders`, `brokers/1`): key → value; None: not set."""


class Copying(NamedTuple):
    """A partition, who holds it and who gets a copy."""

    topic: str
    partition: int
    holders: tuple[int, ...]
    receivers: tuple[int, ...]


def throttle_of(copied: Iterable[Copying], rate: int) -> Settings:
    """What has to be set. `rate` is bytes/s that each broker may send, and receive."""
    replicas: dict[str, dict[str, list[str]]] = {}
    brokers: set[int] = set()
    for copy in sorted(copied):
        if not copy.receivers:
            continue
        lists = replicas.setdefault(f"topics/{copy.topic}", {key: [] for key in TOPIC_KEYS})
        for key, ids in zip(TOPIC_KEYS, (copy.holders, copy.receivers), strict=True):
            lists[key] += [f"{copy.partition}:{broker}" for broker in ids]
        brokers |= {*copy.holders, *copy.receivers}
    named = {entity: {key: ",".join(ids) for key, ids in lists.items()} for entity, lists in replicas.items()}
    return named | {f"brokers/{broker}": {key: str(rate) for key in BROKER_KEYS} for broker in sorted(brokers)}


def present(configs: Mapping[str, Mapping[str, str]], entities: Iterable[str]) -> dict[str, dict[str, str | None]]:
    """What is set of a throttle's keys now; entities that are not known are left out."""
    return {name: {key: configs[name].get(key) for key in keys_of(name)} for name in entities if name in configs}


def keys_of(entity: str) -> tuple[str, ...]:
    """The keys that a throttle sets there."""
    return TOPIC_KEYS if entity.startswith("topics/") else BROKER_KEYS


def missing(wanted: Settings, now: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str | None]]:
    """What is to be set for `wanted` to hold, of entities that are known."""
    lacks = {
        entity: {key: value for key, value in values.items() if now[entity].get(key) != value}
        for entity, values in wanted.items()
        if entity in now
    }
    return {entity: values for entity, values in lacks.items() if values}


def to_restore(kept: Settings, ours: Sequence[Settings], now: Mapping[str, Mapping[str, str]]) -> Settings:
    """Of what was there before, all that is one of our own values now; what others set meanwhile stays."""
    back = {
        entity: {
            key: before
            for key, before in values.items()
            if any(now[entity].get(key) == mine.get(entity, {}).get(key) for mine in ours)
        }
        for entity, values in kept.items()
        if entity in now
    }
    return missing(back, now)
