"""The catalogue of Kafka's znodes: every kind, its path, and what an operator should know about it at a glance.

A table and nothing else. Sources: `kafka.zk.ZkData` (3.9), `kafka.utils.ZkUtils` (0.8 to 1.0). Paths are relative to
the chroot. A segment in braces is a variable; `{partition}`, `{broker_id}` and `{sequence}` are numbers.
"""

from enum import StrEnum, auto

import msgspec


class ZnodeKind(StrEnum):
    """What a znode is. UNKNOWN: not one of Kafka's."""

    UNKNOWN = auto()
    ROOT = auto()
    BROKERS = auto()
    BROKER_IDS = auto()
    BROKER = auto()
    BROKER_SEQUENCE_ID = auto()
    TOPICS = auto()
    TOPIC = auto()
    PARTITIONS = auto()
    PARTITION = auto()
    PARTITION_STATE = auto()
    CONTROLLER = auto()
    CONTROLLER_EPOCH = auto()
    ADMIN = auto()
    TOPICS_TO_DELETE = auto()
    TOPIC_TO_DELETE = auto()
    REASSIGN_PARTITIONS = auto()
    PREFERRED_REPLICA_ELECTION = auto()
    CONFIG = auto()
    CONFIG_TYPE = auto()
    TOPIC_CONFIG = auto()
    CLIENT_CONFIG = auto()
    USER_CONFIG = auto()
    USER_CLIENTS = auto()
    USER_CLIENT_CONFIG = auto()
    BROKER_CONFIG = auto()
    IP_CONFIG = auto()
    CONFIG_CHANGES = auto()
    CONFIG_CHANGE = auto()
    ISR_CHANGES = auto()
    ISR_CHANGE = auto()
    LOG_DIR_EVENTS = auto()
    LOG_DIR_EVENT = auto()
    CLUSTER = auto()
    CLUSTER_ID = auto()
    FEATURE = auto()
    PRODUCER_ID_BLOCK = auto()
    MIGRATION = auto()
    DELEGATION_TOKENS_ROOT = auto()
    DELEGATION_TOKENS = auto()
    DELEGATION_TOKEN = auto()
    TOKEN_CHANGES = auto()
    TOKEN_CHANGE = auto()
    ACLS = auto()
    ACL_RESOURCE_TYPE = auto()
    ACL = auto()
    ACL_CHANGES = auto()
    ACL_CHANGE = auto()
    EXTENDED_ACLS = auto()
    EXTENDED_ACL_PATTERN_TYPE = auto()
    EXTENDED_ACL_RESOURCE_TYPE = auto()
    EXTENDED_ACL = auto()
    EXTENDED_ACL_CHANGES = auto()
    EXTENDED_ACL_CHANGE = auto()
    CONSUMERS = auto()
    GROUP = auto()
    GROUP_MEMBERS = auto()
    GROUP_MEMBER = auto()
    GROUP_OWNERS = auto()
    GROUP_TOPIC_OWNERS = auto()
    PARTITION_OWNER = auto()
    GROUP_OFFSETS = auto()
    GROUP_TOPIC_OFFSETS = auto()
    CONSUMER_OFFSET = auto()


class ZnodeDescription(msgspec.Struct, frozen=True):
    """A kind of znode. `since` is the first Kafka version to have it; `secret`: its payload may hold credentials."""

    kind: ZnodeKind
    pattern: str
    label: str
    since: str = "0.8"
    ephemeral: bool = False
    secret: bool = False


def _row(kind: ZnodeKind, pattern: str, label: str, since: str = "0.8") -> ZnodeDescription:
    return ZnodeDescription(kind, pattern, label, since, kind in _EPHEMERAL, kind in SECRET_KINDS)


_K = ZnodeKind
_EPHEMERAL = frozenset({_K.BROKER, _K.CONTROLLER, _K.GROUP_MEMBER, _K.PARTITION_OWNER})
CONFIG_KINDS = frozenset(
    {
        _K.TOPIC_CONFIG,
        _K.CLIENT_CONFIG,
        _K.USER_CONFIG,
        _K.USER_CLIENT_CONFIG,
        _K.BROKER_CONFIG,
        _K.IP_CONFIG,
    }
)
SECRET_KINDS = CONFIG_KINDS | {_K.CONFIG_CHANGE, _K.DELEGATION_TOKEN}
"""Kinds whose payload may hold credentials: SCRAM in users, encrypted passwords in brokers, anything in any config.

What announces a change of them names them only, but is written by whatever tool changes them.
"""

