"""Random well-formed requests of any API and version, and answers to them in a form in which two brokers' compare.

Values are drawn by the names of fields from few words, so that requests meet what there is. Requests that would
wait for others, or that end sessions of clients, are not drawn: they have tests of their own.
"""

from __future__ import annotations

import dataclasses
import datetime
import random
import types
import typing
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from model.hosts.wire.messages import shapes

TOPICS = ("plain", "keyed", "small")
"""They stay."""
PASSING = ("passing-a", "passing-b")
"""Made and deleted."""
STRANGE = ("nowhere", "nowhere", "", "a/b", "..", "x" * 250)
GROUPS = ("g-1", "g-2", "g-2", "")
WORDS: Mapping[str, Sequence[Any]] = {
    "topic": (*TOPICS, *TOPICS, *STRANGE),
    "name": (*TOPICS, *TOPICS, *STRANGE),
    "topic_name": (*TOPICS, *TOPICS, *STRANGE),
    "topic_names": (*PASSING, *STRANGE),
    "group": GROUPS,
    "group_id": GROUPS,
    "groups": GROUPS,
    "groups_names": GROUPS,
    "key": GROUPS,
    "coordinator_keys": GROUPS,
    "key_type": (0, 0, 0, 2),
    "member_id": ("nobody", "nobody", ""),
    "generation_id": (-1, -1, 0, 7),
    "generation_id_or_member_epoch": (-1, -1, 0, 7),
    "member_epoch": (-1, 0),
    "group_instance_id": (None, None, "static"),
    "protocol_type": ("consumer", "", "connect"),
    "session_timeout": (1,),
    "session_timeout_ms": (1,),
    "transactional_id": (None,),
    "acks": (-1, 1, 1, 3),
    "replica_id": (-1,),
    "max_wait": (0,),
    "min_bytes": (0,),
    "max_bytes": (10**6,),
    "partition_max_bytes": (10**6,),
    "session_id": (0, 0, 5),
    "session_epoch": (-1, -1, 3),
    "isolation_level": (0, 1),
    "rack_id": ("",),
    "forgotten_topics_data": ((),),
    "current_leader_epoch": (-1, -1, 0, 9),
    "leader_epoch": (-1, 0, 0, 1, 9),
    "last_fetched_epoch": (-1,),
    "committed_leader_epoch": (-1, 0),
    "timestamp": (-1, -2, -3, 0, 1000, -9),
    "max_num_offsets": (0, 1, 5),
    "timeout": (30_000,),
    "timeout_ms": (30_000,),
    "num_partitions": (1, 2, -1, 0),
    "replication_factor": (1, 1, -1, 0, 2),
    "replica_ids": (1,),
    "resource_type": (2, 2, 4, 9),
    "resource_name": (*TOPICS, "nowhere", "", "1", "7"),
    "broker_ids": (1,),
    "config_operation": (0, 0, 1, 2, 9),
    "metadata": ("", "m", "m" * 5000),
    "committed_metadata": ("", "m", "m" * 5000),
    "states_filter": ("Stable", "Empty", "empty", "Nonsense"),
    "types_filter": ("classic", "consumer", "nonsense"),
    "client_software_name": ("kdrill", "a b", ""),
    "client_software_version": ("1.0", "-"),
    "endpoint_type": (1, 1, 2),
    "election_type": (0, 1, 7),
    "offset": (0, 1, 3, 10**6, -1, -2),
    "fetch_offset": (0, 1, 3, 10**6, -5),
    "committed_offset": (0, 7, 2**62, -3),
}
ALWAYS = ("groups", "partitions", "partition_indexes")
"""Arrays that are not empty: a real broker never answers an OffsetFetch of no group, and some APIs leave out topics of
which nothing is asked."""
NUMBERS = (0, 0, 0, 1, -1, 7)
_CONFIGS = (
    ("retention.ms", "1000"), ("retention.ms", "-2"), ("retention.ms", None), ("cleanup.policy", "delete"),
    ("nonsense", "1"), ("min.insync.replicas", "1"), ("max.message.bytes", "many"),
)  # fmt: skip


METADATA = 3


def placeholder(topic: str) -> uuid.UUID:
    """Stands for a topic's id, which each broker has made up."""
    return uuid.uuid5(uuid.NAMESPACE_DNS, topic)


