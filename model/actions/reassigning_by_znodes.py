"""A reassignment through ZooKeeper: which znodes tell how it stands, and the writes that a command is.

Source: `kafka.zk.{ReassignPartitionsZNode,TopicZNode}` (3.9); `ReassignPartitionsCommand` (0.8 to 2.x), which creates
`/admin/reassign_partitions` and leaves the rest to the controller. The topics' versions are checked with it, so that a
plan is not carried out on an assignment that changed meanwhile.
"""

from collections.abc import Iterable

from model.actions.config_steps import config_in, config_steps
from model.actions.found import Found, check, create
from model.actions.proposal import ActionRefused, ZnodeWrite
from model.actions.reassignment import Begin, Command, PartitionNow, SetConfigs, Standing, Wanted
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.controller.zookeeper import REASSIGNMENTS
from model.znodes.admin import PartitionReassignment, ReassignmentEntry, decode_reassignment
from model.znodes.partition_state import decode_partition_state
from model.znodes.paths import config_path, partition_state_path, topic_path
from model.znodes.reasons import UnusablePayloadError
from model.znodes.topics import TopicAssignment, decode_topic


def paths(wanted: Wanted) -> list[str]:
    """The znodes to read for a `Standing`; who is alive is in the children of /brokers/ids."""
    topics = dict.fromkeys(topic_path(name.topic) for name in wanted.partitions)
    states = (partition_state_path(*name) for name in wanted.partitions)
    return [REASSIGNMENTS, *topics, *states, *map(config_path, wanted.entities)]


def standing_of(found: Found, alive: Iterable[str], wanted: Wanted) -> Standing:
    """How it stands. Raises ActionRefused where a znode cannot be read."""
    asked = _asked(found)
    topics = {name.topic: _topic(found, name.topic) for name in wanted.partitions}
    now = {name: _partition(found, topics[name.topic], name, asked.get(name)) for name in wanted.partitions}
    # A topic that exists has its znode of configs; a broker's is created when something is set.
    known = (name for name in wanted.entities if config_path(name) in found or not name.startswith("topics/"))
    return Standing(
        partitions={name: partition for name, partition in now.items() if partition is not None},
        alive=frozenset(int(name) for name in alive if name.isdigit()),
        configs={name: config_in(found, name).config for name in known},
        is_taken=REASSIGNMENTS in found,
    )


def steps_of(command: Command, image: ClusterImage, found: Found) -> tuple[ZnodeWrite, ...]:
    """The writes, for the versions found. `image` says which release it is."""
    if isinstance(command, SetConfigs):
        return tuple(_config_steps(command, image, found))
    return _begin(command, found)


def _begin(command: Begin, found: Found) -> tuple[ZnodeWrite, ...]:
    entries = (
        ReassignmentEntry(topic=name.topic, partition=name.partition, replicas=goal)
        for name, goal in command.goals.items()
    )
    fences = dict.fromkeys(topic_path(name.topic) for name in command.goals)
    payload = PartitionReassignment(partitions=tuple(entries)).to_bytes()
    return (*(check(found, path) for path in fences), create(REASSIGNMENTS, payload))


def _config_steps(command: SetConfigs, image: ClusterImage, found: Found) -> Iterable[ZnodeWrite]:
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
) -> PartitionNow | None:
    number = name.partition
    if topic is None or number not in topic.partitions:
        return None
    return PartitionNow(
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