UNKNOWN_ZNODE = ZnodeDescription(_K.UNKNOWN, "", "not one of Kafka's", "")

CATALOGUE: tuple[ZnodeDescription, ...] = (
    _row(_K.ROOT, "/", "root"),
    _row(_K.BROKERS, "/brokers", "brokers and topics"),
    _row(_K.BROKER_IDS, "/brokers/ids", "live brokers"),
    _row(_K.BROKER, "/brokers/ids/{broker_id}", "broker registration"),
    _row(_K.BROKER_SEQUENCE_ID, "/brokers/seqid", "generated broker ids", "0.9"),
    _row(_K.TOPICS, "/brokers/topics", "topics"),
    _row(_K.TOPIC, "/brokers/topics/{topic}", "topic assignment"),
    _row(_K.PARTITIONS, "/brokers/topics/{topic}/partitions", "partitions of a topic"),
    _row(_K.PARTITION, "/brokers/topics/{topic}/partitions/{partition}", "partition"),
    _row(_K.PARTITION_STATE, "/brokers/topics/{topic}/partitions/{partition}/state", "partition state"),
    _row(_K.CONTROLLER, "/controller", "controller"),
    _row(_K.CONTROLLER_EPOCH, "/controller_epoch", "controller epoch"),
    _row(_K.ADMIN, "/admin", "work for the controller"),
    _row(_K.TOPICS_TO_DELETE, "/admin/delete_topics", "topics to delete", "0.8.1"),
    _row(_K.TOPIC_TO_DELETE, "/admin/delete_topics/{topic}", "topic to delete", "0.8.1"),
    _row(_K.REASSIGN_PARTITIONS, "/admin/reassign_partitions", "partition reassignment"),
    _row(_K.PREFERRED_REPLICA_ELECTION, "/admin/preferred_replica_election", "preferred replica election"),
    _row(_K.CONFIG, "/config", "dynamic configs", "0.8.1"),
    _row(_K.CONFIG_TYPE, "/config/topics", "configs of one type", "0.8.1"),
    _row(_K.CONFIG_TYPE, "/config/clients", "configs of one type", "0.9"),
    _row(_K.CONFIG_TYPE, "/config/users", "configs of one type", "0.10.1"),
    _row(_K.CONFIG_TYPE, "/config/brokers", "configs of one type", "0.10.1"),
    _row(_K.CONFIG_TYPE, "/config/ips", "configs of one type", "2.8"),
    _row(_K.TOPIC_CONFIG, "/config/topics/{topic}", "topic config", "0.8.1"),
    _row(_K.CLIENT_CONFIG, "/config/clients/{client}", "client config", "0.9"),
    _row(_K.USER_CONFIG, "/config/users/{user}", "user config", "0.10.1"),
    _row(_K.USER_CLIENTS, "/config/users/{user}/clients", "clients of a user", "0.10.1"),
    _row(_K.USER_CLIENT_CONFIG, "/config/users/{user}/clients/{client}", "user and client config", "0.10.1"),
    _row(_K.BROKER_CONFIG, "/config/brokers/{entity}", "broker config", "0.10.1"),
    _row(_K.IP_CONFIG, "/config/ips/{entity}", "IP address config", "2.8"),
    _row(_K.CONFIG_CHANGES, "/config/changes", "config changes", "0.8.1"),
    _row(_K.CONFIG_CHANGE, "/config/changes/config_change_{sequence}", "config change", "0.8.1"),
    _row(_K.ISR_CHANGES, "/isr_change_notification", "ISR changes", "0.9"),
    _row(_K.ISR_CHANGE, "/isr_change_notification/isr_change_{sequence}", "ISR change", "0.9"),
    _row(_K.LOG_DIR_EVENTS, "/log_dir_event_notification", "log folder events", "1.0"),
    _row(_K.LOG_DIR_EVENT, "/log_dir_event_notification/log_dir_event_{sequence}", "log folder event", "1.0"),
    _row(_K.CLUSTER, "/cluster", "cluster", "0.10.1"),
    _row(_K.CLUSTER_ID, "/cluster/id", "cluster id", "0.10.1"),
    _row(_K.FEATURE, "/feature", "finalized features", "2.7"),
    _row(_K.PRODUCER_ID_BLOCK, "/latest_producer_id_block", "producer id block", "0.11"),
    _row(_K.MIGRATION, "/migration", "migration to KRaft", "3.4"),
    _row(_K.DELEGATION_TOKENS_ROOT, "/delegation_token", "delegation tokens and changes", "1.1"),
    _row(_K.DELEGATION_TOKENS, "/delegation_token/tokens", "delegation tokens", "1.1"),
    _row(_K.DELEGATION_TOKEN, "/delegation_token/tokens/{token_id}", "delegation token", "1.1"),
    _row(_K.TOKEN_CHANGES, "/delegation_token/token_changes", "delegation token changes", "1.1"),
    _row(
        _K.TOKEN_CHANGE,
        "/delegation_token/token_changes/token_change_{sequence}",
        "delegation token change",
        "1.1",
    ),
    _row(_K.ACLS, "/kafka-acl", "ACLs", "0.9"),
    _row(_K.ACL_RESOURCE_TYPE, "/kafka-acl/{resource_type}", "ACLs of one resource type", "0.9"),
    _row(_K.ACL, "/kafka-acl/{resource_type}/{resource}", "ACLs of a resource", "0.9"),
    _row(_K.ACL_CHANGES, "/kafka-acl-changes", "ACL changes", "0.9"),
    _row(_K.ACL_CHANGE, "/kafka-acl-changes/acl_changes_{sequence}", "ACL change", "0.9"),
    _row(_K.EXTENDED_ACLS, "/kafka-acl-extended", "pattern ACLs", "2.0"),
    _row(_K.EXTENDED_ACL_PATTERN_TYPE, "/kafka-acl-extended/{pattern_type}", "ACLs of one pattern type", "2.0"),
    _row(
        _K.EXTENDED_ACL_RESOURCE_TYPE,
        "/kafka-acl-extended/{pattern_type}/{resource_type}",
        "ACLs of one resource type",
        "2.0",
    ),
    _row(
        _K.EXTENDED_ACL,
        "/kafka-acl-extended/{pattern_type}/{resource_type}/{resource}",
        "ACLs of a resource pattern",
        "2.0",
    ),
    _row(_K.EXTENDED_ACL_CHANGES, "/kafka-acl-extended-changes", "pattern ACL changes", "2.0"),
    _row(
        _K.EXTENDED_ACL_CHANGE,
        "/kafka-acl-extended-changes/acl_changes_{sequence}",
        "pattern ACL change",
        "2.0",
    ),
    _row(_K.CONSUMERS, "/consumers", "ZooKeeper consumer groups"),
    _row(_K.GROUP, "/consumers/{group}", "consumer group"),
    _row(_K.GROUP_MEMBERS, "/consumers/{group}/ids", "members of a group"),
    _row(_K.GROUP_MEMBER, "/consumers/{group}/ids/{consumer_id}", "group member"),
    _row(_K.GROUP_OWNERS, "/consumers/{group}/owners", "owned partitions of a group"),
    _row(_K.GROUP_TOPIC_OWNERS, "/consumers/{group}/owners/{topic}", "owned partitions of a topic"),
    _row(_K.PARTITION_OWNER, "/consumers/{group}/owners/{topic}/{partition}", "partition owner"),
    _row(_K.GROUP_OFFSETS, "/consumers/{group}/offsets", "offsets of a group"),
    _row(_K.GROUP_TOPIC_OFFSETS, "/consumers/{group}/offsets/{topic}", "offsets of a topic"),
    _row(_K.CONSUMER_OFFSET, "/consumers/{group}/offsets/{topic}/{partition}", "consumer offset"),
)
