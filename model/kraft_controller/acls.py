"""Access control lists: what may be added, and what a filter names.

Sources: `org.apache.kafka.controller.AclControlManager`, `AclBindingFilter`, `ResourcePatternFilter` (3.9, 4.3). Codes
are those of `ResourceType`, `PatternType`, `AclOperation` and `AclPermissionType`.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from kio.schema.errors import ErrorCode

from model.metadata_log.encoder import encode_record

_UNKNOWN, _ANY, _MATCH, _LITERAL, _PREFIXED = range(5)
_CLUSTER: Final = 4
_CLUSTER_NAME: Final = "kafka-cluster"
_LAST_RESOURCE, _LAST_OPERATION, _DENY, _ALLOW = 7, 15, 2, 3
_EVERYTHING: Final = "*"


class Rule(msgspec.Struct, frozen=True):
    """One entry."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission: int


class AclFilter(msgspec.Struct, frozen=True):
    """Which entries are meant: ANY, or None, for all."""

    resource_type: int
    resource_name: str | None
    pattern_type: int
    principal: str | None
    host: str | None
    operation: int
    permission: int


Rules = Mapping[str, Rule]
"""By id."""


def rule_error(rule: Rule) -> ErrorCode:
    """Why it may not be added."""
    is_whole = (
        rule.resource_type in range(2, _LAST_RESOURCE + 1)
        and rule.pattern_type in (_LITERAL, _PREFIXED)
        and rule.operation in range(2, _LAST_OPERATION + 1)
        and rule.permission in (_DENY, _ALLOW)
        and rule.resource_name
        and ":" in rule.principal
    )
    is_cluster = rule.resource_type == _CLUSTER
    is_named = not is_cluster or (rule.resource_name, rule.pattern_type) == (_CLUSTER_NAME, _LITERAL)
    return ErrorCode.none if is_whole and is_named else ErrorCode.invalid_request


def add_rules(
    known: Rules, wanted: Sequence[Rule], new_ids: Sequence[str]
) -> tuple[tuple[bytes, ...], list[ErrorCode]]:
    """What is written, and an error for each; what is there already is fine and not written again."""
    errors = [rule_error(each) for each in wanted]
    values: list[bytes] = []
    present = set(known.values())
    for rule, id_, error in zip(wanted, new_ids, errors, strict=True):
        if error is ErrorCode.none and rule not in present:
            present.add(rule)
            values.append(_record(rule, id_))
    return tuple(values), errors


def _record(rule: Rule, id_: str) -> bytes:
    fields = {
        "id": id_,
        "resourceType": rule.resource_type,
        "resourceName": rule.resource_name,
        "patternType": rule.pattern_type,
        "principal": rule.principal,
        "host": rule.host,
        "operation": rule.operation,
        "permissionType": rule.permission,
    }
    return encode_record("AccessControlEntryRecord", 0, fields)


def filter_error(wanted: AclFilter) -> ErrorCode:
    """UNKNOWN is no filter."""
    codes = wanted.resource_type, wanted.pattern_type, wanted.operation, wanted.permission
    return ErrorCode.invalid_request if _UNKNOWN in codes else ErrorCode.none


def matching(known: Rules, wanted: AclFilter) -> dict[str, Rule]:
    """The entries that it names."""
    return {id_: rule for id_, rule in known.items() if _matches(wanted, rule)}


def removal(id_: str) -> bytes:
    """What is written to take an entry away."""
    return encode_record("RemoveAccessControlEntryRecord", 0, {"id": id_})


def _matches(wanted: AclFilter, rule: Rule) -> bool:
    codes = (
        (wanted.resource_type, rule.resource_type),
        (wanted.operation, rule.operation),
        (wanted.permission, rule.permission),
    )
    texts = (wanted.principal, rule.principal), (wanted.host, rule.host)
    return (
        all(asked in (_ANY, there) for asked, there in codes)
        and all(asked in (None, there) for asked, there in texts)
        and _is_named(wanted, rule)
    )


def _is_named(wanted: AclFilter, rule: Rule) -> bool:
    """MATCH: whatever would apply to a resource of this name."""
    name = wanted.resource_name
    if wanted.pattern_type not in (_ANY, _MATCH, rule.pattern_type):
        return False
    if name is None or wanted.pattern_type != _MATCH:
        return name in (None, rule.resource_name)
    if rule.pattern_type == _PREFIXED:
        return name.startswith(rule.resource_name)
    return rule.resource_name in (name, _EVERYTHING)
