"""What operators ask an active controller, mostly by their broker, which sends it on in an Envelope (KIP-590).

Each answer, also to brokers, waits until all that the controller has written by then is committed.
"""

import random
from collections.abc import Mapping
from typing import Any, Final

from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.hosts.quorum.active_controller import ActiveController, NotActiveError
from model.hosts.quorum.broker_requests import OF_BROKERS, Answers
from model.hosts.quorum.quorum_voter import refused
from model.hosts.wire.messages import Entity, encode_response, request_start, shaped, versions_known
from model.hosts.wire.names import topic_id_text, topic_uuid
from model.hosts.wire.server import Api
from model.hosts.wire.server import Request as Received
from model.kraft_controller.partition_change import Election
from model.kraft_controller.requests import ElectLeaders, elect_leaders
from model.kraft_controller.settings import Setting, alter_configs
from model.kraft_controller.topics import NewTopic, create_topics, delete_topics

ENVELOPE: Final = 58
_ENTITIES: Final = {2: "topics", 4: "brokers"}
_SET, _DELETE = 0, 1


def controller_apis(controller: ActiveController) -> Mapping[int, Api]:
    """What is served at the controllers' listener, beside what voters ask each other."""
    answers = {**OF_BROKERS, **OF_OPERATORS}

    async def answer(received: Received) -> Entity:
        try:
            return await _answered(controller, answers[received.start.api_key], received)
        except NotActiveError:
            return refused(received)

    async def unwrap(received: Received) -> Entity:
        shape, frame = received.shape("EnvelopeResponse"), bytes(received.body.request_data)
        start = request_start(frame)
        inner = Received(start, frame, received.peer, received.listener)
        if start.api_key not in OF_OPERATORS:
            return shape(response_data=None, error_code=ErrorCode.invalid_request)
        try:
            entity = await _answered(controller, OF_OPERATORS[start.api_key], inner)
        except NotActiveError:
            return shape(response_data=None, error_code=ErrorCode.not_controller)
        data = b"".join(encode_response(entity, start.correlation_id))
        return shape(response_data=data, error_code=ErrorCode.none)

    served = {
        key: Api(max(_LOWEST.get(key, 0), versions_known(key)[0]), versions_known(key)[1], answer) for key in answers
    }
    return {**served, ENVELOPE: Api(0, 0, unwrap)}


async def _answered(controller: ActiveController, answer: Answers, received: Received) -> Entity:
    if controller.state is None:
        raise NotActiveError
    entity = answer(controller, received)
    await controller.all_committed()
    return entity


_LOWEST: Final = {19: 2, 20: 1, 56: 2}
"""The first versions that a controller knows, where there are older ones."""


def _create(controller: ActiveController, received: Received) -> Entity:
    body: Any = received.body
    state, wanted = controller.active, [_new_topic(each) for each in body.topics]
    answer = create_topics(state.cluster, wanted, random.randrange)
    if not body.validate_only:
        controller.write(answer.records)
    errors = answer.errors or (answer.error,) * len(wanted)
    results = tuple(
        _created(controller, received, each.name, error) for each, error in zip(wanted, errors, strict=True)
    )
    return received.answer("CreateTopicsResponse", topics=results)


def _created(controller: ActiveController, received: Received, name: str, error: ErrorCode) -> Entity:
    state = controller.active
    is_there = error is ErrorCode.none and name in state.cluster.topics
    return shaped(
        received.shape("CreatableTopicResult"),
        name=name,
        topic_id=topic_uuid(state.topic_ids[name]) if is_there else None,
        error_code=error,
        error_message=None,
        topic_config_error_code=0,
        num_partitions=len(state.cluster.partitions(name)) if is_there else -1,
        replication_factor=len(state.cluster.partition(TopicPartition(name, 0)).replicas) if is_there else -1,
        configs=(),
    )


