"""Who writes each kind of znode, and who watches it: a table, told to people under a znode's facts.

Releases are those of Kafka; "protocol 2.7" and the like is what inter.broker.protocol.version says. Sources:
`kafka.zk.KafkaZkClient`, `kafka.zk.ZkData`, `kafka.controller.KafkaController` (3.9) for what the controller watches,
`kafka.common.ZkNodeChangeNotificationListener`; `kafka.consumer.ZookeeperConsumerConnector` (0.8) for consumers.
"""

from collections.abc import Mapping

import msgspec

from model.znodes.catalogue import ZnodeKind


class Explanation(msgspec.Struct, frozen=True):
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

_K = ZnodeKind
_CONFIGURED = Explanation(CONFIG, TOLD_BY_CHANGES)
_MADE_AT_START = Explanation(AT_START, NOBODY_HERE)
_MADE_BY_AUTHORIZER = Explanation(AUTHORIZER_AT_START, NOBODY)

EXPLANATIONS: Mapping[ZnodeKind, Explanation] = {
    _K.UNKNOWN: Explanation("Not Kafka's: kdrill does not know who.", "kdrill does not know who."),
    _K.ROOT: Explanation("Brokers that start make the chroot where it is missing.", NOBODY_HERE),
    _K.BROKERS: _MADE_AT_START,
    _K.BROKER_IDS: Explanation(
        AT_START,
        "The controller watches its children: one that comes is a broker that starts, one that goes has left or died.",
    ),
    _K.BROKER: Explanation(
        "The broker itself when it starts, from 1.1 on also when its listeners change. It goes with its session.",
        "The controller: through the parent for life and death, from 1.1 on the data for other listeners.",
    ),
    _K.BROKER_SEQUENCE_ID: Explanation(
        "A new broker without broker.id. Its id becomes the data version after that, plus reserved.broker.max.id "
        "(1000).",
        NOBODY,
    ),
    _K.TOPICS: Explanation(
        AT_START,
        "The controller watches its children: topics that come and go. So do ZooKeeper consumers with a pattern.",
    ),
    _K.TOPIC: Explanation(
        "Whoever makes the topic or adds partitions: a broker that is asked to, or a tool. The controller when it "
        "reassigns replicas.",
        "The controller: it makes partitions that are new, and heeds no other edit. So do ZooKeeper consumers.",
    ),
    _K.PARTITIONS: Explanation("The controller when it makes the topic's first partitions.", NOBODY),
    _K.PARTITION: Explanation("The controller when it makes the partition.", NOBODY),
    _K.PARTITION_STATE: Explanation(
        "The controller when it elects and when replicas go offline. Changes of the ISR come from the leader: before "
        "protocol 2.7-IV2 it writes them itself, from then on the controller does for it (AlterPartition).",
        "As a rule nobody. Before protocol 2.7-IV2 the controller, for as long as the partition is reassigned.",
    ),
    _K.CONTROLLER: Explanation(
        "The broker that wins the election. It goes with that broker's session.",
        "Every broker: when it goes, the first to make it again is the next controller.",
    ),
    _K.CONTROLLER_EPOCH: Explanation(
        "The broker that wins the election, each time one higher.",
        "Nobody from 0.8.2 on. From 2.1 on each of the controller's writes goes through only if this has not "
        "changed since it won.",
    ),
    _K.ADMIN: Explanation(WITH_CHILDREN, NOBODY_HERE),
    _K.TOPICS_TO_DELETE: Explanation(AT_START, "The controller watches its children: each is a topic to delete."),
    _K.TOPIC_TO_DELETE: Explanation(
        "Whoever deletes the topic: a broker that is asked to, or a tool. The controller removes it at the end, or at "
        "once where delete.topic.enable is false.",
        "The controller, through the parent.",
    ),
    _K.REASSIGN_PARTITIONS: Explanation(
        "kafka-reassign-partitions.sh with --zookeeper; the controller removes what is done. From 2.4 on brokers can "
        "be asked instead, which leaves nothing here.",
        "The controller waits for it to be made.",
    ),
    _K.PREFERRED_REPLICA_ELECTION: Explanation(
        "kafka-preferred-replica-election.sh with --zookeeper; the controller removes it. From 2.2 on brokers can be "
        "asked instead, which leaves nothing here.",
        "The controller waits for it to be made.",
    ),
    _K.CONFIG: Explanation(WITH_CHILDREN, NOBODY_HERE),
    _K.CONFIG_TYPE: Explanation(AT_START, TOLD_BY_CHANGES),
    _K.TOPIC_CONFIG: Explanation(
        "Whoever makes the topic or alters its config: a broker that is asked to, or a tool; when it is altered, a "
        "notice in /config/changes follows.",
        TOLD_BY_CHANGES,
    ),
    _K.CLIENT_CONFIG: _CONFIGURED,
    _K.USER_CONFIG: _CONFIGURED,
    _K.USER_CLIENTS: Explanation(WITH_CHILDREN, TOLD_BY_CHANGES),
    _K.USER_CLIENT_CONFIG: _CONFIGURED,
    _K.BROKER_CONFIG: _CONFIGURED,
    _K.IP_CONFIG: _CONFIGURED,
    _K.CONFIG_CHANGES: Explanation(AT_START, NOTICES),
    _K.CONFIG_CHANGE: Explanation(
        "Whoever altered a config, right after; brokers delete notices that are older than 15 minutes.", NOTICE
    ),
    _K.ISR_CHANGES: Explanation(
        AT_START, "The controller watches its children. From protocol 2.7-IV2 on nothing comes here any more."
    ),
    _K.ISR_CHANGE: Explanation(
        "A leader that wrote ISRs itself (before protocol 2.7-IV2), to name the partitions. The controller deletes it "
        "once read.",
        "The controller, through the parent: it tells all brokers what the ISRs are now.",
    ),
    _K.LOG_DIR_EVENTS: Explanation(
        AT_START, "The controller watches its children: each is a broker that lost a log folder."
    ),
    _K.LOG_DIR_EVENT: Explanation(
        "A broker one of whose log folders failed. The controller deletes it once read.",
        "The controller, through the parent: it finds out which replicas of that broker are offline.",
    ),
    _K.CLUSTER: Explanation(WITH_CHILDREN, NOBODY),
    _K.CLUSTER_ID: Explanation("The first broker that ever started here; it stays as it is.", NOBODY),
    _K.FEATURE: Explanation(
        "The controller, after its election and when features are updated.",
        "Every broker: one that cannot do what it demands stops.",
    ),
    _K.PRODUCER_ID_BLOCK: Explanation(
        "The broker that needs the next 1,000 producer ids; from protocol 3.0 on the controller for it.", NOBODY
    ),
    _K.MIGRATION: Explanation("The KRaft controller that takes the cluster over.", NOBODY),
    _K.DELEGATION_TOKENS_ROOT: Explanation(WITH_CHILDREN, NOBODY_HERE),
    _K.DELEGATION_TOKENS: Explanation(
        "A broker that starts with delegation tokens enabled makes it.",
        "Nobody: brokers hear of tokens through /delegation_token/token_changes.",
    ),
    _K.DELEGATION_TOKEN: Explanation(
        "The broker that is asked to make, renew or expire the token; the controller removes what has expired.",
        "Nobody: brokers hear of it through /delegation_token/token_changes.",
    ),
    _K.TOKEN_CHANGES: Explanation("A broker that starts with delegation tokens enabled makes it.", NOTICES),
    _K.TOKEN_CHANGE: Explanation(
        "Whoever wrote or removed a token, right after; brokers delete notices that are older than 15 minutes.", NOTICE
    ),
    _K.ACLS: _MADE_BY_AUTHORIZER,
    _K.ACL_RESOURCE_TYPE: _MADE_BY_AUTHORIZER,
    _K.ACL: Explanation(ACLS, "Nobody: brokers hear of it through /kafka-acl-changes."),
    _K.ACL_CHANGES: Explanation(AUTHORIZER_AT_START, NOTICES),
    _K.ACL_CHANGE: Explanation(CHANGED_ACLS, NOTICE),
    _K.EXTENDED_ACLS: _MADE_BY_AUTHORIZER,
    _K.EXTENDED_ACL_PATTERN_TYPE: _MADE_BY_AUTHORIZER,
    _K.EXTENDED_ACL_RESOURCE_TYPE: _MADE_BY_AUTHORIZER,
    _K.EXTENDED_ACL: Explanation(ACLS, "Nobody: brokers hear of it through /kafka-acl-extended-changes."),
    _K.EXTENDED_ACL_CHANGES: Explanation(AUTHORIZER_AT_START, NOTICES),
    _K.EXTENDED_ACL_CHANGE: Explanation(CHANGED_ACLS, NOTICE),
    _K.CONSUMERS: _MADE_AT_START,
    _K.GROUP: Explanation(OLD_CONSUMER, NOBODY_HERE),
    _K.GROUP_MEMBERS: Explanation(
        OLD_CONSUMER, "Every consumer of the group: when one comes or goes, all of them rebalance."
    ),
    _K.GROUP_MEMBER: Explanation(
        "The consumer itself when it joins. It goes with its session.",
        "Every consumer of the group, through the parent: they rebalance.",
    ),
    _K.GROUP_OWNERS: Explanation(OLD_CONSUMER, NOBODY),
    _K.GROUP_TOPIC_OWNERS: Explanation(OLD_CONSUMER, NOBODY),
    _K.PARTITION_OWNER: Explanation(
        "The consumer that claims the partition in a rebalance, and removes it when it lets go. It goes with its "
        "session.",
        NOBODY,
    ),
    _K.GROUP_OFFSETS: Explanation(OLD_CONSUMER, NOBODY),
    _K.GROUP_TOPIC_OFFSETS: Explanation(OLD_CONSUMER, NOBODY),
    _K.CONSUMER_OFFSET: Explanation(
        "The consumer that owns the partition, when it commits; or a tool that sets offsets.", NOBODY
    ),
}
