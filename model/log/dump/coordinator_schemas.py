"""The messages that the coordinators of groups and transactions keep in logs, as tables of their fields (3.9)."""

from model.log.dump.schema_reader import Field, Schema

_PARTITIONS = (Field("topic", "string"), Field("partitions", "int32", is_array=True))

OFFSET_COMMIT_KEY = Schema((Field("group", "string"), Field("topic", "string"), Field("partition", "int32")), newest=1)
OFFSET_COMMIT_VALUE = Schema(
    (
        Field("offset", "int64"),
        Field("leaderEpoch", "int32", first=3),
        Field("metadata", "string"),
        Field("commitTimestamp", "int64"),
        Field("expireTimestamp", "int64", first=1, last=1),
    ),
    newest=4,
    flexible_from=4,
)

GROUP_METADATA_KEY = Schema((Field("group", "string"),), newest=2)
_MEMBER = (
    Field("memberId", "string"),
    Field("groupInstanceId", "string", first=3),
    Field("clientId", "string"),
    Field("clientHost", "string"),
    Field("rebalanceTimeout", "int32", first=1),
    Field("sessionTimeout", "int32"),
    Field("subscription", "bytes"),
    Field("assignment", "bytes"),
)
GROUP_METADATA_VALUE = Schema(
    (
        Field("protocolType", "string"),
        Field("generation", "int32"),
        Field("protocol", "string"),
        Field("leader", "string"),
        Field("currentStateTimestamp", "int64", first=2),
        Field("members", _MEMBER, is_array=True),
    ),
    newest=4,
    flexible_from=4,
)

CONSUMER_SUBSCRIPTION = Schema(
    (
        Field("topics", "string", is_array=True),
        Field("userData", "bytes"),
        Field("ownedPartitions", _PARTITIONS, first=1, is_array=True),
        Field("generationId", "int32", first=2),
        Field("rackId", "string", first=3),
    ),
    newest=3,
)
CONSUMER_ASSIGNMENT = Schema((Field("assignedPartitions", _PARTITIONS, is_array=True), Field("userData", "bytes")), 3)

TRANSACTION_KEY = Schema((Field("transactionalId", "string"),), newest=0)
TRANSACTION_VALUE = Schema(
    (
        Field("producerId", "int64"),
        Field("producerEpoch", "int16"),
        Field("transactionTimeoutMs", "int32"),
        Field("transactionStatus", "int8"),
        Field("transactionPartitions", _PARTITIONS, is_array=True),
        Field("transactionLastUpdateTimestampMs", "int64"),
        Field("transactionStartTimestampMs", "int64"),
    ),
    newest=1,
    flexible_from=1,
)
