"""Records of every type about a small world, so that they meet: few topics, brokers, groups, partitions."""

from hypothesis import strategies as st

from model.cluster import records as r
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import KAFKA_GENERATIONS, TopicPartition
from model.cluster.image_parts import (
    Acl,
    ControllerNode,
    KraftMetadata,
    LogDir,
    Member,
    Quorum,
    QuorumReplica,
    Rebalance,
)
from tests.model.cluster.build import image

names = st.sampled_from(("orders", "payments"))
groups = st.sampled_from(("billing", "[red]audit"))
members = st.sampled_from(("c1", "c2"))
broker_ids = st.integers(1, 4)
partition_ids = st.integers(0, 3)
replica_lists = st.lists(broker_ids, min_size=1, max_size=3, unique=True).map(tuple)
isrs = st.lists(broker_ids, max_size=4, unique=True).map(tuple)
small = st.integers(0, 5)
times = st.integers(0, 2**40)
zxids = st.integers(-1, 2**40)
texts = st.text(max_size=6)
paths = st.sampled_from(("/brokers/ids/9", "/brokers/topics/orders", "/controller"))
named = st.builds(TopicPartition, names, partition_ids)
entities = st.sampled_from(("topics/orders", "topics/payments", "topics/gone", "brokers/1", "users/alice"))
assignments = st.dictionaries(partition_ids, replica_lists, max_size=4)

owned = st.dictionaries(
    members, st.lists(named, min_size=1, max_size=2, unique=True).map(sorted).map(tuple), max_size=2
)
rebalances = st.builds(
    Rebalance,
    times,
    st.lists(texts, max_size=2).map(tuple),
    st.none() | times,
    st.none() | small,
    owned,
    owned,
    st.integers(1, 3),
)

states = st.builds(
    r.PartitionState,
    partition=partition_ids,
    leader=st.sampled_from((-1, 1, 2, 3)),
    leader_epoch=small,
    isr=isrs,
    controller_epoch=small,
    version=small,
    recovering=st.booleans(),
    zxid=zxids,
    time_ms=times,
    elr=st.none() | isrs,
    last_known_elr=st.none() | isrs,
)

