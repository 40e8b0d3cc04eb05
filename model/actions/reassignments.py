"""Reassignments as proposals: the requests or znode writes that a command is, a run forward or back, and cancelling.

What is done when, the run decides (`reassignment_run`). Through ZooKeeper `/admin/reassign_partitions` is created and
the rest left to the controller; the topics' versions are checked with it, so that a plan is not carried out on an
assignment that changed meanwhile. A reassignment is taken back without knowing what was before: what was to be added
goes, what was to be removed stays.

Source: KIP-455 (AlterPartitionReassignments, 2.4), KIP-339 (IncrementalAlterConfigs, 2.3);
`kafka.zk.{ReassignPartitionsZNode,TopicZNode}` (3.9); `ReassignPartitionsCommand` (0.8 to 2.x);
`PartitionReassignmentReplicas` and `ReplicationControlManager.cancelPartitionReassignment` (3.9).
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence

import msgspec
from kio.schema.errors import ErrorCode

from model.actions import reassignment
from model.actions.configs import config_in, config_steps
from model.actions.proposal import ActionRefused, ApiCall, Basis, Found, Proposal, Step, ZnodeWrite, check, create
from model.actions.reassignment_run import decide
from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.pending_work import pending_work
from model.cluster.ids import TopicPartition
from model.cluster.texts import brokers, counted, replicas
from model.kraft_controller.cluster import KraftCluster
from model.kraft_controller.requests import AlterPartitionReassignments, Reassignment, alter_reassignments
from model.znodes.paths import REASSIGNMENTS, config_path, partition_state_path, topic_path
from model.znodes.payload import UnusablePayloadError
from model.znodes.topics import (
    PartitionReassignment,
    ReassignmentEntry,
    TopicAssignment,
    decode_partition_state,
    decode_reassignment,
    decode_topic,
)


def calls_of(command: reassignment.Command, observed: reassignment.ObservedCluster) -> tuple[ApiCall, ...]:
    """The requests; that replicas are still those of `observed` is checked when they are sent."""
    if isinstance(command, reassignment.BeginMove):
        topics: dict[str, dict[str, list[int]]] = {}
        for name, goal in command.goals.items():
            topics.setdefault(name.topic, {})[str(name.partition)] = list(goal)
        expects = {str(name): list(observed.partitions[name].replicas) for name in command.goals}
        return (ApiCall("AlterPartitionReassignments", {"topics": topics}, expects),)
    resources = [
        {
            "type": "topic" if kind == "topics" else "broker",
            "name": name,
            "set": {key: value for key, value in values.items() if value is not None},
            "delete": [key for key, value in values.items() if value is None],
        }
        for entity, values in command.values.items()
        for kind, _, name in [entity.partition("/")]
    ]
    return (ApiCall("IncrementalAlterConfigs", {"resources": resources}),)


def paths_to_read(wanted: reassignment.WantedReads) -> list[str]:
    """The znodes to read for an `ObservedCluster`; who is alive is in the children of /brokers/ids."""
    topics = dict.fromkeys(topic_path(name.topic) for name in wanted.partitions)
    states = (partition_state_path(*name) for name in wanted.partitions)
    return [REASSIGNMENTS, *topics, *states, *map(config_path, wanted.entities)]


def observed_cluster(
    found: Found, alive: Iterable[str], wanted: reassignment.WantedReads
) -> reassignment.ObservedCluster:
    """How it stands. Raises ActionRefused where a znode cannot be read."""
    asked = _asked(found)
    topics = {name.topic: _topic(found, name.topic) for name in wanted.partitions}
    now = {name: _partition(found, topics[name.topic], name, asked.get(name)) for name in wanted.partitions}
    # A topic that exists has its znode of configs; a broker's is created when something is set.
    known = (name for name in wanted.entities if config_path(name) in found or not name.startswith("topics/"))
    return reassignment.ObservedCluster(
        partitions={name: partition for name, partition in now.items() if partition is not None},
        alive=frozenset(int(name) for name in alive if name.isdigit()),
        configs={name: config_in(found, name).config for name in known},
        is_taken=REASSIGNMENTS in found,
    )


def writes_of(command: reassignment.Command, image: ClusterImage, found: Found) -> tuple[ZnodeWrite, ...]:
    """The writes, for the versions found. `image` says which release it is."""
    if isinstance(command, reassignment.SetConfigs):
        return tuple(_config_steps(command, image, found))
    return _begin(command, found)


def _begin(command: reassignment.BeginMove, found: Found) -> tuple[ZnodeWrite, ...]:
    entries = (
        ReassignmentEntry(topic=name.topic, partition=name.partition, replicas=goal)
        for name, goal in command.goals.items()
    )
    fences = dict.fromkeys(topic_path(name.topic) for name in command.goals)
    payload = PartitionReassignment(partitions=tuple(entries)).to_bytes()
    return (*(check(found, path) for path in fences), create(REASSIGNMENTS, payload))


def _config_steps(command: reassignment.SetConfigs, image: ClusterImage, found: Found) -> Iterable[ZnodeWrite]:
    for entity, values in command.values.items():
        config = dict(config_in(found, entity).config)
        for key, value in values.items():
            if value is None:
                config.pop(key, None)
            else:
                config[key] = value
        yield from config_steps(image, found, entity, config)


def _asked(found: Found) -> dict[TopicPartition, tuple[int, ...]]:
    znode = found.get(REASSIGNMENTS)
    if znode is None:
        return {}
    try:
        entries = decode_reassignment(znode.data).partitions
    except UnusablePayloadError as error:
        raise ActionRefused(f"{REASSIGNMENTS} {error}: the controller cannot use it either; remove it") from None
    return {TopicPartition(entry.topic, entry.partition): entry.replicas for entry in entries}


def _topic(found: Found, topic: str) -> TopicAssignment | None:
    znode = found.get(topic_path(topic))
    try:
        return None if znode is None else decode_topic(znode.data)
    except UnusablePayloadError as error:
        raise ActionRefused(f"{topic_path(topic)} {error}: mend it before its replicas are moved") from None


def _partition(
    found: Found, topic: TopicAssignment | None, name: TopicPartition, asked: tuple[int, ...] | None
) -> reassignment.PartitionNow | None:
    number = name.partition
    if topic is None or number not in topic.partitions:
        return None
    return reassignment.PartitionNow(
        replicas=topic.partitions[number],
        adding=topic.adding_replicas.get(number, ()),
        removing=topic.removing_replicas.get(number, ()),
        isr=_isr(found, name),
        asked=asked,
    )


def _isr(found: Found, name: TopicPartition) -> tuple[int, ...]:
    """Nobody, where it is not known."""
    znode = found.get(partition_state_path(*name))
    try:
        return () if znode is None else decode_partition_state(znode.data).isr
    except UnusablePayloadError:
        return ()


NO_WAY = (
    "through ZooKeeper no reassignment can be taken back: name brokers of 2.4 or later with --bootstrap; "
    "before 2.4 what /admin/reassign_partitions asks for can only be waited for"
)


def under_way(image: ClusterImage, ours: Container[TopicPartition] = ()) -> dict[TopicPartition, tuple[int, ...]]:
    """Partitions that are being reassigned → the replicas they are to have; without `ours`."""
    work = (each for each in pending_work(image) if each.kind == "reassign" and each.partition is not None)
    found = {TopicPartition(each.topic, each.partition or 0): each.target for each in work}
    return {
        name: target
        for name, target in found.items()
        if name not in ours and name.topic in image.topics and name.partition in image.topics[name.topic].row_of
    }


def cancel_reassignments(basis: Basis, partitions: Iterable[TopicPartition]) -> Proposal:
    """These partitions stay where they were. Raises ActionRefused where the way there cannot take anything back."""
    if basis.found is not None or basis.image.generation in ("0.8", "0.9-1.x"):
        raise ActionRefused(NO_WAY)
    held = {name: basis.replicas(name) for name in partitions}
    cluster = basis.kraft()
    back = {name: _origin(basis, name) for name in held} if cluster is None else _taken_back(cluster, held)
    topics: dict[str, dict[str, None]] = {}
    for name in held:
        topics.setdefault(name.topic, {})[str(name.partition)] = None
    expects = {str(name): list(now) for name, now in held.items()}
    return Proposal(
        f"cancel the reassignment of {counted(len(held), 'partition')}",
        (ApiCall("AlterPartitionReassignments", {"topics": topics}, expects),),
        changes=tuple(f"{name}: {replicas(now)} → {replicas(back[name])}" for name, now in held.items()),
        warnings=(
            "the order of the replicas before is not told: another may be the preferred leader now",
            "a throttle that was set for it stays: see kdrill configs SOURCE describe --entity-type brokers",
        ),
        type_to_confirm=str(len(held)),
    )


def _taken_back(cluster: KraftCluster, names: Iterable[TopicPartition]) -> dict[TopicPartition, tuple[int, ...]]:
    """The replicas as KRaft's controller leaves them. Raises ActionRefused for what it refuses."""
    some = tuple(names)
    asked = AlterPartitionReassignments(tuple(Reassignment(name, None) for name in some))
    answer = alter_reassignments(cluster, asked)
    for name, error in zip(some, answer.errors, strict=True):
        if error is ErrorCode.invalid_replica_assignment:
            state = cluster.partition(name)
            raise ActionRefused(
                f"{name} cannot be taken back: of the brokers before, none is in sync; it goes on, or "
                f"{brokers(set(state.replicas) - set(state.adding))} must come back first ({error.name.upper()})"
            )
    after = cluster.after(answer.records)
    return {name: after.partition(name).replicas for name in some}