def _new_topic(asked: Any) -> NewTopic:
    return NewTopic(
        str(asked.name),
        int(asked.num_partitions),
        int(asked.replication_factor),
        tuple((int(each.partition_index), tuple(map(int, each.broker_ids))) for each in asked.assignments),
        {str(each.name): each.value for each in asked.configs},
    )


def _delete(controller: ActiveController, received: Received) -> Entity:
    """By names, or since 2.8 by ids as well."""
    body: Any = received.body
    state = controller.active
    by_id = {id_: name for name, id_ in state.topic_ids.items()}
    named: Any = getattr(body, "topics", ())
    if hasattr(body, "topic_names"):
        asked = [(str(name), None) for name in body.topic_names]
    else:
        asked = [(each.name or by_id.get(topic_id_text(each.topic_id) or "", ""), each.topic_id) for each in named]
    ids = {name: topic_uuid(state.topic_ids[name]) for name, _ in asked if name in state.topic_ids}
    answer = delete_topics(state.cluster, [name for name, _ in asked])
    controller.write(answer.records)
    shape = received.shape("DeletableTopicResult")

    def told(name: str, id_: Any, error: ErrorCode) -> Entity:
        if error is not ErrorCode.none and id_ is None:
            error = ErrorCode.unknown_topic_or_partition
        return shaped(shape, name=name or None, topic_id=ids.get(name, id_), error_code=error, error_message=None)

    results = tuple(told(*each, error) for each, error in zip(asked, answer.errors, strict=True))
    return received.answer("DeleteTopicsResponse", responses=results)


def _elect(controller: ActiveController, received: Received) -> Entity:
    body: Any = received.body
    election = Election.UNCLEAN if getattr(body, "election_type", 0) == 1 else Election.PREFERRED
    names = None
    if body.topic_partitions is not None:
        names = tuple(
            TopicPartition(str(topic.topic), int(each)) for topic in body.topic_partitions for each in topic.partitions
        )
    answer = elect_leaders(controller.active.cluster, ElectLeaders(election, names))
    controller.write(answer.records)
    by_topic: dict[str, list[Entity]] = {}
    for name, error in answer.errors:
        result = received.shape("PartitionResult")(partition_id=name.partition, error_code=error, error_message=None)
        by_topic.setdefault(name.topic, []).append(result)
    results = tuple(
        received.shape("ReplicaElectionResult")(topic=topic, partition_result=tuple(each))
        for topic, each in by_topic.items()
    )
    return received.answer("ElectLeadersResponse", error_code=answer.error, replica_election_results=results)


def _configure(controller: ActiveController, received: Received) -> Entity:
    """Whole resources: where one setting is refused, none of its resource is written."""
    body: Any = received.body
    results: list[Entity] = []
    for resource in body.resources:
        error = _set(controller, resource, validate_only=body.validate_only)
        results.append(
            received.shape("AlterConfigsResourceResponse")(
                error_code=error,
                error_message=None,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
        )
    return received.answer("IncrementalAlterConfigsResponse", responses=tuple(results))


def _set(controller: ActiveController, resource: Any, *, validate_only: bool) -> ErrorCode:
    kind, name = _ENTITIES.get(int(resource.resource_type)), str(resource.resource_name)
    operations = {int(each.config_operation) for each in resource.configs}
    cluster = controller.active.cluster
    if kind is None or operations - {_SET, _DELETE}:
        return ErrorCode.invalid_request
    if kind == "topics" and name not in cluster.topics:
        return ErrorCode.unknown_topic_or_partition
    entity = f"{kind}/{name or '<default>'}"
    answer = alter_configs(
        cluster,
        [
            Setting(entity, str(each.name), None if each.config_operation == _DELETE else each.value)
            for each in resource.configs
        ],
    )
    error = next((error for error in answer.errors if error is not ErrorCode.none), answer.error)
    if error is ErrorCode.none and not validate_only:
        controller.write(answer.records)
    return error


OF_OPERATORS: Final[Mapping[int, Answers]] = {19: _create, 20: _delete, 43: _elect, 44: _configure}
"""By API key."""
