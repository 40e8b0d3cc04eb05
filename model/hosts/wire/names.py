"""Kafka's names and ids as the schemas write them: errors, topic ids, protocols. Translation only."""

import base64
import binascii
import uuid
from collections.abc import Mapping

from kio.schema.errors import ErrorCode

SECURITY_PROTOCOLS: Mapping[str, int] = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}
"""`org.apache.kafka.common.security.auth.SecurityProtocol`."""
ZERO_ID = uuid.UUID(int=0)


def error_code(name: str) -> ErrorCode:
    """`NOT_CONTROLLER` as the wire has it; an unknown name is an unknown error."""
    try:
        return ErrorCode[name.lower()]
    except KeyError:
        return ErrorCode.unknown_server_error


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