def _origin(basis: Basis, name: TopicPartition) -> tuple[int, ...]:
    adding = basis.topic(name.topic).adding.get(name.partition, ())
    return tuple(broker for broker in basis.replicas(name) if broker not in adding)


NOT_UNDONE = "through ZooKeeper a batch that was asked for cannot be taken back: it is waited for"
_AGAIN = "the same plan once more carries it out again"


def commands_of(
    state: reassignment.RunState, observed: reassignment.ObservedCluster
) -> Iterator[tuple[reassignment.Command, reassignment.ObservedCluster]]:
    """All that a run is going to do if nothing comes in between, and what the cluster is like each time.

    `observed` has all partitions and all configs of the run.
    """
    while state.phase != "ended":
        decision = decide(state, reassignment.Seen(observed))
        state = decision.state
        if decision.command is not None:
            yield decision.command, observed
            observed = _obeyed(observed, decision.command)
        elif not decision.is_soon:
            before, observed = observed, _settled(observed, state.run.moves)
            if observed is before:
                return  # it would wait for somebody else


def unthrottled_if_idle(state: reassignment.RunState, observed: reassignment.ObservedCluster) -> reassignment.RunState:
    """Without a throttle where none was set yet and nothing is to begin any more."""
    if state.kept or any(isinstance(command, reassignment.BeginMove) for command, _ in commands_of(state, observed)):
        return state
    return msgspec.structs.replace(state, rate=None, rates=())


