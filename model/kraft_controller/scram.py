"""Users that log in by SCRAM: what an operator may set, and what is written.

Source: `org.apache.kafka.controller.ScramControlManager` (3.9, 4.3), `ScramFormatter`; RFC 5802.
"""

import hashlib
import hmac
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import msgspec
from kio.schema.errors import ErrorCode

from model.metadata_log.encoder import encode_record

SCRAM_LEVEL: Final = 11
"""metadata.version 3.5-IV2."""
_HASHES: Final = {1: "sha256", 2: "sha512"}
_ITERATIONS: Final = (4096, 16384)
Credential = tuple[str, int]
"""User, mechanism."""


class ScramDeletion(msgspec.Struct, frozen=True):
    """No more of this user and mechanism."""

    user: str
    mechanism: int


class Upsertion(msgspec.Struct, frozen=True):
    """A new password, as the client salted it."""

    user: str
    mechanism: int
    iterations: int
    salt: bytes
    salted_password: bytes


class ScramRecords(msgspec.Struct, frozen=True):
    """Records as bytes, and what each user is answered."""

    values: tuple[bytes, ...]
    errors: Mapping[str, ErrorCode]


def alter_credentials(
    level: int, known: Collection[Credential], deletions: Sequence[ScramDeletion], upsertions: Sequence[Upsertion]
) -> ScramRecords:
    """A user that any of it is refused for is left out, whole."""
    asked: list[ScramDeletion | Upsertion] = [*deletions, *upsertions]
    times = Counter((each.user, each.mechanism) for each in asked)
    errors: dict[str, ErrorCode] = {}
    for each in asked:
        error = ErrorCode.duplicate_resource if times[each.user, each.mechanism] > 1 else _error(level, known, each)
        if errors.get(each.user, ErrorCode.none) is ErrorCode.none:
            errors[each.user] = error
    return ScramRecords(tuple(_records(each for each in asked if errors[each.user] is ErrorCode.none)), errors)


def _error(level: int, known: Collection[Credential], asked: ScramDeletion | Upsertion) -> ErrorCode:
    if level < SCRAM_LEVEL:
        return ErrorCode.unsupported_version
    if not asked.user:
        return ErrorCode.unacceptable_credential
    if asked.mechanism not in _HASHES:
        return ErrorCode.unsupported_sasl_mechanism
    if isinstance(asked, ScramDeletion):
        return ErrorCode.none if (asked.user, asked.mechanism) in known else ErrorCode.resource_not_found
    is_fair = _ITERATIONS[0] <= asked.iterations <= _ITERATIONS[1]
    return ErrorCode.none if is_fair else ErrorCode.unacceptable_credential


def _records(asked: Iterable[ScramDeletion | Upsertion]) -> Iterable[bytes]:
    for each in asked:
        named = {"name": each.user, "mechanism": each.mechanism}
        if isinstance(each, ScramDeletion):
            yield encode_record("RemoveUserScramCredentialRecord", 0, named)
            continue
        name = _HASHES[each.mechanism]
        client_key = hmac.digest(each.salted_password, b"Client Key", name)
        keys = {
            "storedKey": hashlib.new(name, client_key).digest(),
            "serverKey": hmac.digest(each.salted_password, b"Server Key", name),
        }
        fields = {**named, **keys, "salt": each.salt, "iterations": each.iterations}
        yield encode_record("UserScramCredentialRecord", 0, fields)
