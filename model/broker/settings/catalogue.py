"""All keys by name, and what a name that is none of them may have been meant for."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType, ModuleType
from typing import cast

from model.broker.settings import broker_keys, client_keys, fault_keys, log_keys, replication_keys
from model.broker.settings.key import Key
from model.broker.settings.unserved_keys import UNSERVED_KEYS, UNSERVED_TOPIC_KEYS


def _keys_in(*modules: ModuleType) -> Iterator[Key[object]]:
    """In the order of the table."""
    for module in modules:
        yield from (cast(Key[object], value) for value in vars(module).values() if isinstance(value, Key))


KEYS: Mapping[str, Key[object]] = MappingProxyType(
    {key.name: key for key in _keys_in(broker_keys, replication_keys, log_keys, client_keys)}
)
"""Keys that have an effect here."""

OWN_KEYS: Mapping[str, Key[object]] = MappingProxyType({key.name: key for key in _keys_in(fault_keys)})
"""Keys that Kafka does not know."""

TOPIC_KEYS: Mapping[str, Key[object]] = MappingProxyType({key.topic: key for key in KEYS.values() if key.topic})
"""The same by the names under which topics override them."""

REPLACED_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "advertised.host.name": "advertised.listeners",
        "advertised.port": "advertised.listeners",
        "host.name": "listeners",
        "port": "listeners",
    }
)
"""Keys that Kafka dropped in 3.0, and what to use instead."""


def remark_on(name: str, *, of_topic: bool = False) -> str | None:
    """What to tell a user about a key that has no effect; None for one that has."""
    known, unserved = (TOPIC_KEYS, UNSERVED_TOPIC_KEYS) if of_topic else (KEYS, UNSERVED_KEYS)
    if name in known or name in OWN_KEYS:
        return None
    if name in unserved or name.startswith("listener.name."):
        return f"{name} has no effect here"
    if not of_topic and name in REPLACED_KEYS:
        return f"{name} is no key of Kafka any more: use {REPLACED_KEYS[name]}"
    near = get_close_matches(name, [*known, *unserved], n=1, cutoff=0.6)
    what = "a topic's configuration" if of_topic else "server.properties"
    return f"{name[:80]!r} is no key of {what}" + (f": did you mean {near[0]}?" if near else "")
