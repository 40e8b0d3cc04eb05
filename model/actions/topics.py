"""Creating and deleting topics, and taking the mark of a deletion away.

Kafka's checks and placement come first, then the znodes or the request that it takes.

Source: `AdminUtils.createTopic` (0.8.2), `AdminZkClient.createTopicWithAssignment` (1.1 to 3.9);
`TopicCommand.deleteTopic` (0.8.2, 1.1), `AdminZkClient.deleteTopic`, `TopicDeletionManager` (3.9).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from model.actions.configs import config_in
from model.actions.kraft import DRAWN, Dice, check_assignment, placed_by_rules
from model.actions.proposal import (
    ActionRefused,
    ApiCall,
    Basis,
    Proposal,
    Replicas,
    Step,
    ZnodeWrite,
    check,
    create,
    delete,
    put,
    refuse,
)
from model.cluster.findings.pending_work import pending_work
from model.cluster.ids import INTERNAL_TOPICS, NO_LEADER
from model.cluster.records import ClusterRecord, ConfigChanged, PartitionState, PartitionStatesWritten, TopicAssigned
from model.cluster.texts import brokers, counted, listed
from model.cluster.texts import brokers as broker_names
from model.cluster.texts import replicas as replica_list
from model.cluster.topic_image import TopicImage
from model.controller import Refusal
from model.controller.placement import PlacementRequest, RackMode, place
from model.controller.topic_validation import (
    TopicCreation,
    colliding,
    creation_problem,
    deletion_problem,
    has_collision_chars,
)
from model.znodes.paths import config_path, delete_topic_path, topic_path
from model.znodes.topics import TopicAssignment


def states_of_new(topic: str, added: Replicas, live: Collection[int]) -> PartitionStatesWritten:
    """Of the partitions `added` to a topic, by the brokers that are `live`."""
    return PartitionStatesWritten(topic=topic, states=tuple(_state(*each, live) for each in added.items()))


def _state(partition: int, replicas: tuple[int, ...], live: Collection[int]) -> PartitionState:
    in_sync = tuple(broker for broker in replicas if broker in live)
    return PartitionState(
        partition=partition,
        leader=in_sync[0] if in_sync else NO_LEADER,
        leader_epoch=0,
        isr=in_sync or replicas,
        controller_epoch=0,
        version=0,
    )


class NewTopic(msgspec.Struct, frozen=True, kw_only=True):
    """A topic that is wanted. Without `assignment` its replicas are placed.

    Counts that are None are left to the brokers' defaults, which only they know.
    """

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    assignment: Replicas = {}
    configs: Mapping[str, str] = {}
    rack_mode: RackMode = RackMode.ENFORCED
    topic_id: str | None = None
    """22 characters of base64url, for clusters whose topics have ids."""


def new_topic_paths(name: str) -> tuple[str, ...]:
    """What has to be read before it is created through ZooKeeper."""
    return topic_path(name), config_path(f"topics/{name}"), delete_topic_path(name)


def create_topic(basis: Basis, wanted: NewTopic, dice: Dice) -> Proposal:
    """The topic with all its replicas placed. Raises ActionRefused with Kafka's reason."""
    assignment = _assignment(basis, wanted, dice)
    existing = {*basis.image.topics, *(() if basis.found is None else _found_topic(basis, wanted.name))}
    creation = TopicCreation(
        topic=wanted.name,
        assignment=assignment or {0: (0,)},
        existing=existing,
        marked_for_deletion=_marked(basis, wanted.name),
        longest_name=basis.rules.longest_topic_name,
        forbids_collisions=basis.rules.forbids_collisions,
    )
    problem = creation_problem(creation)
    if problem is not None:
        raise refuse(problem)
    steps = (_call(wanted, assignment),) if basis.found is None else _writes(basis, wanted, assignment)
    return Proposal(
        f"create topic {wanted.name}",
        steps,
        changes=tuple(_changes(wanted, assignment)),
        warnings=tuple(_creation_warnings(basis, wanted, assignment)),
        rollback=f"kdrill topics SOURCE delete --topic {wanted.name}",
        leads_to=_leads_to(basis, wanted, assignment),
    )


def _leads_to(basis: Basis, wanted: NewTopic, assignment: Replicas) -> tuple[ClusterRecord, ...]:
    if not assignment:
        return ()
    return (
        TopicAssigned(topic=wanted.name, replicas=assignment),
        states_of_new(wanted.name, assignment, basis.active),
        ConfigChanged(entity=f"topics/{wanted.name}", config=wanted.configs),
    )


