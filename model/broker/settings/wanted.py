"""What is to be said of settings that an operator wants for topics or brokers, before anything is changed. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from model.broker.settings.catalogue import KEYS, TOPIC_KEYS, remark_on
from model.broker.settings.layers import DYNAMIC_KEYS

TAKEN_WHILE_RUNNING = frozenset(
    {
        "advertised.listeners",
        "follower.replication.throttled.rate",
        "leader.replication.throttled.rate",
        "listener.security.protocol.map",
        "listeners",
        "log.cleaner.backoff.ms",
        "num.replica.fetchers",
        "producer.id.expiration.ms",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    }
)
"""Beside those that topics can override: `DynamicBrokerConfig.AllDynamicConfigs` (3.9), and the throttles of KIP-73."""


class Said(NamedTuple):
    """`refusals`: values that no broker takes; `remarks`: names that look wrong."""

    refusals: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def said_of(kind: str, wanted: Mapping[str, str]) -> Said:
    """Of settings of `topics` or `brokers`; keys of others, and of plug-ins, are the operator's own to know."""
    of_topic = kind == "topics"
    keys = TOPIC_KEYS if of_topic else KEYS
    refusals: list[str] = []
    remarks: list[str] = []
    for name, value in wanted.items():
        key = keys.get(name)
        if key is None:
            remark = remark_on(name, of_topic=of_topic) or ""
            if remark and not remark.endswith("has no effect here") and name not in TAKEN_WHILE_RUNNING:
                remarks.append(remark)
            continue
        try:
            key.read(value, name)
        except ValueError as error:
            refusals.append(str(error))
        if not of_topic and name not in DYNAMIC_KEYS and name not in TAKEN_WHILE_RUNNING:
            remarks.append(f"{name} is read at the start: brokers that run do not take it from here")
    return Said(tuple(refusals), tuple(remarks))
