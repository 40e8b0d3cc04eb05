"""Records of Kafka's metadata log as tables: names, api keys, versions, fields, tags. Facts of Kafka 3.3 to 4.4.

The tables are written by a script out of the schemas in Kafka's own jars, and kept as data. A record has the fields of
the newest release that knows it. Three of them had another shape in a release that could not write them: version 0 of
UserScramCredentialRecord before 3.5 and of DelegationTokenRecord before 3.6; AccessControlRecord is of 3.3 and 3.4.

Source: `common/metadata/*.json` of `kafka-metadata`, `common/message/*.json` of `kafka-clients`.
"""

import re
from functools import cached_property
from typing import Final

import msgspec

NEWEST: Final = 2**15 - 1
"""Stands for the newest version that a record has."""


class Field(msgspec.Struct, frozen=True):
    """A field and the versions that have it. With a tag it stands behind the others, and may be left out."""

    name: str
    type: str
    """`bool`, `int8` to `int64`, `uint16`, `float64`, `string`, `bytes`, `uuid`, `struct`; of arrays the elements'."""
    is_array: bool = False
    first: int = 0
    last: int = NEWEST
    tag: int = -1
    nullable: bool = False
    default: int | str | None = None
    """What a tagged field has where it is left out; of an array that may not be null, nothing in it."""
    fields: "tuple[Field, ...]" = ()

    @property
    def json_name(self) -> str:
        """As Kafka's JSON has it, `brokerId`."""
        return self.name[0].lower() + self.name[1:]

    @property
    def left_out(self) -> object:
        """What stands for it where it is left out."""
        return [] if self.is_array and not self.nullable else self.default