def _assignment(basis: Basis, wanted: NewTopic, dice: Dice) -> Replicas:
    """Empty where the brokers are to place the replicas."""
    cluster = basis.kraft()
    if wanted.assignment:
        if cluster is not None:
            check_assignment(cluster, wanted.assignment)
        return wanted.assignment
    if wanted.partitions is None or wanted.replication_factor is None:
        if basis.found is None:
            return {}
        raise ActionRefused("without --partitions and --replication-factor, or --replica-assignment: ZooKeeper does "
                            "not know the brokers' defaults")  # fmt: skip
    if cluster is not None:
        return placed_by_rules(cluster, range(wanted.partitions), wanted.replication_factor, dice)
    brokers = basis.brokers(wanted.rack_mode)
    dies = max(len(brokers), 1)
    placed = place(brokers, PlacementRequest(wanted.partitions, wanted.replication_factor, dice(dies), dice(dies)))
    if isinstance(placed, Refusal):
        raise refuse(placed)
    return placed


def _found_topic(basis: Basis, name: str) -> tuple[str, ...]:
    return (name,) if basis.found and topic_path(name) in basis.found else ()


def _marked(basis: Basis, name: str) -> frozenset[str]:
    marked = basis.image.admin.delete_topics
    return marked | {name} if delete_topic_path(name) in (basis.found or {}) else marked


def _writes(basis: Basis, wanted: NewTopic, assignment: Replicas) -> tuple[ZnodeWrite, ...]:
    """The settings come first, so that no broker makes a log without them; a znode is written for none, too."""
    found = basis.found or {}
    entity = f"topics/{wanted.name}"
    config = msgspec.structs.replace(config_in(found, entity), config=dict(wanted.configs))
    has_ids = basis.rules.forms.topic_version >= 3 and _uses_ids(basis)
    payload = TopicAssignment(
        partitions=assignment,
        topic_id=wanted.topic_id if has_ids else None,
        version=basis.rules.forms.topic_version,
    )
    settings = put(found, config_path(entity), config.to_bytes())
    return settings, create(topic_path(wanted.name), payload.to_bytes())


def _uses_ids(basis: Basis) -> bool:
    """With an older inter.broker.protocol.version topics of 2.8 and later have none."""
    topics = basis.image.topics.values()
    return not topics or any(topic.topic_id is not None for topic in topics)


def _call(wanted: NewTopic, assignment: Replicas) -> ApiCall:
    fields: dict[str, object] = {"configs": dict(wanted.configs)}
    if assignment:
        fields["assignments"] = {str(partition): list(replicas) for partition, replicas in assignment.items()}
    else:
        fields["num_partitions"] = -1 if wanted.partitions is None else wanted.partitions
        fields["replication_factor"] = -1 if wanted.replication_factor is None else wanted.replication_factor
    return ApiCall("CreateTopics", {"topics": {wanted.name: fields}}, {f"partitions {wanted.name}": None})


def _changes(wanted: NewTopic, assignment: Replicas) -> Iterator[str]:
    if not assignment:
        partitions = "the default number of" if wanted.partitions is None else str(wanted.partitions)
        factor = "by default" if wanted.replication_factor is None else f"{wanted.replication_factor} each"
        yield f"{wanted.name}: none → {partitions} partitions, replicas {factor}, placed by the brokers"
    for partition, replicas in assignment.items():
        yield f"{wanted.name}-{partition}: none → replicas {replica_list(replicas)}"
    for name, value in wanted.configs.items():
        yield f"{name}: default → {value}"


def _creation_warnings(basis: Basis, wanted: NewTopic, assignment: Replicas) -> Iterator[str]:
    if has_collision_chars(wanted.name):
        others = colliding(wanted.name, basis.image.topics)
        like = f", as those of {', '.join(others)}" if others else ""
        yield f"metrics show . and _ as the same sign{like}: use one of them in all names"
    replicas = next(iter(assignment.values()), ())
    if len(replicas) == 1:
        yield "one replica: each broker that stops takes its partitions with it"
    least = wanted.configs.get("min.insync.replicas", "")
    if assignment and least.isdigit() and int(least) > len(replicas):
        replicas_there = counted(len(replicas), "replica")
        yield f"min.insync.replicas is {least} and there are {replicas_there}: no write with acks=all will pass"
    dead = {replica for each in assignment.values() for replica in each} - basis.active
    if dead:
        how = "fenced" if dead <= basis.image.fenced.keys() else "down"
        yield f"{broker_names(dead)} ({how}) get replicas: those are out of sync until they come back"
    if basis.is_kraft and assignment and not wanted.assignment:
        yield DRAWN


def deletion_paths(names: Sequence[str]) -> tuple[str, ...]:
    """What has to be read before these topics are deleted through ZooKeeper, or their marks taken away."""
    return tuple(path for name in names for path in (topic_path(name), delete_topic_path(name)))


