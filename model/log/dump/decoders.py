"""Keys and payloads of `__consumer_offsets` and `__transaction_state` in words: DumpLogSegments' decoders (3.9).

Of consumer groups only the classic kind is known, the only one that brokers with ZooKeeper write. The partitions of a
transaction come in the record's order; Kafka's tool takes them from a hash set.
"""

import base64
import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import cast

from model.log.dump import coordinator_schemas as schemas
from model.log.dump.schema_reader import Fields, Schema, UnreadableError, Value, read
from model.log.records import Record

Decoded = tuple[str | Fields | None, str | Fields | None]
"""Key and payload, as text or as what is to be shown as JSON; None for nothing."""

_DELETED = "<DELETE>"
_STATES = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)
_GROUP_SCHEMAS = {
    0: (schemas.OFFSET_COMMIT_KEY, schemas.OFFSET_COMMIT_VALUE),
    1: (schemas.OFFSET_COMMIT_KEY, schemas.OFFSET_COMMIT_VALUE),
    2: (schemas.GROUP_METADATA_KEY, schemas.GROUP_METADATA_VALUE),
}


class Decoder(StrEnum):
    """What the records of a log are, named as the option that says so."""

    OFFSETS = "offsets"
    TRANSACTION_LOG = "transaction-log"


def decode(decoder: Decoder, record: Record) -> Decoded:
    """Key and payload; what cannot be read is told in place of the key."""
    try:
        return _DECODED[decoder](record)
    except UnreadableError as error:
        return f"Error at offset {record.offset}, skipping. {error}", None


def decoded_bytes(decoder: Decoder, record: Record) -> tuple[bytes | None, bytes | None]:
    """Key and payload as DumpLogSegments prints them."""
    key, payload = decode(decoder, record)
    return _bytes(key), _bytes(payload)


def _bytes(part: str | Fields | None) -> bytes | None:
    if isinstance(part, dict):
        part = json.dumps(part, ensure_ascii=False, separators=(",", ":"))
    return None if part is None else part.encode()


def _offsets(record: Record) -> Decoded:
    version = int.from_bytes((record.key or b"")[:2], "big", signed=True)
    if version not in _GROUP_SCHEMAS:
        return f"Unknown record type {version} at offset {record.offset}, skipping.", None
    key_schema, value_schema = _GROUP_SCHEMAS[version]
    _, fields = read(record.key or b"", key_schema)
    key: Fields = {"type": str(version), "data": fields}
    if record.value is None:
        return key, _DELETED
    version, fields = read(record.value, value_schema)
    if fields.get("protocolType") == "consumer":
        for member in cast(list[Fields], fields["members"] or []):
            member["subscription"] = _embedded(member["subscription"], schemas.CONSUMER_SUBSCRIPTION)
            member["assignment"] = _embedded(member["assignment"], schemas.CONSUMER_ASSIGNMENT)
    return key, {"version": str(version), "data": fields}


def _embedded(encoded: Value, schema: Schema) -> Value:
    """A client's own message, or its bytes as they are: brokers do not look at it."""
    try:
        return read(base64.b64decode(str(encoded or "")), schema)[1]
    except UnreadableError:
        return encoded


def _transaction_log(record: Record) -> Decoded:
    version = int.from_bytes((record.key or b"")[:2], "big", signed=True)
    if version != 0:
        return f"unknown::version={version}", None
    _, fields = read(record.key or b"", schemas.TRANSACTION_KEY)
    key = f"transaction_metadata::transactionalId={fields['transactionalId']}"
    if record.value is None:
        return key, _DELETED
    _, fields = read(record.value, schemas.TRANSACTION_VALUE)
    status = cast(int, fields["transactionStatus"])
    if not 0 <= status < len(_STATES):
        raise UnreadableError(f"a transaction of state {status}")
    topics = cast(list[Mapping[str, Value]], fields["transactionPartitions"] or [])
    named = [f"{topic['topic']}-{number}" for topic in topics for number in cast(list[int], topic["partitions"] or [])]
    return key, (
        f"producerId:{fields['producerId']},producerEpoch:{fields['producerEpoch']},state={_STATES[status]},"
        f"partitions=[{','.join(named if status else [])}],"
        f"txnLastUpdateTimestamp={fields['transactionLastUpdateTimestampMs']},"
        f"txnTimeoutMs={fields['transactionTimeoutMs']}"
    )


_DECODED: Mapping[Decoder, Callable[[Record], Decoded]] = {
    Decoder.OFFSETS: _offsets,
    Decoder.TRANSACTION_LOG: _transaction_log,
}