def proposal_of(
    state: reassignment.RunState,
    observed: reassignment.ObservedCluster,
    steps_of: Callable[[reassignment.Command, reassignment.ObservedCluster], Sequence[Step]],
    title: str,
) -> Proposal:
    """What a run is going to do. The steps are those before anything has changed: the last ones take the throttle off.

    Raises ActionRefused where nothing can begin, or steps cannot be made.
    """
    given = [command for command, _ in commands_of(state, observed)]
    begun = {
        name: goal
        for command in given
        if isinstance(command, reassignment.BeginMove)
        for name, goal in command.goals.items()
    }
    waiting = [] if state.wish == "cancel" else [m for m in state.run.moves if _waits(state, observed, m, begun)]
    if waiting and not begun:
        raise ActionRefused(f"{title}: {_held(state, observed, waiting)}")
    return Proposal(
        title=title,
        steps=tuple(step for command in _on_what_is(given) for step in steps_of(command, observed)),
        changes=(
            *_throttled(state),
            *(
                f"{name}: {replicas(observed.partitions[name].replicas)} → {replicas(goal)}"
                for name, goal in begun.items()
            ),
        ),
        warnings=tuple(_warnings(state, observed, waiting)),
        type_to_confirm=str(len(begun)) if begun else "",
        rollback=_AGAIN if state.is_back else "rollback brings every replica back to where it was, order included",
    )


