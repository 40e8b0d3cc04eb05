"""Kafka's names and numbers on the wire: API keys, error codes, topic ids, security protocols; and the wire's errors.

Errors of the wire are one line for an operator each. Translation only.
"""

import base64
import binascii
import uuid
from collections.abc import Mapping
from enum import IntEnum
from functools import cache

from kio.schema.errors import ErrorCode


class ApiKey(IntEnum):
    """Requests that are sent or served here: `org.apache.kafka.common.protocol.ApiKeys` (3.9)."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    LEADER_AND_ISR = 4
    STOP_REPLICA = 5
    UPDATE_METADATA = 6
    CONTROLLED_SHUTDOWN = 7
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    SASL_HANDSHAKE = 17
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    DESCRIBE_CONFIGS = 32
    ALTER_CONFIGS = 33
    ALTER_REPLICA_LOG_DIRS = 34
    DESCRIBE_LOG_DIRS = 35
    SASL_AUTHENTICATE = 36
    CREATE_PARTITIONS = 37
    DELETE_GROUPS = 42
    ELECT_LEADERS = 43
    INCREMENTAL_ALTER_CONFIGS = 44
    ALTER_PARTITION_REASSIGNMENTS = 45
    LIST_PARTITION_REASSIGNMENTS = 46
    OFFSET_DELETE = 47
    DESCRIBE_CLIENT_QUOTAS = 48
    ALTER_CLIENT_QUOTAS = 49
    DESCRIBE_USER_SCRAM_CREDENTIALS = 50
    ALTER_USER_SCRAM_CREDENTIALS = 51
    DESCRIBE_QUORUM = 55
    ALTER_PARTITION = 56
    UPDATE_FEATURES = 57
    ENVELOPE = 58
    FETCH_SNAPSHOT = 59
    DESCRIBE_CLUSTER = 60
    BROKER_REGISTRATION = 62
    BROKER_HEARTBEAT = 63
    UNREGISTER_BROKER = 64
    ALLOCATE_PRODUCER_IDS = 67
    CONSUMER_GROUP_DESCRIBE = 69
    CONTROLLER_REGISTRATION = 70
    ASSIGN_REPLICAS_TO_DIRS = 73
    DESCRIBE_TOPIC_PARTITIONS = 75
    SHARE_GROUP_DESCRIBE = 77
    ADD_RAFT_VOTER = 80
    REMOVE_RAFT_VOTER = 81


class WireError(Exception):
    """The connection is of no use any more, or never was."""


class MalformedError(WireError):
    """Bytes that are no message: too long, cut off, or not what the schema says. The connection must be closed."""


class UnavailableError(WireError):
    """No answer: not connected, connection lost on the way, or nothing in time. Worth trying again."""


class DeniedError(WireError):
    """The broker does not take who we say we are, or we do not trust its certificate. Trying again changes nothing."""


class UnsupportedVersionError(WireError):
    """The other side knows no version of a request that this one knows."""


SECURITY_PROTOCOLS: Mapping[str, int] = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}
"""`org.apache.kafka.common.security.auth.SecurityProtocol`."""
ZERO_ID = uuid.UUID(int=0)


@cache
def error_code(name: str) -> ErrorCode:
    """`NOT_CONTROLLER` as the wire has it; an unknown name is an unknown error."""
    try:
        return ErrorCode[name.lower()]
    except KeyError:
        return ErrorCode.unknown_server_error


@cache
def error_name(code: ErrorCode) -> str:
    """The other way: `NONE`, `STALE_BROKER_EPOCH`…"""
    return code.name.upper()


def topic_uuid(text: str | None) -> uuid.UUID:
    """A topic's id from its 22 characters of base64url; all zeros where there is none."""
    try:
        return uuid.UUID(bytes=base64.urlsafe_b64decode(f"{text}==")) if text else ZERO_ID
    except (ValueError, binascii.Error):
        return ZERO_ID


def topic_id_text(value: uuid.UUID | None) -> str | None:
    """The other way; None for all zeros."""
    if value is None or value == ZERO_ID:
        return None
    return base64.urlsafe_b64encode(value.bytes).decode().rstrip("=")
