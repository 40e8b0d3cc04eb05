"""For every kind of payload: any value of it, with any unknown keys, is the same after encoding and decoding."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.znodes.catalogue import CONFIG_KINDS, ZnodeKind
from model.znodes.cluster import (
    BrokerRegistration,
    ClusterId,
    ControllerEpoch,
    ControllerRegistration,
    FinalizedFeatures,
    FinalizedLevels,
    KraftMigration,
    ProducerIdBlock,
    SupportedVersions,
)
from model.znodes.codec import PAYLOAD_KINDS, decode_as, encode
from model.znodes.configs import (
    AclChange,
    AclEntry,
    ConfigChange,
    DelegationToken,
    EntityConfig,
    ExtendedAclChange,
    ResourceAcls,
    TokenChange,
)
from model.znodes.consumers import ConsumerOffset, ConsumerRegistration, PartitionOwner
from model.znodes.payload import JsonPayload, Payload
from model.znodes.topics import (
    IsrChange,
    LeaderIsrAndControllerEpoch,
    LogDirEvent,
    PartitionEntry,
    PartitionReassignment,
    PreferredReplicaElection,
    ReassignmentEntry,
    TopicAssignment,
)

K = ZnodeKind
INT32 = 2**31 - 1
ids = st.integers(0, INT32)
epochs = st.integers(-1, INT32)
int64 = st.integers(-(2**63), 2**63 - 1)
versions = st.integers(1, INT32)
names = st.text(min_size=1)
replicas = st.lists(ids, min_size=1, max_size=5, unique=True).map(tuple)
timestamps = st.none() | st.integers(0, 2**53) | st.text()
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
unknown = st.none() | st.dictionaries(names.map(lambda name: f"x-{name}"), json_values, min_size=1, max_size=3)


def of(payload: Any, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(payload, extra=unknown, **fields)


entries = st.lists(of(PartitionEntry, topic=names, partition=ids), max_size=3).map(tuple)
PAYLOADS: dict[ZnodeKind, st.SearchStrategy[Payload]] = {
    K.BROKER: of(
        BrokerRegistration,
        features=st.dictionaries(
            st.text(), of(SupportedVersions, min_version=st.integers(1, 9), max_version=st.integers(1, 9)), max_size=2
        ),
        listener_security_protocol_map=st.dictionaries(st.text(), st.text(), max_size=2),
        endpoints=st.lists(st.sampled_from(["PLAINTEXT://h:9092", "SSL://:9093", "X://[::1]:1"])).map(tuple),
        rack=st.none() | st.text(),
        jmx_port=st.integers(-1, 65535),
        port=st.integers(-1, 65535),
        host=st.text(),
        version=versions,
        timestamp=timestamps,
    ),
    K.TOPIC: of(
        TopicAssignment,
        partitions=st.dictionaries(ids, replicas, max_size=3),
        topic_id=st.none() | st.text(),
        adding_replicas=st.dictionaries(ids, replicas, max_size=2),
        removing_replicas=st.dictionaries(ids, replicas, max_size=2),
        version=versions,
    ),
    K.PARTITION_STATE: of(
        LeaderIsrAndControllerEpoch,
        controller_epoch=epochs,
        leader=st.integers(-2, INT32),
        version=versions,
        leader_recovery_state=st.integers(0, 1),
        leader_epoch=epochs,
        isr=st.just(()) | replicas,
    ),
    K.CONTROLLER: of(
        ControllerRegistration,
        version=versions,
        broker_id=epochs,
        timestamp=timestamps,
        kraft_controller_epoch=st.none() | epochs,
    )
    | st.builds(ControllerRegistration, version=st.just(0), broker_id=ids),
    K.CONTROLLER_EPOCH: st.builds(ControllerEpoch, ids),
    K.REASSIGN_PARTITIONS: of(
        PartitionReassignment,
        version=versions,
        partitions=st.lists(of(ReassignmentEntry, topic=names, partition=ids, replicas=replicas), max_size=3).map(
            tuple
        ),
    ),
    K.PREFERRED_REPLICA_ELECTION: of(PreferredReplicaElection, version=versions, partitions=entries),
    **dict.fromkeys(
        CONFIG_KINDS, of(EntityConfig, version=versions, config=st.dictionaries(st.text(), st.text(), max_size=4))
    ),
    K.CONFIG_CHANGE: of(ConfigChange, version=st.just(1), entity_type=names, entity_name=names)
    | of(ConfigChange, version=st.just(2), entity_path=names)
    | st.builds(ConfigChange, version=st.just(0), entity_type=st.just("topics"), entity_name=st.text()),
    K.ISR_CHANGE: of(IsrChange, version=versions, partitions=entries),
    K.LOG_DIR_EVENT: of(LogDirEvent, version=versions, broker=ids, event=ids),
    K.CLUSTER_ID: of(ClusterId, version=st.just("1"), cluster_id=names),
    K.FEATURE: of(
        FinalizedFeatures,
        version=versions,
        status=st.integers(0, 1),
        features=st.dictionaries(
            st.text(),
            of(
                FinalizedLevels,
                min_version_level=st.none() | st.integers(1, 5),
                max_version_level=st.integers(5, 9),
            ),
            max_size=2,
        ),
    ),
    K.PRODUCER_ID_BLOCK: of(
        ProducerIdBlock,
        version=versions,
        broker=epochs,
        block_start=st.integers(0, 2**63 - 1).map(str),
        block_end=st.integers(0, 2**63 - 1).map(str),
    ),
    K.MIGRATION: of(
        KraftMigration,
        version=ids,
        kraft_metadata_offset=int64,
        kraft_controller_id=epochs,
        kraft_metadata_epoch=epochs,
        kraft_controller_epoch=epochs,
    ),
    K.DELEGATION_TOKEN: of(
        DelegationToken,
        version=versions,
        owner=names,
        token_requester=st.none() | st.text(),
        renewers=st.lists(st.text(), max_size=2).map(tuple),
        issue_timestamp_ms=int64,
        max_timestamp_ms=int64,
        expiry_timestamp_ms=int64,
        token_id=names,
    ),
    K.TOKEN_CHANGE: st.builds(TokenChange, names),
    **dict.fromkeys(
        (K.ACL, K.EXTENDED_ACL),
        of(
            ResourceAcls,
            version=versions,
            acls=st.lists(
                of(AclEntry, principal=names, permission_type=names, operation=names, host=names), max_size=2
            ).map(tuple),
        ),
    ),
    K.ACL_CHANGE: st.builds(
        AclChange, st.text(st.characters(codec="utf-8", exclude_characters=":"), min_size=1), names
    ),
    K.EXTENDED_ACL_CHANGE: of(ExtendedAclChange, version=versions, resource_type=names, name=names, pattern_type=names),
    K.GROUP_MEMBER: of(
        ConsumerRegistration,
        version=versions,
        subscription=st.dictionaries(st.text(), ids, max_size=3),
        pattern=st.text(),
        timestamp=timestamps,
    ),
    K.PARTITION_OWNER: st.builds(PartitionOwner, names.filter(lambda text: text.strip() != "")),
    K.CONSUMER_OFFSET: st.builds(ConsumerOffset, int64),
}


def test_every_kind_with_a_payload_is_tried():
    assert PAYLOADS.keys() == PAYLOAD_KINDS


@pytest.mark.parametrize("kind", sorted(PAYLOADS))
@given(st.data())
def test_a_payload_survives_encoding_and_decoding(kind: ZnodeKind, data: st.DataObject):
    payload = data.draw(PAYLOADS[kind])
    encoded = encode(payload)
    assert decode_as(kind, "/any", encoded) == payload
    if isinstance(payload, JsonPayload) and payload.extra:
        parsed = msgspec.json.decode(encoded)
        assert payload.extra.items() <= parsed.items()
