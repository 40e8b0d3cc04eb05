"""Creating topics: Kafka's checks and placement first, then the znodes or the request that it takes.

Source: `AdminUtils.createTopic` (0.8.2), `AdminZkClient.createTopicWithAssignment` (1.1 to 3.9).
"""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from model.actions.basis import Basis, Replicas, refuse
from model.actions.config_steps import config_in
from model.actions.expected_facts import states_of_new
from model.actions.found import create, put
from model.actions.proposal import ActionRefused, ApiCall, Proposal, ZnodeWrite
from model.cluster.records import ConfigChanged, Record, TopicAssigned
from model.cluster.words import brokers as broker_names
from model.cluster.words import counted
from model.cluster.words import replicas as replica_list
from model.controller.placement import RackMode, place
from model.controller.placement_strategies import PlacementRequest
from model.controller.refusal import Refusal
from model.controller.topic_names import colliding, has_collision_chars
from model.controller.validation import TopicCreation, creation_problem
from model.znodes.paths import config_path, delete_topic_path, topic_path
from model.znodes.topics import TopicAssignment

Dice = Callable[[int], int]
"""A number from 0 to below this one."""


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
        warnings=tuple(_warnings(basis, wanted, assignment)),
        rollback=f"kdrill topics SOURCE delete --topic {wanted.name}",
        leads_to=_leads_to(basis, wanted, assignment),
    )


def _leads_to(basis: Basis, wanted: NewTopic, assignment: Replicas) -> tuple[Record, ...]:
    if not assignment:
        return ()
    return (
        TopicAssigned(topic=wanted.name, replicas=assignment),
        states_of_new(wanted.name, assignment, basis.image.brokers),
        ConfigChanged(entity=f"topics/{wanted.name}", config=wanted.configs),
    )


def _assignment(basis: Basis, wanted: NewTopic, dice: Dice) -> Replicas:
    """Empty where the brokers are to place the replicas."""
    if wanted.assignment:
        return wanted.assignment
    if wanted.partitions is None or wanted.replication_factor is None:
        if basis.found is None:
            return {}
        raise ActionRefused("without --partitions and --replication-factor, or --replica-assignment: ZooKeeper does "
                            "not know the brokers' defaults")  # fmt: skip
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


def _warnings(basis: Basis, wanted: NewTopic, assignment: Replicas) -> Iterator[str]:
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
    dead = {replica for each in assignment.values() for replica in each} - set(basis.image.brokers)
    if dead:
        yield f"{broker_names(dead)} (down) get replicas: those are out of sync until they come back"
