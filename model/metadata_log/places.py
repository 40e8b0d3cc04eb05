"""Where the tree of a KRaft cluster's metadata has what a record is about (`model/sources/metadata_tree.py`)."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from model.metadata_log.registry import config_entity, quota_entity, scram_entity
from model.metadata_log.topics import UnusableError

Fields = Mapping[str, Any]


def path_of(key: int, fields: Fields, topic: str) -> str:
    """Of a record with this api key; `topic` is the name of the topic that it names by id. Empty: it has no place."""
    place = _PLACES.get(key)
    try:
        return "" if place is None else place(fields, topic)
    except UnusableError:
        return ""


def _partition(fields: Fields, topic: str) -> str:
    return f"/topics/{topic or fields['topicId']}/{fields['partitionId']}/data"


def _broker(fields: Fields, _: str) -> str:
    return f"/brokers/{fields['brokerId']}/registration"


def _fenced(fields: Fields, _: str) -> str:
    return f"/brokers/{fields['id']}/registration"


def _scram(fields: Fields, _: str) -> str:
    return f"/configs/{scram_entity(fields)}"


def _producer_ids(_: Fields, __: str) -> str:
    return "/producerIds/nextProducerId"


def _acls(_: Fields, __: str) -> str:
    return "/acls"


def _token(fields: Fields, _: str) -> str:
    return f"/delegationTokens/{fields['tokenId']}"


def _controller(fields: Fields, _: str) -> str:
    return f"/controllers/{fields['controllerId']}"


_PLACES: Final[Mapping[int, Callable[[Fields, str], str]]] = MappingProxyType(
    {
        0: _broker,
        1: _broker,
        2: lambda fields, _: f"/topics/{fields['name']}",
        3: _partition,
        4: lambda fields, _: f"/configs/{config_entity(fields)}",
        5: _partition,
        7: _fenced,
        8: _fenced,
        9: lambda fields, topic: f"/topics/{topic or fields['topicId']}",
        10: _token,
        11: _scram,
        12: lambda fields, _: f"/features/{fields['name']}",
        14: lambda fields, _: f"/configs/{quota_entity(fields)}",
        15: _producer_ids,
        17: _broker,
        18: _acls,
        19: _acls,
        22: _scram,
        26: _token,
        27: _controller,
        28: lambda fields, _: f"/topics/{fields['topicName']}" if fields["topicName"] else "/topics",
        29: _controller,
    }
)
"""By api key."""