def delete_topics(basis: Basis, names: Sequence[str]) -> Proposal:
    """The topics with all their records. Raises ActionRefused with Kafka's reason."""
    if basis.rules.deletes_by_default is None:
        raise ActionRefused("Kafka 0.8.0 cannot delete topics")
    for name in names:
        if name in INTERNAL_TOPICS:
            raise ActionRefused(f"{name} is internal to Kafka: it is not deleted")
        problem = deletion_problem(name, basis.image.topics, basis.image.admin.delete_topics)
        if problem is not None:
            stuck = waits_for(basis, name)
            raise refuse(problem) if not stuck else ActionRefused(f"{name} is marked for deletion already: {stuck}")
    topics = [basis.topic(name) for name in names]
    return Proposal(
        f"delete {'topic ' if len(names) == 1 else 'topics '}{listed(names)}",
        _deletion_steps(basis, topics),
        changes=tuple(f"{topic.name}: {_size(topic)} → deleted with all records" for topic in topics),
        warnings=tuple(_deletion_warnings(basis, topics)),
        type_to_confirm=",".join(names),
    )


def waits_for(basis: Basis, name: str) -> str:
    """Why a topic that is marked for deletion is still there; empty for one that is not marked."""
    work = pending_work(basis.image)
    return next((each.waits_for for each in work if each.kind == "delete" and each.topic == name), "")


def remove_delete_marker(basis: Basis, name: str) -> Proposal:
    """The mark of a deletion, which only ZooKeeper holds. Raises ActionRefused where there is none."""
    if basis.is_kraft:
        raise ActionRefused("KRaft deletes topics at once: there are no marks of deletions")
    if basis.found is None:
        raise ActionRefused("the marks of deletions are in ZooKeeper: name it as SOURCE")
    if delete_topic_path(name) not in basis.found:
        raise ActionRefused(f"topic {name!r} is not marked for deletion")
    topic = basis.image.topics.get(name)
    steps: list[Step] = [check(basis.found, topic_path(name))] if topic_path(name) in basis.found else []
    return Proposal(
        f"remove the delete marker of topic {name}",
        (*steps, delete(basis.found, delete_topic_path(name))),
        changes=(f"{name}: marked for deletion → not marked",),
        warnings=tuple(_marker_warnings(basis, name, topic)),
        type_to_confirm=name,
        rollback=f"kdrill topics SOURCE delete --topic {name}",
    )


def _deletion_steps(basis: Basis, topics: Sequence[TopicImage]) -> tuple[Step, ...]:
    if basis.found is None:
        expected = {f"topic-id {topic.name}": topic.topic_id for topic in topics if topic.topic_id is not None}
        expected |= {f"partitions {topic.name}": len(topic) for topic in topics}
        return (ApiCall("DeleteTopics", {"topics": [topic.name for topic in topics]}, expected),)
    gone = next((topic.name for topic in topics if topic_path(topic.name) not in basis.found), None)
    if gone is not None:
        raise ActionRefused(f"topic {gone!r} does not exist any more")
    # The topic that was seen, and none of the same name that came after it.
    return tuple(
        step
        for topic in topics
        for step in (check(basis.found, topic_path(topic.name)), create(delete_topic_path(topic.name)))
    )


def _size(topic: TopicImage) -> str:
    return f"{counted(len(topic), 'partition')}, {counted(int(topic.replica_count.sum()), 'replica')}"


def _deletion_warnings(basis: Basis, topics: Sequence[TopicImage]) -> Iterator[str]:
    image = basis.image
    if image.generation in ("0.8", "0.9-1.x"):
        yield (
            "delete.topic.enable is false by default up to 0.11: a broker so set only keeps the mark (0.8.1 to 0.10.1; "
            "the topic goes once it is set and the controller starts anew) or takes it away again (0.10.2 on)"
        )
    for topic in topics:
        dead = topic.brokers - set(image.brokers)
        if dead and basis.is_kraft:
            yield f"{topic.name}: {brokers(dead)} (fenced) hold replicas, and delete them when they are back"
        elif dead:
            yield f"{topic.name}: {brokers(dead)} (down) hold replicas: the deletion waits until they are back"
        if not basis.is_kraft and (topic.adding or topic.removing):
            yield f"{topic.name} is being reassigned: the deletion waits until that is done"
        readers = sorted(key for key, group in image.every_group() if any(p.topic == topic.name for p in group.offsets))
        if readers:
            yield f"{topic.name} is read by {counted(len(readers), 'group')}: {listed(readers)}"
    yield "producers and consumers that still use the name create it anew where auto.create.topics.enable is true"


def _marker_warnings(basis: Basis, name: str, topic: TopicImage | None) -> Iterator[str]:
    if topic is None:
        yield "there is no such topic any more: the mark has no effect but to forbid the name"
        return
    if stuck := waits_for(basis, name):
        yield f"the deletion waits for: {stuck}"
    yield (
        "a controller that has begun the deletion goes on with it and keeps it in memory: "
        "only the next controller will not know of it; replicas that are deleted already stay so"
    )
