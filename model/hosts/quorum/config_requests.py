"""What operators ask an active controller to configure: settings, quotas, users that log in by SCRAM.

As requests of `model.kraft_controller`, and its answers as Kafka's responses.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from kio.schema.errors import ErrorCode

from model.broker.settings.catalogue import ALL_TOPIC_KEYS, NEWER_TOPIC_KEYS, broker_key
from model.broker.settings.dynamic_configs import Alteration, altered
from model.broker.settings.settings import Key
from model.hosts.quorum.active_controller import ActiveController
from model.hosts.quorum.broker_requests import Answers
from model.hosts.wire.messages import Entity
from model.hosts.wire.names import error_code
from model.hosts.wire.server import Request as Received
from model.kraft_controller.quotas import QuotaChange, QuotaEntity, alter_quotas
from model.kraft_controller.scram import ScramDeletion, Upsertion, alter_credentials
from model.kraft_controller.settings import Setting, alter_configs

_ENTITIES: Final = {2: "topics", 4: "brokers", 16: "client-metrics", 32: "groups"}


Refused = tuple[ErrorCode, str | None]
"""An error, and its sentence where the error's own says too little."""
_After = Callable[[Any, Mapping[str, str]], Mapping[str, str] | Refused]
"""What a resource of a request and its settings now → its settings afterwards."""


def _change(controller: ActiveController, received: Received) -> Entity:
    """Whole resources: where one setting is refused, none of its resource is written."""

    def after(resource: Any, now: Mapping[str, str]) -> Mapping[str, str] | Refused:
        asked = [Alteration(str(each.name), int(each.config_operation), each.value) for each in resource.configs]
        found = altered(now, _keys(resource), asked)
        return found if isinstance(found, Mapping) else (error_code(found.error), found.message)

    shape = received.shape("AlterConfigsResourceResponse")
    return received.answer(
        "IncrementalAlterConfigsResponse", responses=tuple(_configured(controller, received, shape, after))
    )


def _replace(controller: ActiveController, received: Received) -> Entity:
    """What is not named goes back to its default."""

    def after(resource: Any, _: Mapping[str, str]) -> Mapping[str, str] | Refused:
        asked = {str(each.name): each.value for each in resource.configs}
        return (ErrorCode.invalid_request, None) if None in asked.values() else asked

    shape = received.shape("AlterConfigsResourceResponse")
    return received.answer("AlterConfigsResponse", responses=tuple(_configured(controller, received, shape, after)))


def _keys(resource: Any) -> Callable[[str], Key[object] | None]:
    return ALL_TOPIC_KEYS.get if _is_of_topic(resource) else broker_key


def _is_of_topic(resource: Any) -> bool:
    return _ENTITIES[int(resource.resource_type)] == "topics"


def _configured(controller: ActiveController, received: Received, shape: Any, after: _After) -> Iterator[Entity]:
    body: Any = received.body
    named = [(resource.resource_type, resource.resource_name) for resource in body.resources]
    for resource, name in zip(body.resources, named, strict=True):
        error, why = ErrorCode.invalid_request if named.count(name) > 1 else _resource_error(controller, *name), None
        if error is ErrorCode.none:
            error, why = _set(controller, resource, after, validate_only=body.validate_only)
        yield shape(error_code=error, error_message=why, resource_type=name[0], resource_name=name[1])


def _resource_error(controller: ActiveController, kind: int, name: str) -> ErrorCode:
    match _ENTITIES.get(int(kind)):
        case "topics":
            is_there = name in controller.active.cluster.topics
            return ErrorCode.none if is_there else ErrorCode.unknown_topic_or_partition
        case "brokers":
            return ErrorCode.none if not name or name.isdecimal() else ErrorCode.invalid_request
        case None:
            return ErrorCode.invalid_request
        case _:
            return ErrorCode.none if name else ErrorCode.invalid_request


def _set(controller: ActiveController, resource: Any, after: _After, *, validate_only: bool) -> Refused:
    cluster = controller.active.cluster
    entity = f"{_ENTITIES[int(resource.resource_type)]}/{resource.resource_name or '<default>'}"
    now = cluster.configs.get(entity, {})
    then = after(resource, now)
    if isinstance(then, tuple):
        return then
    touched = dict.fromkeys([*(str(each.name) for each in resource.configs), *(now.keys() - then.keys())])
    settings = {key: then.get(key) for key in touched}
    why = topic_settings_problem(settings) if _is_of_topic(resource) else _unreadable(settings, broker_key)
    if why is not None:
        return ErrorCode.invalid_config, why
    answer = alter_configs(cluster, [Setting(entity, *each) for each in settings.items()])
    error = next((error for error in answer.errors if error is not ErrorCode.none), answer.error)
    if error is ErrorCode.none and not validate_only:
        controller.write(answer.records)
    return error, None


def topic_settings_problem(settings: Mapping[str, str | None]) -> str | None:
    """Why no topic can have these, one sentence."""
    known = ALL_TOPIC_KEYS.keys() | NEWER_TOPIC_KEYS
    unknown = next((name for name, text in settings.items() if text is not None and name not in known), None)
    return _unreadable(settings, ALL_TOPIC_KEYS.get) if unknown is None else f"Unknown topic config name: {unknown}"


def _unreadable(settings: Mapping[str, str | None], key_of: Callable[[str], Key[object] | None]) -> str | None:
    """Why brokers could not read one of these, one sentence; one of a broker that is not known may be a newer one."""
    for name, text in settings.items():
        key = key_of(name)
        try:
            if key is not None and text is not None:
                key.read(text, name)
        except ValueError as error:
            return f"Invalid value {text} for configuration {name}: {error}"
    return None


def _set_quotas(controller: ActiveController, received: Received) -> Entity:
    body: Any = received.body
    asked = [_quota_change(each) for each in body.entries]
    answer = alter_quotas(controller.active.quotas, asked)
    if not body.validate_only:
        controller.append(answer.values)
    entity, entry = received.shape("EntityData"), received.shape("EntryData")
    entries = tuple(
        entry(
            error_code=error,
            error_message=None,
            entity=tuple(entity(entity_type=kind, entity_name=name) for kind, name in each.entity),
        )
        for each, error in zip(asked, answer.errors, strict=True)
    )
    return received.answer("AlterClientQuotasResponse", entries=entries)


def _quota_change(asked: Any) -> QuotaChange:
    entity: QuotaEntity = tuple((str(each.entity_type), each.entity_name) for each in asked.entity)
    return QuotaChange(entity, {str(each.key): None if each.remove else float(each.value) for each in asked.ops})


def _set_credentials(controller: ActiveController, received: Received) -> Entity:
    body: Any = received.body
    state = controller.active
    deletions = [ScramDeletion(str(each.name), int(each.mechanism)) for each in body.deletions]
    upsertions = [
        Upsertion(str(each.name), int(each.mechanism), int(each.iterations), each.salt, each.salted_password)
        for each in body.upsertions
    ]
    answer = alter_credentials(state.level, state.credentials, deletions, upsertions)
    controller.append(answer.values)
    shape = received.shape("AlterUserScramCredentialsResult")
    results = tuple(shape(user=user, error_code=error, error_message=None) for user, error in answer.errors.items())
    return received.answer("AlterUserScramCredentialsResponse", results=results)


OF_CONFIGS: Final[Mapping[int, Answers]] = {33: _replace, 44: _change, 49: _set_quotas, 51: _set_credentials}
"""By API key."""