RECORDS: dict[type[r.ClusterRecord], st.SearchStrategy[r.ClusterRecord]] = {
    r.BrokerRegistered: st.builds(
        r.BrokerRegistered,
        broker=broker_ids,
        endpoints=st.lists(texts, max_size=2).map(tuple),
        rack=st.none() | texts,
        epoch=st.none() | times,
        registered_ms=times,
        fenced=st.none() | st.just(False),
        in_controlled_shutdown=st.none() | st.booleans(),
    ),
    r.BrokerFenced: st.builds(r.BrokerFenced, broker=broker_ids, rack=st.none() | texts, epoch=st.none() | times),
    r.BrokerLost: st.builds(r.BrokerLost, broker=broker_ids),
    r.ControllerElected: st.builds(r.ControllerElected, broker=broker_ids, since_ms=times),
    r.ControllerLost: st.builds(r.ControllerLost, time_ms=times),
    r.ControllerEpochChanged: st.builds(r.ControllerEpochChanged, epoch=small),
    r.TopicAssigned: st.builds(
        r.TopicAssigned,
        topic=names,
        replicas=assignments,
        topic_id=st.none() | texts,
        adding=st.just({}) | assignments,
        removing=st.just({}) | assignments,
    ),
    r.TopicRemoved: st.builds(r.TopicRemoved, topic=names),
    r.PartitionStatesWritten: st.builds(
        r.PartitionStatesWritten, topic=names, states=st.lists(states, min_size=1, max_size=4).map(tuple)
    ),
    r.PartitionStatesRemoved: st.builds(
        r.PartitionStatesRemoved, topic=names, partitions=st.lists(partition_ids, max_size=3).map(tuple)
    ),
    r.ConfigChanged: st.builds(
        r.ConfigChanged, entity=entities, config=st.dictionaries(st.sampled_from(("min.insync.replicas", "a")), texts)
    ),
    r.ConfigRemoved: st.builds(r.ConfigRemoved, entity=entities),
    r.GroupSeen: st.builds(r.GroupSeen, group=groups),
    r.GroupRemoved: st.builds(r.GroupRemoved, group=groups),
    r.MemberJoined: st.builds(
        r.MemberJoined,
        group=groups,
        member=members,
        subscription=st.dictionaries(names, small),
        pattern=st.sampled_from(("static", "white_list", "black_list")),
        joined_ms=times,
    ),
    r.MemberLeft: st.builds(r.MemberLeft, group=groups, member=members),
    r.PartitionClaimed: st.builds(
        r.PartitionClaimed, group=groups, partition=named, owner=st.sampled_from(("c1-0", "c2-0", "c9-0", "odd"))
    ),
    r.PartitionReleased: st.builds(r.PartitionReleased, group=groups, partition=named),
    r.OffsetCommitted: st.builds(r.OffsetCommitted, group=groups, partition=named, offset=times),
    r.OffsetRemoved: st.builds(r.OffsetRemoved, group=groups, partition=named),
    r.GroupDescribed: st.builds(
        r.GroupDescribed,
        group=groups,
        state=st.sampled_from(("Stable", "PreparingRebalance", "Empty")),
        protocol=st.sampled_from(("range", "")),
        coordinator=st.none() | broker_ids,
        generation=st.none() | small,
        members=st.dictionaries(members, st.builds(Member, st.dictionaries(names, st.just(1)), client_id=texts)),
        owners=st.none() | st.dictionaries(named, members, max_size=3),
    ),
    r.GroupOffsetsFetched: st.builds(
        r.GroupOffsetsFetched, group=groups, offsets=st.dictionaries(named, times, max_size=3)
    ),
    r.GroupDied: st.builds(r.GroupDied, group=groups),
    r.GroupRebalancesSeen: st.builds(
        r.GroupRebalancesSeen,
        group=groups,
        kind=st.sampled_from(("zookeeper", "classic")),
        rebalances=st.lists(rebalances, max_size=2).map(tuple),
    ),
    r.LogEndsRead: st.builds(r.LogEndsRead, ends=st.dictionaries(named, times, max_size=4)),
    r.ReassignmentsRequested: st.builds(
        r.ReassignmentsRequested, targets=st.dictionaries(named, replica_lists, max_size=3)
    ),
    r.PreferredElectionRequested: st.builds(
        r.PreferredElectionRequested, partitions=st.lists(named, max_size=3).map(tuple)
    ),
    r.TopicDeletionRequested: st.builds(r.TopicDeletionRequested, topic=names),
    r.TopicDeletionCleared: st.builds(r.TopicDeletionCleared, topic=names),
    r.ClusterIdentified: st.builds(r.ClusterIdentified, cluster_id=texts),
    r.GenerationRecognised: st.builds(r.GenerationRecognised, generation=st.sampled_from(KAFKA_GENERATIONS)),
    r.ZnodeUnreadable: st.builds(r.ZnodeUnreadable, path=paths, reason=texts),
    r.ZnodeReadable: st.builds(r.ZnodeReadable, path=paths),
    r.QuorumDescribed: st.builds(
        r.QuorumDescribed,
        quorum=st.builds(
            Quorum,
            broker_ids,
            small,
            times,
            voters=st.lists(st.builds(QuorumReplica, broker_ids), max_size=2).map(tuple),
        ),
    ),
    r.MetadataDescribed: st.builds(
        r.MetadataDescribed,
        metadata=st.builds(
            KraftMetadata,
            features=st.dictionaries(texts, small, max_size=2),
            controllers=st.lists(st.builds(ControllerNode, broker_ids), max_size=2).map(tuple),
            acls=st.lists(st.builds(Acl, *[texts] * 7), max_size=2).map(tuple),
            tokens=st.dictionaries(texts, texts, max_size=2),
            next_producer_id=times,
            log_dirs=st.dictionaries(broker_ids, st.lists(texts, max_size=2).map(tuple), max_size=2),
        ),
    ),
    r.LogDirsDescribed: st.builds(
        r.LogDirsDescribed,
        broker=broker_ids,
        folders=st.lists(
            st.builds(LogDir, texts, sizes=st.dictionaries(named, times, max_size=3), total_bytes=times), max_size=2
        ).map(tuple),
    ),
    r.ReplicasWentOffline: st.builds(
        r.ReplicasWentOffline, replicas=st.dictionaries(named, st.tuples(broker_ids), max_size=2)
    ),
    r.ViewsDiffered: st.builds(r.ViewsDiffered, differences=st.dictionaries(names, texts.filter(bool), max_size=2)),
}

histories = st.lists(st.one_of(*RECORDS.values()), max_size=30)
images: st.SearchStrategy[ClusterImage] = histories.map(lambda records: image(*records))