def _throttled(state: reassignment.RunState) -> Iterator[str]:
    if state.rate is not None and state.wish != "cancel":
        yield f"throttle: {state.rate:,} B/s a broker until it is done; what was set before comes back then"


def _on_what_is(given: Sequence[reassignment.Command]) -> Iterator[reassignment.Command]:
    """Without those that change again what an earlier one has changed: their versions are not known yet."""
    touched: set[str] = set()
    for command in given:
        if isinstance(command, reassignment.BeginMove) or not touched & command.values.keys():
            yield command
        if isinstance(command, reassignment.SetConfigs):
            touched |= command.values.keys()


def _warnings(
    state: reassignment.RunState, observed: reassignment.ObservedCluster, waiting: Sequence[reassignment.ReplicaMove]
) -> Iterator[str]:
    if waiting:
        yield _held(state, observed, waiting)
    if state.rate is None and state.wish != "cancel" and state.run.rate is None:
        yield "no throttle: copying takes all the bandwidth that it gets (--throttle)"
    if state.run.route == "zookeeper":
        yield NOT_UNDONE


def _held(
    state: reassignment.RunState, observed: reassignment.ObservedCluster, waiting: Sequence[reassignment.ReplicaMove]
) -> str:
    needed = {broker for move in waiting for broker in (move.before if state.is_back else move.after)}
    dead = needed - observed.alive
    why = f"{brokers(dead)} must come back first" if dead else "something else is under way, or moved them"
    return f"{counted(len(waiting), 'partition')} cannot begin now: {why}"


def _waits(
    state: reassignment.RunState,
    observed: reassignment.ObservedCluster,
    move: reassignment.ReplicaMove,
    begun: Container[TopicPartition],
) -> bool:
    now = observed.partitions.get(move.name)
    if now is None or move.name in begun or _is_ours(move, now):
        return False
    return now.is_moving or now.replicas != (move.before if state.is_back else move.after)


def _is_ours(move: reassignment.ReplicaMove, now: reassignment.PartitionNow) -> bool:
    """Whether the run itself has asked for it."""
    return now.is_moving and now.heading in (move.before, move.after)


def _settled(
    observed: reassignment.ObservedCluster, moves: Sequence[reassignment.ReplicaMove]
) -> reassignment.ObservedCluster:
    """The cluster once what the run has asked for is done; the same where nothing is under way."""
    now = observed.partitions
    done = {
        move.name: reassignment.PartitionNow(now[move.name].heading, isr=now[move.name].heading)
        for move in moves
        if move.name in now and _is_ours(move, now[move.name])
    }
    if not done:
        return observed
    return msgspec.structs.replace(observed, partitions={**now, **done}, is_taken=False)


def _obeyed(observed: reassignment.ObservedCluster, command: reassignment.Command) -> reassignment.ObservedCluster:
    """The cluster once a command is carried out to its end."""
    if isinstance(command, reassignment.SetConfigs):
        configs = dict(observed.configs)
        for entity, values in command.values.items():
            after = {**configs.get(entity, {}), **values}
            configs[entity] = {key: value for key, value in after.items() if value is not None}
        return msgspec.structs.replace(observed, configs=configs)
    done = {name: reassignment.PartitionNow(goal, isr=goal) for name, goal in command.goals.items()}
    return msgspec.structs.replace(observed, partitions={**observed.partitions, **done})