class Schema(msgspec.Struct, frozen=True, dict=True):
    """A record: its api key, its newest version (the oldest is 0) and its fields in order."""

    name: str
    key: int
    newest: int
    fields: tuple[Field, ...]

    @cached_property
    def type_name(self) -> str:
        """As `MetadataRecordType` has it, `REGISTER_BROKER_RECORD`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", self.name).upper()


# What follows is written by tests/conformance/kafka/metadata_schemas.py.

RECORDS: Final = (
    Schema(
        "RegisterBrokerRecord",
        0,
        4,
        (
            Field("BrokerId", "int32"),
            Field("IsMigratingZkBroker", "bool", first=2),
            Field("IncarnationId", "uuid"),
            Field("BrokerEpoch", "int64"),
            Field(
                "EndPoints",
                "struct",
                is_array=True,
                fields=(
                    Field("Name", "string"),
                    Field("Host", "string"),
                    Field("Port", "uint16"),
                    Field("SecurityProtocol", "int16"),
                ),
            ),
            Field(
                "Features",
                "struct",
                is_array=True,
                fields=(
                    Field("Name", "string"),
                    Field("MinSupportedVersion", "int16"),
                    Field("MaxSupportedVersion", "int16"),
                ),
            ),
            Field("Rack", "string", nullable=True),
            Field("Fenced", "bool"),
            Field("InControlledShutdown", "bool", first=1),
            Field("LogDirs", "uuid", is_array=True, first=3, tag=0),
            Field("CordonedLogDirs", "uuid", is_array=True, first=4, tag=1, nullable=True),
        ),
    ),
    Schema("UnregisterBrokerRecord", 1, 0, (Field("BrokerId", "int32"), Field("BrokerEpoch", "int64"))),
    Schema("TopicRecord", 2, 0, (Field("Name", "string"), Field("TopicId", "uuid"))),
    Schema(
        "PartitionRecord",
        3,
        2,
        (
            Field("PartitionId", "int32"),
            Field("TopicId", "uuid"),
            Field("Replicas", "int32", is_array=True),
            Field("Isr", "int32", is_array=True),
            Field("RemovingReplicas", "int32", is_array=True),
            Field("AddingReplicas", "int32", is_array=True),
            Field("Leader", "int32"),
            Field("LeaderRecoveryState", "int8", tag=0, default=0),
            Field("LeaderEpoch", "int32"),
            Field("PartitionEpoch", "int32"),
            Field("Directories", "uuid", is_array=True, first=1),
            Field("EligibleLeaderReplicas", "int32", is_array=True, first=2, tag=1, nullable=True),
            Field("LastKnownElr", "int32", is_array=True, first=2, tag=2, nullable=True),
        ),
    ),
    Schema(
        "ConfigRecord",
        4,
        0,
        (
            Field("ResourceType", "int8"),
            Field("ResourceName", "string"),
            Field("Name", "string"),
            Field("Value", "string", nullable=True),
        ),
    ),
    Schema(
        "PartitionChangeRecord",
        5,
        2,
        (
            Field("PartitionId", "int32"),
            Field("TopicId", "uuid"),
            Field("Isr", "int32", is_array=True, tag=0, nullable=True),
            Field("Leader", "int32", tag=1, default=-2),
            Field("Replicas", "int32", is_array=True, tag=2, nullable=True),
            Field("RemovingReplicas", "int32", is_array=True, tag=3, nullable=True),
            Field("AddingReplicas", "int32", is_array=True, tag=4, nullable=True),
            Field("LeaderRecoveryState", "int8", tag=5, default=-1),
            Field("Directories", "uuid", is_array=True, first=1, tag=8, nullable=True),
            Field("EligibleLeaderReplicas", "int32", is_array=True, first=2, tag=6, nullable=True),
            Field("LastKnownElr", "int32", is_array=True, first=2, tag=7, nullable=True),
        ),
    ),
    Schema(
        "AccessControlRecord",
        6,
        0,
        (
            Field("ResourceType", "int8"),
            Field("ResourceName", "string", nullable=True),
            Field("PatternType", "int8"),
            Field("Principal", "string"),
            Field("Host", "string"),
            Field("Operation", "int8"),
            Field("PermissionType", "int8"),
        ),
    ),
    Schema("FenceBrokerRecord", 7, 0, (Field("Id", "int32"), Field("Epoch", "int64"))),
    Schema("UnfenceBrokerRecord", 8, 0, (Field("Id", "int32"), Field("Epoch", "int64"))),
    Schema("RemoveTopicRecord", 9, 0, (Field("TopicId", "uuid"),)),
    Schema(
        "DelegationTokenRecord",
        10,
        0,
        (
            Field("Owner", "string"),
            Field("Requester", "string"),
            Field("Renewers", "string", is_array=True),
            Field("IssueTimestamp", "int64"),
            Field("MaxTimestamp", "int64"),
            Field("ExpirationTimestamp", "int64"),
            Field("TokenId", "string"),
        ),
    ),
    Schema(
        "UserScramCredentialRecord",
        11,
        0,
        (
            Field("Name", "string"),
            Field("Mechanism", "int8"),
            Field("Salt", "bytes"),
            Field("StoredKey", "bytes"),
            Field("ServerKey", "bytes"),
            Field("Iterations", "int32"),
        ),
    ),
    Schema("FeatureLevelRecord", 12, 0, (Field("Name", "string"), Field("FeatureLevel", "int16"))),
    Schema(
        "ClientQuotaRecord",
        14,
        0,
        (
            Field(
                "Entity",
                "struct",
                is_array=True,
                fields=(Field("EntityType", "string"), Field("EntityName", "string", nullable=True)),
            ),
            Field("Key", "string"),
            Field("Value", "float64"),
            Field("Remove", "bool"),
        ),
    ),
    Schema(
        "ProducerIdsRecord",
        15,
        0,
        (Field("BrokerId", "int32"), Field("BrokerEpoch", "int64"), Field("NextProducerId", "int64")),
    ),
    Schema(
        "BrokerRegistrationChangeRecord",
        17,
        3,
        (
            Field("BrokerId", "int32"),
            Field("BrokerEpoch", "int64"),
            Field("Fenced", "int8", tag=0, default=0),
            Field("InControlledShutdown", "int8", first=1, tag=1, default=0),
            Field("LogDirs", "uuid", is_array=True, first=2, tag=2),
            Field("CordonedLogDirs", "uuid", is_array=True, first=3, tag=3, nullable=True),
        ),
    ),
    Schema(
        "AccessControlEntryRecord",
        18,
        0,
        (
            Field("Id", "uuid"),
            Field("ResourceType", "int8"),
            Field("ResourceName", "string"),
            Field("PatternType", "int8"),
            Field("Principal", "string"),
            Field("Host", "string"),
            Field("Operation", "int8"),
            Field("PermissionType", "int8"),
        ),
    ),
    Schema("RemoveAccessControlEntryRecord", 19, 0, (Field("Id", "uuid"),)),
    Schema("NoOpRecord", 20, 0, ()),
    Schema("ZkMigrationStateRecord", 21, 0, (Field("ZkMigrationState", "int8"),)),
    Schema("RemoveUserScramCredentialRecord", 22, 0, (Field("Name", "string"), Field("Mechanism", "int8"))),
    Schema("BeginTransactionRecord", 23, 0, (Field("Name", "string", tag=0, nullable=True),)),
    Schema("EndTransactionRecord", 24, 0, ()),
    Schema("AbortTransactionRecord", 25, 0, (Field("Reason", "string", tag=0, nullable=True),)),
    Schema("RemoveDelegationTokenRecord", 26, 0, (Field("TokenId", "string"),)),
    Schema(
        "RegisterControllerRecord",
        27,
        0,
        (
            Field("ControllerId", "int32"),
            Field("IncarnationId", "uuid"),
            Field("ZkMigrationReady", "bool"),
            Field(
                "EndPoints",
                "struct",
                is_array=True,
                fields=(
                    Field("Name", "string"),
                    Field("Host", "string"),
                    Field("Port", "uint16"),
                    Field("SecurityProtocol", "int16"),
                ),
            ),
            Field(
                "Features",
                "struct",
                is_array=True,
                fields=(
                    Field("Name", "string"),
                    Field("MinSupportedVersion", "int16"),
                    Field("MaxSupportedVersion", "int16"),
                ),
            ),
        ),
    ),
    Schema("ClearElrRecord", 28, 0, (Field("TopicName", "string"),)),
    Schema("UnregisterControllerRecord", 29, 0, (Field("ControllerId", "int32"),)),
)
"""By api key; what later releases lack was never written, or is no longer."""

CONTROL_RECORDS: Final = (
    Schema(
        "LeaderChangeMessage",
        2,
        1,
        (
            Field("Version", "int16"),
            Field("LeaderId", "int32"),
            Field(
                "Voters",
                "struct",
                is_array=True,
                fields=(Field("VoterId", "int32"), Field("VoterDirectoryId", "uuid", first=1)),
            ),
            Field(
                "GrantingVoters",
                "struct",
                is_array=True,
                fields=(Field("VoterId", "int32"), Field("VoterDirectoryId", "uuid", first=1)),
            ),
        ),
    ),
    Schema("SnapshotHeaderRecord", 3, 0, (Field("Version", "int16"), Field("LastContainedLogTimestamp", "int64"))),
    Schema("SnapshotFooterRecord", 4, 0, (Field("Version", "int16"),)),
    Schema("KRaftVersionRecord", 5, 0, (Field("Version", "int16"), Field("KRaftVersion", "int16"))),
    Schema(
        "VotersRecord",
        6,
        0,
        (
            Field("Version", "int16"),
            Field(
                "Voters",
                "struct",
                is_array=True,
                fields=(
                    Field("VoterId", "int32"),
                    Field("VoterDirectoryId", "uuid"),
                    Field(
                        "Endpoints",
                        "struct",
                        is_array=True,
                        fields=(Field("Name", "string"), Field("Host", "string"), Field("Port", "uint16")),
                    ),
                    Field(
                        "KRaftVersionFeature",
                        "struct",
                        fields=(Field("MinSupportedVersion", "int16"), Field("MaxSupportedVersion", "int16")),
                    ),
                ),
            ),
        ),
    ),
)
"""By the type in the key of the record, which is their `key` here. Each begins with its version."""
