"""Every path of Kafka's catalogue is recognised, with its variables, and built back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.znodes import paths
from model.znodes.catalogue import CATALOGUE, SECRET_KINDS, ZnodeKind
from model.znodes.configs import DEFAULT_ENTITY
from model.znodes.paths import ZnodeMatch, describe, partition_state_path, recognise, state_place, state_runs

K = ZnodeKind

# Kafka's znodes from 0.8 to 3.9, one real path for each, transcribed from Kafka's sources and not from the catalogue.
KAFKA = {
    "/": ZnodeMatch(K.ROOT),
    "": ZnodeMatch(K.ROOT),
    "/brokers": ZnodeMatch(K.BROKERS),
    "/brokers/ids": ZnodeMatch(K.BROKER_IDS),
    "/brokers/ids/0": ZnodeMatch(K.BROKER, broker_id=0),
    "/brokers/seqid": ZnodeMatch(K.BROKER_SEQUENCE_ID),
    "/brokers/topics": ZnodeMatch(K.TOPICS),
    "/brokers/topics/pay.ments": ZnodeMatch(K.TOPIC, topic="pay.ments"),
    "/brokers/topics/t/partitions": ZnodeMatch(K.PARTITIONS, topic="t"),
    "/brokers/topics/t/partitions/10": ZnodeMatch(K.PARTITION, topic="t", partition=10),
    "/brokers/topics/partitions/partitions/0/state": ZnodeMatch(K.PARTITION_STATE, topic="partitions", partition=0),
    "/controller": ZnodeMatch(K.CONTROLLER),
    "/controller_epoch": ZnodeMatch(K.CONTROLLER_EPOCH),
    "/admin": ZnodeMatch(K.ADMIN),
    "/admin/delete_topics": ZnodeMatch(K.TOPICS_TO_DELETE),
    "/admin/delete_topics/t": ZnodeMatch(K.TOPIC_TO_DELETE, topic="t"),
    "/admin/reassign_partitions": ZnodeMatch(K.REASSIGN_PARTITIONS),
    "/admin/preferred_replica_election": ZnodeMatch(K.PREFERRED_REPLICA_ELECTION),
    "/config": ZnodeMatch(K.CONFIG),
    "/config/topics": ZnodeMatch(K.CONFIG_TYPE),
    "/config/topics/t": ZnodeMatch(K.TOPIC_CONFIG, topic="t"),
    "/config/clients": ZnodeMatch(K.CONFIG_TYPE),
    "/config/clients/a%20b": ZnodeMatch(K.CLIENT_CONFIG, client="a%20b"),
    "/config/users": ZnodeMatch(K.CONFIG_TYPE),
    "/config/users/<default>": ZnodeMatch(K.USER_CONFIG, user=DEFAULT_ENTITY),
    "/config/users/u/clients": ZnodeMatch(K.USER_CLIENTS, user="u"),
    "/config/users/u/clients/<default>": ZnodeMatch(K.USER_CLIENT_CONFIG, user="u", client=DEFAULT_ENTITY),
    "/config/brokers": ZnodeMatch(K.CONFIG_TYPE),
    "/config/brokers/<default>": ZnodeMatch(K.BROKER_CONFIG, entity=DEFAULT_ENTITY),
    "/config/brokers/3": ZnodeMatch(K.BROKER_CONFIG, entity="3"),
    "/config/ips": ZnodeMatch(K.CONFIG_TYPE),
    "/config/ips/10.0.0.1": ZnodeMatch(K.IP_CONFIG, entity="10.0.0.1"),
    "/config/changes": ZnodeMatch(K.CONFIG_CHANGES),
    "/config/changes/config_change_0000000010": ZnodeMatch(K.CONFIG_CHANGE, sequence=10),
    "/isr_change_notification": ZnodeMatch(K.ISR_CHANGES),
    "/isr_change_notification/isr_change_0000000000": ZnodeMatch(K.ISR_CHANGE, sequence=0),
    "/log_dir_event_notification": ZnodeMatch(K.LOG_DIR_EVENTS),
    "/log_dir_event_notification/log_dir_event_0000000002": ZnodeMatch(K.LOG_DIR_EVENT, sequence=2),
    "/cluster": ZnodeMatch(K.CLUSTER),
    "/cluster/id": ZnodeMatch(K.CLUSTER_ID),
    "/feature": ZnodeMatch(K.FEATURE),
    "/latest_producer_id_block": ZnodeMatch(K.PRODUCER_ID_BLOCK),
    "/migration": ZnodeMatch(K.MIGRATION),
    "/delegation_token": ZnodeMatch(K.DELEGATION_TOKENS_ROOT),
    "/delegation_token/tokens": ZnodeMatch(K.DELEGATION_TOKENS),
    "/delegation_token/tokens/a-_b": ZnodeMatch(K.DELEGATION_TOKEN, token_id="a-_b"),
    "/delegation_token/token_changes": ZnodeMatch(K.TOKEN_CHANGES),
    "/delegation_token/token_changes/token_change_0000000001": ZnodeMatch(K.TOKEN_CHANGE, sequence=1),
    "/kafka-acl": ZnodeMatch(K.ACLS),
    "/kafka-acl/Topic": ZnodeMatch(K.ACL_RESOURCE_TYPE, resource_type="Topic"),
    "/kafka-acl/Topic/*": ZnodeMatch(K.ACL, resource_type="Topic", resource="*"),
    "/kafka-acl-changes": ZnodeMatch(K.ACL_CHANGES),
    "/kafka-acl-changes/acl_changes_0000000003": ZnodeMatch(K.ACL_CHANGE, sequence=3),
    "/kafka-acl-extended": ZnodeMatch(K.EXTENDED_ACLS),
    "/kafka-acl-extended/prefixed": ZnodeMatch(K.EXTENDED_ACL_PATTERN_TYPE, pattern_type="prefixed"),
    "/kafka-acl-extended/prefixed/Group": ZnodeMatch(
        K.EXTENDED_ACL_RESOURCE_TYPE, pattern_type="prefixed", resource_type="Group"
    ),
    "/kafka-acl-extended/prefixed/Group/g": ZnodeMatch(
        K.EXTENDED_ACL, pattern_type="prefixed", resource_type="Group", resource="g"
    ),
    "/kafka-acl-extended-changes": ZnodeMatch(K.EXTENDED_ACL_CHANGES),
    "/kafka-acl-extended-changes/acl_changes_0000000004": ZnodeMatch(K.EXTENDED_ACL_CHANGE, sequence=4),
    "/consumers": ZnodeMatch(K.CONSUMERS),
    "/consumers/ids": ZnodeMatch(K.GROUP, group="ids"),
    "/consumers/g/ids": ZnodeMatch(K.GROUP_MEMBERS, group="g"),
    "/consumers/g/ids/g_vm-1795244234648-d0956747": ZnodeMatch(
        K.GROUP_MEMBER, group="g", consumer_id="g_vm-1795244234648-d0956747"
    ),
    "/consumers/g/owners": ZnodeMatch(K.GROUP_OWNERS, group="g"),
    "/consumers/g/owners/t": ZnodeMatch(K.GROUP_TOPIC_OWNERS, group="g", topic="t"),
    "/consumers/g/owners/t/0": ZnodeMatch(K.PARTITION_OWNER, group="g", topic="t", partition=0),
    "/consumers/g/offsets": ZnodeMatch(K.GROUP_OFFSETS, group="g"),
    "/consumers/g/offsets/t": ZnodeMatch(K.GROUP_TOPIC_OFFSETS, group="g", topic="t"),
    "/consumers/g/offsets/t/7": ZnodeMatch(K.CONSUMER_OFFSET, group="g", topic="t", partition=7),
}
FOREIGN = [
    "relative",
    "//",
    "/brokers/",
    "/brokers//ids",
    "/zookeeper/quota",
    "/brokers/ids/x",
    "/brokers/ids/-1",
    "/brokers/ids/01",
    "/brokers/ids/²",
    "/brokers/ids/2147483648",
    "/brokers/ids/99999999999999999999",
    "/brokers/topics/t/partitions/0/state/more",
    "/config/changes/other_0000000001",
    "/config/changes/config_change_",
    "/config/planets/mars",
]
BUILT = {
    paths.broker_path(0): "/brokers/ids/0",
    paths.topic_path("pay.ments"): "/brokers/topics/pay.ments",
    paths.partitions_path("t"): "/brokers/topics/t/partitions",
    paths.partition_path("t", 10): "/brokers/topics/t/partitions/10",
    paths.partition_state_path("partitions", 0): "/brokers/topics/partitions/partitions/0/state",
    paths.delete_topic_path("t"): "/admin/delete_topics/t",
    paths.config_path("users/u/clients/<default>"): "/config/users/u/clients/<default>",
    paths.sequential_path(K.CONFIG_CHANGE, 10): "/config/changes/config_change_0000000010",
    paths.sequential_path(K.ISR_CHANGE): "/isr_change_notification/isr_change_",
    paths.members_path("g"): "/consumers/g/ids",
    paths.member_path("g", "c"): "/consumers/g/ids/c",
    paths.owner_path("g", "t", 0): "/consumers/g/owners/t/0",
    paths.offset_path("g", "t", 7): "/consumers/g/offsets/t/7",
    paths.acl_path("Topic", "*"): "/kafka-acl/Topic/*",
    paths.acl_path("Group", "g", "prefixed"): "/kafka-acl-extended/prefixed/Group/g",
    paths.token_path("a-_b"): "/delegation_token/tokens/a-_b",
}


@pytest.mark.parametrize(("path", "match"), KAFKA.items())
def test_a_path_of_kafka_is_recognised_with_its_variables(path: str, match: ZnodeMatch):
    assert recognise(path) == match


@pytest.mark.parametrize("path", FOREIGN)
def test_another_path_is_unknown(path: str):
    assert recognise(path) == ZnodeMatch(K.UNKNOWN)
    assert describe(path).label == "not one of Kafka's"


def test_the_table_above_and_the_catalogue_name_the_same_kinds():
    assert {match.kind for match in KAFKA.values()} == set(K) - {K.UNKNOWN} == {row.kind for row in CATALOGUE}


@pytest.mark.parametrize("path", KAFKA)
def test_a_description_is_that_of_the_path(path: str):
    described = describe(path)
    pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(described.pattern))
    assert described.kind is K.CONFIG_TYPE or re.fullmatch(pattern, path or "/")
    assert described.label
    assert described.secret == (described.kind in SECRET_KINDS)


def test_the_ephemeral_kinds_are_those_whose_owner_must_be_alive():
    assert {row.kind for row in CATALOGUE if row.ephemeral} == {
        K.BROKER,
        K.CONTROLLER,
        K.GROUP_MEMBER,
        K.PARTITION_OWNER,
    }


@pytest.mark.parametrize(("built", "path"), BUILT.items())
def test_a_path_is_built(built: str, path: str):
    assert built == path


def test_what_a_broker_creates_at_start_is_known_and_has_no_payload():
    kinds = [recognise(path).kind for path in paths.PATHS_AT_BROKER_START]
    assert K.UNKNOWN not in kinds
    assert len(kinds) == 14


@given(st.text(st.characters(exclude_characters="/"), min_size=1), st.integers(0, 2**31 - 1))
def test_any_topic_and_partition_come_back_from_their_path(topic: str, partition: int):
    match = recognise(paths.partition_state_path(topic, partition))
    assert match == ZnodeMatch(K.PARTITION_STATE, topic=topic, partition=partition)


@given(st.text("/abkp{}0-", max_size=20) | st.text())
def test_recognising_never_fails(path: str):
    assert recognise(path).kind in K


PLACES = (("a", "b", "a/partitions/1", ""), ("0", "7", "07", "-1", "a"), ("/state", "", "/states"))


@given(st.text("/abstein0123", max_size=8), st.text("0123x-", max_size=4), st.sampled_from(["/state", "", "/states"]))
def test_a_states_place_is_what_the_catalogue_says(topic: str, partition: str, end: str):
    path = f"/brokers/topics/{topic}/partitions/{partition}{end}"
    match = recognise(path)
    assert state_place(path) == ((match.topic, match.partition) if match.kind is K.PARTITION_STATE else None)


@given(st.lists(st.builds("/brokers/topics/{}/partitions/{}{}".format, *map(st.sampled_from, PLACES)) | st.text("/?")))
def test_places_of_many_are_those_of_each(many: list[str]):
    assert _runs_apart(many) == {row: place for row, path in enumerate(many) if (place := state_place(path))}


@given(st.lists(st.tuples(st.sampled_from("ab"), st.lists(st.integers(0, 3), max_size=4))))
def test_states_of_topics_one_after_the_other(topics: list[tuple[str, list[int]]]):
    paths = [path for topic, numbers in topics for path in ("/x", *(partition_state_path(topic, n) for n in numbers))]
    assert _runs_apart(paths) == {row: place for row, path in enumerate(paths) if (place := state_place(path))}


def _runs_apart(paths: list[str]) -> dict[int, tuple[str, int]]:
    return {start + row: (topic, each) for topic, start, run in state_runs(paths) for row, each in enumerate(run)}


@given(st.text("/brokestpican", max_size=30))
def test_other_paths_have_no_place(path: str):
    assert state_place(path) is None
