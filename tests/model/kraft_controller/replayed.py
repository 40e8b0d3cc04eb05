"""Replays real metadata logs: what may have set off a record, and whether the rules write just that then.

Causes are not in the log. Each is guessed from what was written: a fenced broker from the record that fences it, an
ISR that was asked for from the one that was written; a guess counts only if the decision on it is what the log has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from model.cluster.cluster_image import EMPTY
from model.cluster.ids import TopicPartition
from model.kraft_controller.cluster import (
    BrokerChanged,
    BrokerRegistered,
    BrokerUnregistered,
    ConfigWritten,
    ElrCleared,
    FeatureWritten,
    KraftCluster,
    MetadataRecord,
    PartitionChanged,
    PartitionCreated,
    TopicCreated,
    TopicRemoved,
)
from model.kraft_controller.decide import (
    BrokerCaughtUp,
    BrokerRegisters,
    BrokerSilent,
    DirectoriesFailed,
    KraftEvent,
    ShutdownWanted,
    UnregisterWanted,
    decide,
)
from model.kraft_controller.partition_change import Election, Levels, PartitionChange, Registration
from model.kraft_controller.requests import (
    AlterPartition,
    AlterPartitionReassignments,
    AssignReplicasToDirs,
    ElectLeaders,
    LeaderProposal,
    Reassignment,
    alter_partition,
    alter_reassignments,
    assign_replicas_to_dirs,
    elect_leaders,
)
from model.kraft_controller.settings import Setting, alter_configs
from model.kraft_controller.topics import MorePartitions, NewTopic, create_partitions, create_topics
from model.metadata_log.decoder import Decoded, decode
from tests.model.metadata_log.kept import LOG, records

KINDS = {2: "topics", 4: "brokers"}
RECOVERING = 1


class Logged(NamedTuple):
    """A record of the log. `change`: of a PartitionChange, whose state before is not known until all is replayed."""

    offset: int
    record: MetadataRecord | None
    partition: TopicPartition | None = None
    change: PartitionChange | None = None

    def on(self, cluster: KraftCluster) -> MetadataRecord:
        if self.partition is not None and self.change is not None:
            return PartitionChanged(self.partition, cluster.partition(self.partition), self.change)
        assert self.record is not None
        return self.record


class Cause(NamedTuple):
    """Why so many records were written; 0: nothing explains the next one."""

    name: str
    records: int


class Replayed(msgspec.Struct):
    """What was explained, and the offsets of what was not."""

    causes: Counter[str]
    changes: Counter[str]
    """Partition changes by their cause."""
    unexplained: list[tuple[int, Any]]


def log_of(folder: Path) -> list[Logged]:
    """A log, and before it what the node was formatted with."""
    files = [*sorted(folder.glob(f"{0:020}-*.checkpoint")), folder / LOG]
    topics: dict[str, str] = {}
    found: list[Logged] = []
    for path in files:
        for batch, record in records(path):
            said = None if batch.is_control else decode(record.value)
            if isinstance(said, Decoded) and (told := _told(said, record.offset, topics)) is not None:
                found.append(told)
    return found


def _told(said: Decoded, offset: int, topics: dict[str, str]) -> Logged | None:
    fields: dict[str, Any] = dict(said.fields)
    name = said.schema.name.removesuffix("Record")
    if name == "Topic":
        topics[fields["topicId"]] = fields["name"]
        return Logged(offset, TopicCreated(fields["name"]))
    if name == "RemoveTopic":
        return Logged(offset, TopicRemoved(topics[fields["topicId"]]))
    if name == "Partition":
        partition = TopicPartition(topics[fields["topicId"]], fields["partitionId"])
        return Logged(offset, PartitionCreated(partition, registration(fields)))
    if name == "PartitionChange":
        partition = TopicPartition(topics[fields["topicId"]], fields["partitionId"])
        return Logged(offset, None, partition, _change(fields))
    if name == "Config" and fields["resourceType"] in KINDS:
        entity = f"{KINDS[fields['resourceType']]}/{fields['resourceName'] or '<default>'}"
        return Logged(offset, ConfigWritten(entity, fields["name"], fields["value"]))
    record = _of_broker(name, fields)
    return None if record is None else Logged(offset, record)


def _of_broker(name: str, fields: dict[str, Any]) -> MetadataRecord | None:
    match name:
        case "RegisterBroker":
            return BrokerRegistered(
                fields["brokerId"],
                fields["brokerEpoch"],
                fields["fenced"],
                fields.get("inControlledShutdown", False),
                fields["rack"],
                tuple(fields.get("logDirs", ())),
            )
        case "UnregisterBroker":
            return BrokerUnregistered(fields["brokerId"])
        case "BrokerRegistrationChange":
            fenced = fields.get("fenced", 0)
            leaves = fields.get("inControlledShutdown", 0) > 0 or None
            dirs = tuple(fields["logDirs"]) if fields.get("logDirs") else None
            if not fenced and not leaves and dirs is None:
                return None  # of directories that take no new replicas
            return BrokerChanged(fields["brokerId"], fenced > 0 if fenced else None, leaves, dirs)
        case "FeatureLevel":
            return FeatureWritten(fields["name"], fields["featureLevel"])
        case "ClearElr":
            return ElrCleared(fields["topicName"])
        case _:
            return None


def registration(fields: dict[str, Any]) -> Registration:
    return Registration(
        tuple(fields["replicas"]),
        tuple(fields["isr"]),
        fields["leader"],
        fields["leaderEpoch"],
        fields["partitionEpoch"],
        tuple(fields.get("removingReplicas", ())),
        tuple(fields["addingReplicas"]),
        tuple(fields.get("eligibleLeaderReplicas") or ()),
        tuple(fields.get("lastKnownElr") or ()),
        fields.get("leaderRecoveryState") == RECOVERING,
        tuple(fields.get("directories", ())),
    )


def _change(fields: dict[str, Any]) -> PartitionChange:
    def brokers(name: str) -> tuple[Any, ...] | None:
        return None if fields.get(name) is None else tuple(fields[name])

    recovery = fields.get("leaderRecoveryState", -1)
    return PartitionChange(
        fields.get("leader"),
        brokers("isr"),
        brokers("replicas"),
        brokers("removingReplicas"),
        brokers("addingReplicas"),
        brokers("eligibleLeaderReplicas"),
        brokers("lastKnownElr"),
        None if recovery < 0 else recovery == RECOVERING,
        brokers("directories"),
    )


def replay(log: Sequence[Logged], release: tuple[int, int]) -> Replayed:
    """Explains a log from its beginning."""
    told, at = Replayed(Counter(), Counter(), []), 0
    cluster = KraftCluster(EMPTY, levels=Levels(release, 0))
    while at < len(log):
        cause = _cause(cluster, log, at)
        written = log[at : at + max(1, cause.records)]
        changes = sum(each.change is not None for each in written)
        if cause.records:
            told.causes[cause.name] += 1
            told.changes[cause.name] += changes
        else:
            told.unexplained.append((log[at].offset, log[at].on(cluster)))
        for each in written:
            cluster = cluster.after([each.on(cluster)])
        at += len(written)
    told.changes = +told.changes
    return told


def _cause(cluster: KraftCluster, log: Sequence[Logged], at: int) -> Cause:
    """What explains the next records."""
    for name, expected in _guesses(cluster, log, at):
        if expected and _is_written(cluster, expected, log[at : at + len(expected)]):
            return Cause(name, len(expected))
    return Cause("nothing", 0)


def _is_written(cluster: KraftCluster, expected: Sequence[MetadataRecord], written: Sequence[Logged]) -> bool:
    """Whether both are the same; changes of partitions in any order, as that of hash tables is not told."""
    found = [each.on(cluster) for each in written]
    return len(found) == len(expected) and sorted(map(_plain, found)) == sorted(map(_plain, expected))


def _plain(record: MetadataRecord) -> str:
    if isinstance(record, PartitionChanged):
        return f"{record.partition} {record.change}"
    return repr(record)


Guess = tuple[str, Sequence[MetadataRecord]]


def _guesses(cluster: KraftCluster, log: Sequence[Logged], at: int) -> Iterator[Guess]:
    """Causes with what the rules write then, the greater ones first."""
    broker_record = next((each.record for each in log[at:] if each.change is None), None)
    for event in _events(cluster, broker_record, log[at].offset):
        yield type(event).__name__, decide(cluster, event).records
    match log[at].record:
        case TopicCreated() | PartitionCreated():
            yield from _creations(cluster, log, at)
        case ConfigWritten():
            yield "config", _configs(cluster, log, at)
        case TopicRemoved() | FeatureWritten() | BrokerRegistered() as record:
            yield type(record).__name__, (record,)
        case None:
            yield from _requests(cluster, log[at])
        case _:
            pass


def _events(cluster: KraftCluster, record: MetadataRecord | None, offset: int) -> Iterator[KraftEvent]:
    match record:
        case BrokerChanged(broker, fenced=True):
            yield BrokerSilent(broker)
        case BrokerChanged(broker, fenced=False):
            yield BrokerCaughtUp(broker)
        case BrokerChanged(broker, in_controlled_shutdown=True):
            yield ShutdownWanted(broker)
        case BrokerChanged(broker, directories=tuple() as working) if broker in cluster.brokers:
            known = cluster.brokers[broker].directories
            yield DirectoriesFailed(broker, tuple(each for each in known if each not in working))
        case BrokerRegistered(broker, rack=rack, directories=directories):
            for again in (False, True):
                for clean in (False, True):
                    yield BrokerRegisters(broker, offset, clean, again, rack, directories)
        case BrokerUnregistered(broker):
            yield UnregisterWanted(broker)
        case _:
            pass


def _creations(cluster: KraftCluster, log: Sequence[Logged], at: int) -> Iterator[Guess]:
    first = log[at].record
    topic = first.topic if isinstance(first, TopicCreated) else None
    configs: dict[str, str | None] = {}
    partitions: list[tuple[int, tuple[int, ...]]] = []
    for each in log[at + (topic is not None) :]:
        match each.record:
            case ConfigWritten(entity, key, value) if entity == f"topics/{topic}" and not partitions:
                configs[key] = value
            case ElrCleared(named) if named == topic and not partitions:
                pass
            case PartitionCreated(name, registration) if topic in (None, name.topic):
                partitions.append((name.partition, registration.replicas))
            case _:
                break
    if topic is not None:
        wanted = NewTopic(topic, assignments=tuple(partitions), configs=configs)
        yield "topic created", create_topics(cluster, [wanted], lambda _: 0).records
    elif isinstance(first, PartitionCreated) and cluster.partitions(first.partition.topic):
        more = MorePartitions(first.partition.topic, partitions[-1][0] + 1, tuple(each for _, each in partitions))
        yield "partitions added", create_partitions(cluster, [more], lambda _: 0).records


def _configs(cluster: KraftCluster, log: Sequence[Logged], at: int) -> Sequence[MetadataRecord]:
    settings: list[Setting] = []
    for each in log[at:]:
        if not isinstance(each.record, ConfigWritten):
            break
        settings.append(Setting(each.record.entity, each.record.key, each.record.value))
    found: Sequence[MetadataRecord] = ()
    if cluster.levels.elr and not cluster.brokers:
        return tuple(ConfigWritten(each.entity, each.key, each.value) for each in settings)  # as it was formatted
    for count in range(1, len(settings) + 1):  # requests of one setting each may follow each other
        found = alter_configs(cluster, settings[:count]).records
        if _is_written(cluster, found, log[at : at + len(found)]):
            return found
    return found


def _requests(cluster: KraftCluster, logged: Logged) -> Iterator[Guess]:
    """Of one partition: those of a request do not depend on each other."""
    name, change = logged.partition, logged.change
    assert name is not None and change is not None
    before = cluster.partition(name)
    if change.directories is not None:
        for broker, directory in zip(change.replicas or before.replicas, change.directories, strict=True):
            if broker in cluster.brokers and before.directory(broker) != directory:
                told = AssignReplicasToDirs(broker, cluster.brokers[broker].epoch, ((name, directory),))
                yield "directory", assign_replicas_to_dirs(cluster, told).records
    if change.replicas is not None or change.adding is not None or change.removing is not None:
        leaving = before.removing if change.removing is None else change.removing
        target = tuple(each for each in change.replicas or before.replicas if each not in leaving)
        for replicas in (target, None):
            wanted = AlterPartitionReassignments((Reassignment(name, replicas),))
            what = "reassignment" if replicas is not None else "cancel"
            yield what, alter_reassignments(cluster, wanted).records
    yield from _proposals(cluster, name, before, change)
    for election in (Election.PREFERRED, Election.UNCLEAN):
        yield f"{election.value} election", elect_leaders(cluster, ElectLeaders(election, (name,))).records


def _proposals(
    cluster: KraftCluster, name: TopicPartition, before: Registration, change: PartitionChange
) -> Iterator[Guess]:
    """The ISR that was written; where a reassignment ended by it, any that has one replica more."""
    if before.leader not in cluster.brokers:
        return
    isrs = [before.isr if change.isr is None else change.isr]
    isrs += [(*before.isr, each) for each in before.replicas if before.is_reassigned and each not in before.isr]
    epoch = cluster.brokers[before.leader].epoch
    for isr in isrs:
        proposal = LeaderProposal(name, isr, before.leader_epoch, before.partition_epoch)
        yield "AlterPartition", alter_partition(cluster, AlterPartition(before.leader, epoch, (proposal,))).records
