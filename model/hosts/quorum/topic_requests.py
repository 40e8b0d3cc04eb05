"""What operators ask an active controller about topics and their partitions.

As requests of `model.kraft_controller`, and its answers as Kafka's responses.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.hosts.kafka_descriptions import METADATA_TOPIC
from model.hosts.quorum.active_controller import ActiveController
from model.hosts.quorum.broker_requests import Answers
from model.hosts.quorum.config_requests import Refused, topic_settings_problem
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import topic_id_text, topic_uuid
from model.hosts.wire.server import Request as Received
from model.kraft_controller.cluster import KraftCluster
from model.kraft_controller.partition_change import Election
from model.kraft_controller.requests import (
    AlterPartitionReassignments,
    ElectLeaders,
    Reassignment,
    alter_reassignments,
    elect_leaders,
    reassigned,
)
from model.kraft_controller.topics import MorePartitions, NewTopic, create_partitions, create_topics, delete_topics

DUPLICATE: Final = "Duplicate topic name."


def _create(controller: ActiveController, received: Received) -> Entity:
    """A request that is only to be validated is answered as if the topics had been made, but without their ids."""
    body: Any = received.body
    wanted = [_new_topic(each) for each in body.topics]
    names = [each.name for each in wanted]
    told = {each.name: problem for each in wanted if (problem := _problem(each, names)) is not None}
    sound = [each for each in wanted if each.name not in told]
    answer = create_topics(controller.active.cluster, sound, random.randrange)
    if not body.validate_only:
        controller.write(answer.records)
    cluster = controller.active.cluster
    after = cluster.after(answer.records) if body.validate_only else cluster
    errors = answer.errors or (answer.error,) * len(sound)
    told.update({each.name: (error, None) for each, error in zip(sound, errors, strict=True)})
    ids = controller.active.topic_ids
    results = tuple(_created(received, after, name, ids.get(name), told[name]) for name in dict.fromkeys(names))
    return received.answer("CreateTopicsResponse", topics=results)


def _problem(topic: NewTopic, names: Sequence[str]) -> Refused | None:
    """Why a topic is refused whatever the cluster is like (`ControllerApis`, `ControllerConfigurationValidator`)."""
    if names.count(topic.name) > 1:
        return ErrorCode.invalid_request, DUPLICATE
    if topic.name == METADATA_TOPIC:
        return ErrorCode.topic_authorization_failed, None
    why = topic_settings_problem(topic.configs)
    return None if why is None else (ErrorCode.invalid_config, why)


def _created(received: Received, after: KraftCluster, name: str, topic_id: str | None, told: Refused) -> Entity:
    error, why = told
    partitions = after.partitions(name) if error is ErrorCode.none else []
    return shaped(
        received.shape("CreatableTopicResult"),
        name=name,
        topic_id=topic_uuid(topic_id) if topic_id and partitions else None,
        error_code=error,
        error_message=why,
        topic_config_error_code=0,
        num_partitions=len(partitions) or -1,
        replication_factor=len(after.partition(partitions[0]).replicas) if partitions else -1,
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
    times = Counter(name or id_ for name, id_ in asked)
    once = [each for each in asked if times[each[0] or each[1]] == 1]
    answer = delete_topics(state.cluster, [name for name, _ in once])
    controller.write(answer.records)
    shape = received.shape("DeletableTopicResult")
    errors = dict(zip(once, answer.errors, strict=True))

    def told(name: str, id_: Any) -> Entity:
        error = errors.get((name, id_), ErrorCode.invalid_request)
        why = None if (name, id_) in errors else DUPLICATE
        if error is ErrorCode.unknown_topic_id and id_ is None:
            error = ErrorCode.unknown_topic_or_partition
        return shaped(shape, name=name or None, topic_id=ids.get(name, id_), error_code=error, error_message=why)

    results = tuple(told(*each) for each in dict.fromkeys(asked))
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


def _enlarge(controller: ActiveController, received: Received) -> Entity:
    """A topic that is named twice is refused."""
    body: Any = received.body
    names = [str(each.name) for each in body.topics]
    wanted = [_more_partitions(each) for each in body.topics if names.count(each.name) == 1]
    answer = create_partitions(controller.active.cluster, wanted, random.randrange)
    if not body.validate_only:
        controller.write(answer.records)
    told = dict(zip((each.topic for each in wanted), answer.errors, strict=True))
    shape = received.shape("CreatePartitionsTopicResult")
    counts = {each.topic: each.count for each in wanted}
    results = tuple(
        shape(
            name=name,
            error_code=(error := told.get(name, ErrorCode.invalid_request)),
            error_message=_not_more(controller, name, counts) if error is ErrorCode.invalid_partitions else None,
        )
        for name in dict.fromkeys(names)
    )
    return received.answer("CreatePartitionsResponse", results=results)


def _not_more(controller: ActiveController, topic: str, counts: Mapping[str, int]) -> str:
    now, wanted = len(controller.active.cluster.partitions(topic)), counts[topic]
    if wanted == now:
        return f"Topic already has {now} partition(s)."
    return f"The topic {topic} currently has {now} partition(s); {wanted} would not be an increase."


def _more_partitions(asked: Any) -> MorePartitions:
    assignments = None
    if asked.assignments is not None:
        assignments = tuple(tuple(map(int, each.broker_ids)) for each in asked.assignments)
    return MorePartitions(str(asked.name), int(asked.count), assignments)


def _reassign(controller: ActiveController, received: Received) -> Entity:
    body: Any = received.body
    wanted = tuple(_reassignment(str(topic.name), each) for topic in body.topics for each in topic.partitions)
    may_change = getattr(body, "allow_replication_factor_change", True)
    request = AlterPartitionReassignments(wanted, may_change)
    answer = alter_reassignments(controller.active.cluster, request)
    controller.write(answer.records)
    named = zip((each.partition for each in wanted), answer.errors, strict=True)
    shape = received.shape("ReassignablePartitionResponse")
    topics = tuple(
        received.shape("ReassignableTopicResponse")(
            name=topic,
            partitions=tuple(
                shape(partition_index=name.partition, error_code=error, error_message=None) for name, error in told
            ),
        )
        for topic, told in _by_topic(named).items()
    )
    return received.answer(
        "AlterPartitionReassignmentsResponse", error_code=ErrorCode.none, error_message=None, responses=topics
    )


def _reassignment(topic: str, asked: Any) -> Reassignment:
    replicas = None if asked.replicas is None else tuple(map(int, asked.replicas))
    return Reassignment(TopicPartition(topic, int(asked.partition_index)), replicas)


def _by_topic(named: Iterable[tuple[TopicPartition, Any]]) -> dict[str, list[tuple[TopicPartition, Any]]]:
    found: dict[str, list[tuple[TopicPartition, Any]]] = {}
    for name, what in named:
        found.setdefault(name.topic, []).append((name, what))
    return found


def _list_reassigned(controller: ActiveController, received: Received) -> Entity:
    """Of all topics where none are named; who is not being reassigned is left out."""
    body: Any = received.body
    names = None
    if body.topics is not None:
        names = [
            TopicPartition(str(topic.name), int(each)) for topic in body.topics for each in topic.partition_indexes
        ]
    ongoing = _by_topic(reassigned(controller.active.cluster, names))
    shape = received.shape("OngoingPartitionReassignment")
    topics = tuple(
        received.shape("OngoingTopicReassignment")(
            name=topic,
            partitions=tuple(
                shape(
                    partition_index=name.partition,
                    replicas=state.replicas,
                    adding_replicas=state.adding,
                    removing_replicas=state.removing,
                )
                for name, state in told
            ),
        )
        for topic, told in ongoing.items()
    )
    return received.answer(
        "ListPartitionReassignmentsResponse", error_code=ErrorCode.none, error_message=None, topics=topics
    )


OF_TOPICS: Final[Mapping[int, Answers]] = {
    19: _create,
    20: _delete,
    37: _enlarge,
    43: _elect,
    45: _reassign,
    46: _list_reassigned,
}
"""By API key."""
