"""What operators ask an active controller about nodes and features of the cluster."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kio.schema.errors import ErrorCode

from model.cluster.ids import KRAFT_VERSION
from model.hosts.quorum.active_controller import SUPPORTED, ActiveController
from model.hosts.quorum.broker_requests import Answers
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import error_code
from model.hosts.wire.server import Request as Received
from model.kraft_controller.cluster import MetadataRecord
from model.kraft_controller.requests import unregister
from model.kraft_controller.settings import Upgrade, level_error, update_feature

_WAYS: Final = {1: Upgrade.UPGRADE, 2: Upgrade.SAFE_DOWNGRADE, 3: Upgrade.UNSAFE_DOWNGRADE}
_BROKERS, _CONTROLLERS = 1, 2
_UNTOLD: Final = -(2**31)
"""Operations that somebody is allowed: nobody asked."""
_STATIC_MIN_ISR: Final = 1


def _unregister(controller: ActiveController, received: Received) -> Entity:
    body: Any = received.body
    answer = unregister(controller.active.cluster, int(body.broker_id))
    controller.write(answer.records)
    return received.answer("UnregisterBrokerResponse", error_code=answer.error, error_message=None)


def _update(controller: ActiveController, received: Received) -> Entity:
    """All or nothing: features go together."""
    body: Any = received.body
    errors, records = _wanted_features(controller, body)
    error = next((each for each in errors.values() if each is not ErrorCode.none), ErrorCode.none)
    if error is ErrorCode.none and not getattr(body, "validate_only", False):
        controller.write(records)
        for asked in body.feature_updates:
            if asked.feature == KRAFT_VERSION:
                controller.voter.upgrade(int(asked.max_version_level), dry=False)
    shape = received.shape("UpdatableFeatureResult")
    results = tuple(shape(feature=name, error_code=each, error_message=None) for name, each in errors.items())
    return received.answer("UpdateFeaturesResponse", error_code=error, error_message=None, results=results)


def _wanted_features(
    controller: ActiveController, body: Any
) -> tuple[Mapping[str, ErrorCode], Sequence[MetadataRecord]]:
    """By feature, and what is written for all of them; kraft.version is the voters' own."""
    errors = {str(each.feature): ErrorCode.none for each in body.feature_updates}
    state = controller.active
    cluster, features = state.cluster, dict(state.features)
    nodes = (*state.supported.values(), *state.controllers.values(), SUPPORTED)
    records: list[MetadataRecord] = []
    for asked in body.feature_updates:
        name, level, way = str(asked.feature), int(asked.max_version_level), _way(asked)
        if name == KRAFT_VERSION:
            errors[name] = error_code(controller.voter.upgrade(level, dry=True))
            continue
        errors[name] = level_error(dict(enumerate(nodes)), name, level)
        if errors[name] is ErrorCode.none and way is not None:
            answer = update_feature(cluster, name, level, way, _STATIC_MIN_ISR, features.get(name, 0))
            errors[name], features[name] = answer.error, level
            records += answer.records
            cluster = cluster.after(answer.records)
        elif way is None:
            errors[name] = ErrorCode.invalid_request
    return errors, records


def _way(asked: Any) -> Upgrade | None:
    if hasattr(asked, "upgrade_type"):
        return _WAYS.get(int(asked.upgrade_type))
    return Upgrade.SAFE_DOWNGRADE if asked.allow_downgrade else Upgrade.UPGRADE


def controllers_described(controller: ActiveController, received: Received) -> Entity:
    """Of controllers only; brokers tell of brokers. Each controller does, the active one or not: tools find that so."""
    body: Any = received.body
    node = controller.voter.node
    is_right = getattr(body, "endpoint_type", _BROKERS) == _CONTROLLERS
    shape = received.shape("DescribeClusterBroker")
    voters = tuple(
        shaped(shape, broker_id=voter.key.id, host=voter.address[0], port=voter.address[1], rack=None, is_fenced=False)
        for voter in node.log.voters.voters
        if voter.address is not None and is_right
    )
    return received.answer(
        "DescribeClusterResponse",
        error_code=ErrorCode.none if is_right else ErrorCode.mismatched_endpoint_type,
        error_message=None,
        endpoint_type=_CONTROLLERS,
        cluster_id=controller.cluster_id,
        controller_id=node.persisted.leader,
        brokers=voters,
        cluster_authorized_operations=_UNTOLD,
    )


OF_NODES: Final[Mapping[int, Answers]] = {57: _update, 64: _unregister}
"""By API key."""