class Requests:
    """`dice` decides; `records` makes what is produced."""

    def __init__(self, dice: random.Random, records: typing.Callable[[random.Random], bytes]) -> None:
        self._dice, self._records = dice, records

    def draw(self, key: int, version: int) -> Any:
        module = shapes(key, version, "request")
        name = next(
            name
            for name in vars(module)
            if name.endswith("Request") and getattr(module, name).__module__ == module.__name__
        )
        return self._entity(getattr(module, name), key)

    def _entity(self, shape: type[Any], key: int) -> Any:
        hints = typing.get_type_hints(shape)
        values: dict[str, Any] = {}
        config = self._dice.choice(_CONFIGS)
        for each in dataclasses.fields(shape):
            if "tag" in each.metadata:
                continue
            if "onfig" in shape.__name__ and each.name in ("name", "value"):
                values[each.name] = config[0] if each.name == "name" else config[1]
            else:
                values[each.name] = self._value(each.name, hints[each.name], each.metadata.get("kafka_type"), key)
        if key == METADATA and "topic_id" in values:  # before version 12 by name only; later by one of both
            values["topic_id"] = None if values["name"] is not None else values["topic_id"]
        return shape(**values)

    def _value(self, name: str, hint: Any, kind: str | None, key: int) -> Any:
        choices = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        may_be_null = type(None) in choices and not (key == METADATA and name == "name")
        shape = next(each for each in choices if each is not type(None))
        if typing.get_origin(shape) is tuple:
            if name in WORDS and WORDS[name] == ((),):
                return ()
            if may_be_null and name not in ALWAYS and self._dice.random() < 0.1:
                return None
            item = typing.get_args(shape)[0]
            count = 1 if name in ALWAYS else self._dice.choice((0, 1, 1, 1, 2))
            items = [self._item(name, item, kind, key) for _ in range(count)]
            return tuple({_rank(each): each for each in items}.values())  # each thing once
        return self._one(name, kind, may_be_null, key)

    def _item(self, name: str, shape: Any, kind: str | None, key: int) -> Any:
        if dataclasses.is_dataclass(shape):
            return self._entity(typing.cast("type[Any]", shape), key)
        return self._one(name, kind, False, key)

    def _one(self, name: str, kind: str | None, may_be_null: bool, key: int) -> Any:
        if kind == "uuid":
            return placeholder(self._dice.choice((*TOPICS, "nowhere")))
        if kind in ("records", "bytes"):
            return self._records(self._dice) if name == "records" else self._dice.choice((b"", b"xyz"))
        if kind == "float64":
            return 1.0
        if kind == "bool":
            return self._dice.random() < 0.5
        words = [word for word in self._words(name, key) if may_be_null or word is not None]
        is_number = kind is not None and ("int" in kind or kind.startswith("timedelta"))
        value = self._dice.choice(words or (NUMBERS if is_number else ("", "x")))
        if kind and kind.startswith("timedelta"):
            return datetime.timedelta(milliseconds=value)
        return value

    def _words(self, name: str, key: int) -> Sequence[Any]:
        if key in (19, 20, 37) and name in ("name", "topic", "topic_names"):
            return (*PASSING, *PASSING, *STRANGE)
        if key in (33, 44) and name == "resource_type":
            return (2, 4)  # a real broker never answers where it does not know the kind
        return WORDS.get(name, ())


def with_ids(entity: Any, ids: Mapping[uuid.UUID, uuid.UUID]) -> Any:
    """The same with other ids of topics."""
    if isinstance(entity, uuid.UUID):
        return ids.get(entity, entity)
    if isinstance(entity, tuple):
        return tuple(with_ids(each, ids) for each in typing.cast("tuple[Any, ...]", entity))
    if dataclasses.is_dataclass(entity) and not isinstance(entity, type):
        names = [each.name for each in dataclasses.fields(entity)]
        return type(entity)(**{name: with_ids(getattr(entity, name), ids) for name in names})
    return entity


def differences(theirs: Any, ours: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Path and both values where two answers differ; entries of arrays are paired by what they are about.

    Below an entry whose errors differ, and in arrays of other things, no more is told.
    """
    if isinstance(theirs, tuple) and isinstance(ours, tuple):
        pairs = [{_rank(each): each for each in side} for side in (theirs, ours)]
        if pairs[0].keys() != pairs[1].keys():
            yield f"{path}[]", sorted(pairs[0].keys() - pairs[1].keys()), sorted(pairs[1].keys() - pairs[0].keys())
            return
        for rank in pairs[0]:
            yield from differences(pairs[0][rank], pairs[1][rank], f"{path}[]")
    elif dataclasses.is_dataclass(theirs) and type(theirs) is type(ours):
        names = [each.name for each in dataclasses.fields(typing.cast("Any", theirs))]
        errors = [getattr(each, "error_code", None) for each in (theirs, ours)]
        if errors[0] != errors[1]:
            said = [getattr(error, "name", error) for error in errors]
            yield f"{path}.error_code", said[0], said[1]
            return
        for name in names:
            yield from differences(getattr(theirs, name), getattr(ours, name), f"{path}.{name}")
    elif theirs != ours:
        yield path, theirs, ours


def _rank(entity: Any) -> str:
    """What an entry is about."""
    if not dataclasses.is_dataclass(entity):
        return str(entity)
    names = ("name", "topic", "topic_name", "topic_id", "partition_index", "partition", "group_id", "api_key", "key")
    names = (*names, "resource_type", "resource_name", "node_id", "broker_id", "index")
    named = {name: getattr(entity, name) for name in names if hasattr(entity, name)}
    if named.get("name") is not None:
        named.pop("topic_id", None)
    return "|".join(map(str, named.values()))
