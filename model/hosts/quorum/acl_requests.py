"""What operators ask an active controller about access control lists.

Who asks is not looked at: this controller has no authorizer, and leaves that to brokers.
"""

import uuid
from collections.abc import Mapping
from typing import Any, Final

from kio.schema.errors import ErrorCode

from model.hosts.quorum.active_controller import ActiveController
from model.hosts.quorum.broker_requests import Answers
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import topic_id_text
from model.hosts.wire.server import Request as Received
from model.kraft_controller.acls import AclFilter, Rule, add_rules, filter_error, matching, removal

_LITERAL: Final = 3


def _create(controller: ActiveController, received: Received) -> Entity:
    body: Any = received.body
    wanted = [
        Rule(
            int(each.resource_type),
            str(each.resource_name),
            int(getattr(each, "resource_pattern_type", _LITERAL)),
            str(each.principal),
            str(each.host),
            int(each.operation),
            int(each.permission_type),
        )
        for each in body.creations
    ]
    ids = [topic_id_text(uuid.uuid4()) or "" for _ in wanted]
    values, errors = add_rules(controller.active.rules, wanted, ids)
    controller.append(values)
    shape = received.shape("AclCreationResult")
    results = tuple(shape(error_code=error, error_message=None) for error in errors)
    return received.answer("CreateAclsResponse", results=results)


def _delete(controller: ActiveController, received: Received) -> Entity:
    """What two filters name is deleted once, and told for both."""
    body: Any = received.body
    filters = [_filter(each, each.resource_name_filter, "pattern_type_filter") for each in body.filters]
    errors = [filter_error(each) for each in filters]
    found = [
        matching(controller.active.rules, each) if error is ErrorCode.none else {}
        for each, error in zip(filters, errors, strict=True)
    ]
    controller.append([removal(id_) for id_ in dict.fromkeys(id_ for rules in found for id_ in rules)])
    shape = received.shape("DeleteAclsFilterResult")
    results = tuple(
        shape(
            error_code=error,
            error_message=None,
            matching_acls=tuple(_deleted(received, rule) for rule in rules.values()),
        )
        for error, rules in zip(errors, found, strict=True)
    )
    return received.answer("DeleteAclsResponse", filter_results=results)


def _filter(asked: Any, name: str | None, pattern: str) -> AclFilter:
    return AclFilter(
        int(asked.resource_type_filter),
        name,
        int(getattr(asked, pattern, _LITERAL)),
        asked.principal_filter,
        asked.host_filter,
        int(asked.operation),
        int(asked.permission_type),
    )


def _deleted(received: Received, rule: Rule) -> Entity:
    return shaped(
        received.shape("DeleteAclsMatchingAcl"),
        error_code=ErrorCode.none,
        error_message=None,
        resource_type=rule.resource_type,
        resource_name=rule.resource_name,
        pattern_type=rule.pattern_type,
        principal=rule.principal,
        host=rule.host,
        operation=rule.operation,
        permission_type=rule.permission,
    )


def _describe(controller: ActiveController, received: Received) -> Entity:
    body: Any = received.body
    wanted = _filter(body, body.resource_name_filter, "pattern_type_filter")
    error = filter_error(wanted)
    by_resource: dict[tuple[int, str, int], list[Rule]] = {}
    for rule in matching(controller.active.rules, wanted).values() if error is ErrorCode.none else ():
        by_resource.setdefault((rule.resource_type, rule.resource_name, rule.pattern_type), []).append(rule)
    shape = received.shape("AclDescription")
    resources = tuple(
        shaped(
            received.shape("DescribeAclsResource"),
            resource_type=kind,
            resource_name=name,
            pattern_type=pattern,
            acls=tuple(
                shape(
                    principal=rule.principal,
                    host=rule.host,
                    operation=rule.operation,
                    permission_type=rule.permission,
                )
                for rule in rules
            ),
        )
        for (kind, name, pattern), rules in by_resource.items()
    )
    return received.answer("DescribeAclsResponse", error_code=error, error_message=None, resources=resources)


OF_ACLS: Final[Mapping[int, Answers]] = {29: _describe, 30: _create, 31: _delete}
"""By API key."""
