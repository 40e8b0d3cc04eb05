"""The catalogue of Kafka's znodes: every kind, its path, what it is at a glance, who writes it and who watches it.

Tables and nothing else. Sources: `kafka.zk.ZkData` (3.9), `kafka.utils.ZkUtils` (0.8 to 1.0). Paths are relative to
the chroot. A segment in braces is a variable; `{partition}`, `{broker_id}` and `{sequence}` are numbers.

Who writes and watches: releases are those of Kafka; "protocol 2.7" and the like is what inter.broker.protocol.version
says. Sources: `kafka.zk.KafkaZkClient`, `kafka.controller.KafkaController` (3.9) for what the controller watches,
`kafka.common.ZkNodeChangeNotificationListener`; `kafka.consumer.ZookeeperConsumerConnector` (0.8) for consumers.
"""

from collections.abc import Mapping
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


class ZnodeExplanation(msgspec.Struct, frozen=True):
    """Sentences: whoever writes a znode of this kind, and who hears of it through a watch."""

    written: str
    watched: str


NOBODY = "Nobody."
NOBODY_HERE = "Nobody: only what is below it is watched."
AT_START = "A broker that starts makes it where it is missing."
WITH_CHILDREN = "Made along with the first znode below it."
AUTHORIZER_AT_START = "The authorizer of a broker that starts makes it where it is missing."
CONFIG = "Whoever alters the config: a broker that is asked to, or a tool; a notice in /config/changes follows."
TOLD_BY_CHANGES = "Nobody: brokers hear of it through /config/changes."
NOTICES = "Every broker watches its children: each is a notice to read again what it names."
NOTICE = "Every broker, through the parent: each reads again what the notice names."
CHANGED_ACLS = "Whoever changed ACLs, right after; brokers delete notices that are older than 15 minutes."
ACLS = "An authorizer: that of a broker which is asked to, or the one that kafka-acls.sh runs by itself."
OLD_CONSUMER = "The group's first consumer that needs it."

_CONFIGURED = ZnodeExplanation(CONFIG, TOLD_BY_CHANGES)
_MADE_AT_START = ZnodeExplanation(AT_START, NOBODY_HERE)
_MADE_BY_AUTHORIZER = ZnodeExplanation(AUTHORIZER_AT_START, NOBODY)

