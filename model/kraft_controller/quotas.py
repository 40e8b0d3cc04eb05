"""Quotas of clients: what an operator may set, and what is written.

Source: `org.apache.kafka.controller.ClientQuotaControlManager` (3.9, 4.3).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from kio.schema.errors import ErrorCode

from model.metadata_log.decoder import Fields, Value
from model.metadata_log.encoder import encode_record

QuotaEntity = tuple[tuple[str, str | None], ...]
"""(`user`, name) and its like, in the order asked; None for the default."""
Quotas = Mapping[frozenset[tuple[str, str | None]], Mapping[str, float]]
"""By entity and key."""
_WHOLE: Final = frozenset({"producer_byte_rate", "consumer_byte_rate", "connection_creation_rate"})
_OF_CLIENTS: Final = _WHOLE - {"connection_creation_rate"} | {"request_percentage", "controller_mutation_rate"}
_KEYS: Final = {"user": _OF_CLIENTS, "client-id": _OF_CLIENTS, "ip": frozenset({"connection_creation_rate"})}
_CLOSE: Final = 1e-6


class QuotaChange(msgspec.Struct, frozen=True):
    """What is wanted of one entity: by key a value, or None for no quota."""

    entity: QuotaEntity
    values: Mapping[str, float | None]


class QuotaRecords(msgspec.Struct, frozen=True):
    """Records as bytes, and an error for each that was asked."""

    values: tuple[bytes, ...]
    errors: tuple[ErrorCode, ...]


def alter_quotas(now: Quotas, changes: Sequence[QuotaChange]) -> QuotaRecords:
    """What differs is written; who is refused is left out, whole."""
    errors = tuple(map(_error, changes))
    values: list[bytes] = []
    for change, error in zip(changes, errors, strict=True):
        known = now.get(frozenset(change.entity), {})
        for key, value in change.values.items() if error is ErrorCode.none else ():
            if value != known.get(key):
                values.append(_record(change.entity, key, value))
    return QuotaRecords(tuple(values), errors)


def _error(change: QuotaChange) -> ErrorCode:
    kinds = [kind for kind, _ in change.entity]
    are_known = bool(kinds) and set(kinds) <= _KEYS.keys() and len(set(kinds)) == len(kinds)
    if not are_known or ("ip" in kinds and len(kinds) > 1) or any(name == "" for _, name in change.entity):
        return ErrorCode.invalid_request
    for key, value in change.values.items():
        if key not in _KEYS[kinds[0]]:
            return ErrorCode.invalid_request
        if value is not None and not _fits(key, value):
            return ErrorCode.invalid_request
    return ErrorCode.none


def _fits(key: str, value: float) -> bool:
    if not math.isfinite(value) or value <= 0:
        return False
    return key not in _WHOLE or abs(value - round(value)) <= _CLOSE


def _record(entity: QuotaEntity, key: str, value: float | None) -> bytes:
    named: list[Value] = [{"entityType": kind, "entityName": name} for kind, name in entity]
    fields: Fields = {"entity": named, "key": key, "value": value or 0.0, "remove": value is None}
    return encode_record("ClientQuotaRecord", 0, fields)