EXPLANATIONS: Mapping[ZnodeKind, ZnodeExplanation] = {
    _K.UNKNOWN: ZnodeExplanation("Not Kafka's: kdrill does not know who.", "kdrill does not know who."),
    _K.ROOT: ZnodeExplanation("Brokers that start make the chroot where it is missing.", NOBODY_HERE),
    _K.BROKERS: _MADE_AT_START,
    _K.BROKER_IDS: ZnodeExplanation(
        AT_START,
        "The controller watches its children: one that comes is a broker that starts, one that goes has left or died.",
    ),
    _K.BROKER: ZnodeExplanation(
        "The broker itself when it starts, from 1.1 on also when its listeners change. It goes with its session.",
        "The controller: through the parent for life and death, from 1.1 on the data for other listeners.",
    ),
    _K.BROKER_SEQUENCE_ID: ZnodeExplanation(
        "A new broker without broker.id. Its id becomes the data version after that, plus reserved.broker.max.id "
        "(1000).",
        NOBODY,
    ),
    _K.TOPICS: ZnodeExplanation(
        AT_START,
        "The controller watches its children: topics that come and go. So do ZooKeeper consumers with a pattern.",
    ),
    _K.TOPIC: ZnodeExplanation(
        "Whoever makes the topic or adds partitions: a broker that is asked to, or a tool. The controller when it "
        "reassigns replicas.",
        "The controller: it makes partitions that are new, and heeds no other edit. So do ZooKeeper consumers.",
    ),
    _K.PARTITIONS: ZnodeExplanation("The controller when it makes the topic's first partitions.", NOBODY),
    _K.PARTITION: ZnodeExplanation("The controller when it makes the partition.", NOBODY),
    _K.PARTITION_STATE: ZnodeExplanation(
        "The controller when it elects and when replicas go offline. Changes of the ISR come from the leader: before "
        "protocol 2.7-IV2 it writes them itself, from then on the controller does for it (AlterPartition).",
        "As a rule nobody. Before protocol 2.7-IV2 the controller, for as long as the partition is reassigned.",
    ),
    _K.CONTROLLER: ZnodeExplanation(
        "The broker that wins the election. It goes with that broker's session.",
        "Every broker: when it goes, the first to make it again is the next controller.",
    ),
    _K.CONTROLLER_EPOCH: ZnodeExplanation(
        "The broker that wins the election, each time one higher.",
        "Nobody from 0.8.2 on. From 2.1 on each of the controller's writes goes through only if this has not "
        "changed since it won.",
    ),
    _K.ADMIN: ZnodeExplanation(WITH_CHILDREN, NOBODY_HERE),
    _K.TOPICS_TO_DELETE: ZnodeExplanation(AT_START, "The controller watches its children: each is a topic to delete."),
    _K.TOPIC_TO_DELETE: ZnodeExplanation(
        "Whoever deletes the topic: a broker that is asked to, or a tool. The controller removes it at the end, or at "
        "once where delete.topic.enable is false.",
        "The controller, through the parent.",
    ),
    _K.REASSIGN_PARTITIONS: ZnodeExplanation(
        "kafka-reassign-partitions.sh with --zookeeper; the controller removes what is done. From 2.4 on brokers can "
        "be asked instead, which leaves nothing here.",
        "The controller waits for it to be made.",
    ),
    _K.PREFERRED_REPLICA_ELECTION: ZnodeExplanation(
        "kafka-preferred-replica-election.sh with --zookeeper; the controller removes it. From 2.2 on brokers can be "
        "asked instead, which leaves nothing here.",
        "The controller waits for it to be made.",
    ),
    _K.CONFIG: ZnodeExplanation(WITH_CHILDREN, NOBODY_HERE),
    _K.CONFIG_TYPE: ZnodeExplanation(AT_START, TOLD_BY_CHANGES),
    _K.TOPIC_CONFIG: ZnodeExplanation(
        "Whoever makes the topic or alters its config: a broker that is asked to, or a tool; when it is altered, a "
        "notice in /config/changes follows.",
        TOLD_BY_CHANGES,
    ),
    _K.CLIENT_CONFIG: _CONFIGURED,
    _K.USER_CONFIG: _CONFIGURED,
    _K.USER_CLIENTS: ZnodeExplanation(WITH_CHILDREN, TOLD_BY_CHANGES),
    _K.USER_CLIENT_CONFIG: _CONFIGURED,
    _K.BROKER_CONFIG: _CONFIGURED,
    _K.IP_CONFIG: _CONFIGURED,
    _K.CONFIG_CHANGES: ZnodeExplanation(AT_START, NOTICES),
    _K.CONFIG_CHANGE: ZnodeExplanation(
        "Whoever altered a config, right after; brokers delete notices that are older than 15 minutes.", NOTICE
    ),
    _K.ISR_CHANGES: ZnodeExplanation(
        AT_START, "The controller watches its children. From protocol 2.7-IV2 on nothing comes here any more."
    ),
    _K.ISR_CHANGE: ZnodeExplanation(
        "A leader that wrote ISRs itself (before protocol 2.7-IV2), to name the partitions. The controller deletes it "
        "once read.",
        "The controller, through the parent: it tells all brokers what the ISRs are now.",
    ),
    _K.LOG_DIR_EVENTS: ZnodeExplanation(
        AT_START, "The controller watches its children: each is a broker that lost a log folder."
    ),
    _K.LOG_DIR_EVENT: ZnodeExplanation(
        "A broker one of whose log folders failed. The controller deletes it once read.",
        "The controller, through the parent: it finds out which replicas of that broker are offline.",
    ),
    _K.CLUSTER: ZnodeExplanation(WITH_CHILDREN, NOBODY),
    _K.CLUSTER_ID: ZnodeExplanation("The first broker that ever started here; it stays as it is.", NOBODY),
    _K.FEATURE: ZnodeExplanation(
        "The controller, after its election and when features are updated.",
        "Every broker: one that cannot do what it demands stops.",
    ),
    _K.PRODUCER_ID_BLOCK: ZnodeExplanation(
        "The broker that needs the next 1,000 producer ids; from protocol 3.0 on the controller for it.", NOBODY
    ),
    _K.MIGRATION: ZnodeExplanation("The KRaft controller that takes the cluster over.", NOBODY),
    _K.DELEGATION_TOKENS_ROOT: ZnodeExplanation(WITH_CHILDREN, NOBODY_HERE),
    _K.DELEGATION_TOKENS: ZnodeExplanation(
        "A broker that starts with delegation tokens enabled makes it.",
        "Nobody: brokers hear of tokens through /delegation_token/token_changes.",
    ),
    _K.DELEGATION_TOKEN: ZnodeExplanation(
        "The broker that is asked to make, renew or expire the token; the controller removes what has expired.",
        "Nobody: brokers hear of it through /delegation_token/token_changes.",
    ),
    _K.TOKEN_CHANGES: ZnodeExplanation("A broker that starts with delegation tokens enabled makes it.", NOTICES),
    _K.TOKEN_CHANGE: ZnodeExplanation(
        "Whoever wrote or removed a token, right after; brokers delete notices that are older than 15 minutes.", NOTICE
    ),
    _K.ACLS: _MADE_BY_AUTHORIZER,
    _K.ACL_RESOURCE_TYPE: _MADE_BY_AUTHORIZER,
    _K.ACL: ZnodeExplanation(ACLS, "Nobody: brokers hear of it through /kafka-acl-changes."),
    _K.ACL_CHANGES: ZnodeExplanation(AUTHORIZER_AT_START, NOTICES),
    _K.ACL_CHANGE: ZnodeExplanation(CHANGED_ACLS, NOTICE),
    _K.EXTENDED_ACLS: _MADE_BY_AUTHORIZER,
    _K.EXTENDED_ACL_PATTERN_TYPE: _MADE_BY_AUTHORIZER,
    _K.EXTENDED_ACL_RESOURCE_TYPE: _MADE_BY_AUTHORIZER,
    _K.EXTENDED_ACL: ZnodeExplanation(ACLS, "Nobody: brokers hear of it through /kafka-acl-extended-changes."),
    _K.EXTENDED_ACL_CHANGES: ZnodeExplanation(AUTHORIZER_AT_START, NOTICES),
    _K.EXTENDED_ACL_CHANGE: ZnodeExplanation(CHANGED_ACLS, NOTICE),
    _K.CONSUMERS: _MADE_AT_START,
    _K.GROUP: ZnodeExplanation(OLD_CONSUMER, NOBODY_HERE),
    _K.GROUP_MEMBERS: ZnodeExplanation(
        OLD_CONSUMER, "Every consumer of the group: when one comes or goes, all of them rebalance."
    ),
    _K.GROUP_MEMBER: ZnodeExplanation(
        "The consumer itself when it joins. It goes with its session.",
        "Every consumer of the group, through the parent: they rebalance.",
    ),
    _K.GROUP_OWNERS: ZnodeExplanation(OLD_CONSUMER, NOBODY),
    _K.GROUP_TOPIC_OWNERS: ZnodeExplanation(OLD_CONSUMER, NOBODY),
    _K.PARTITION_OWNER: ZnodeExplanation(
        "The consumer that claims the partition in a rebalance, and removes it when it lets go. It goes with its "
        "session.",
        NOBODY,
    ),
    _K.GROUP_OFFSETS: ZnodeExplanation(OLD_CONSUMER, NOBODY),
    _K.GROUP_TOPIC_OFFSETS: ZnodeExplanation(OLD_CONSUMER, NOBODY),
    _K.CONSUMER_OFFSET: ZnodeExplanation(
        "The consumer that owns the partition, when it commits; or a tool that sets offsets.", NOBODY
    ),
}
