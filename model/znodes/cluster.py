"""Znodes of the cluster as a whole: its id, features, producer ids, the migration to KRaft, generated broker ids.

Source: `kafka.zk.ClusterIdZNode` (0.10.1), `FeatureZNode` (2.7, KIP-584), `ProducerIdBlockZNode` (0.11),
`MigrationZNode` (3.4, KIP-866), `BrokerSequenceIdZNode` (0.9). It gives out no ids.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from model.znodes.payload import (
    INT32_MAX,
    INT64_MAX,
    BrokerIdOrNone,
    Epoch,
    Int64,
    JsonCodec,
    JsonObject,
    JsonPayload,
    LeftOut,
    Name,
    Version,
)

Level = Annotated[int, Meta(ge=0, le=2**15 - 1)]


class ClusterId(JsonPayload, frozen=True, kw_only=True):
    """The cluster's id, 22 characters of base64url. Its version is text, unlike everywhere else."""

    version: str | int = "1"
    cluster_id: Name = msgspec.field(name="id")


class FinalizedLevels(JsonObject, frozen=True, kw_only=True):
    """The finalized levels of a feature; the lower one is in v1 only."""

    max_version_level: Level
    min_version_level: Level | None = None

    left_out: ClassVar[Mapping[str, LeftOut]] = {"min_version_level": LeftOut(None)}


class FinalizedFeatures(JsonPayload, frozen=True, kw_only=True):
    """`status` 0 disabled, 1 enabled. v1 (2.7): a range of levels per feature; v2 (3.3): the upper level only."""

    features: Mapping[str, FinalizedLevels]
    version: Version
    status: Annotated[int, Meta(ge=0, le=1)]

    nested: ClassVar[Mapping[str, type[JsonObject]]] = {"features": FinalizedLevels}

    def problem(self) -> str | None:
        for levels in self.features.values():
            lowest = levels.min_version_level
            if lowest is not None and not 1 <= lowest <= levels.max_version_level:
                return "a feature's min_version_level is not between 1 and its max_version_level"
        return None


class ProducerIdBlock(JsonPayload, frozen=True, kw_only=True):
    """The block of producer ids given out last, and to which broker. Both ends are inclusive and written as text."""

    version: Version = 1
    broker: BrokerIdOrNone
    block_start: str
    block_end: str

    @property
    def first_id(self) -> int:
        """The lowest producer id of the block."""
        return int(self.block_start)

    @property
    def last_id(self) -> int:
        """The highest producer id of the block."""
        return int(self.block_end)

    def problem(self) -> str | None:
        for name, text in (("block_start", self.block_start), ("block_end", self.block_end)):
            if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= INT64_MAX):
                return f"{name} is not a producer id"
        return None


class KraftMigration(JsonPayload, frozen=True, kw_only=True):
    """How far a migration to KRaft has come; all -1 when none has begun."""

    version: Annotated[int, Meta(ge=0, le=INT32_MAX)] = 0
    kraft_metadata_offset: Int64 = -1
    kraft_controller_id: BrokerIdOrNone = -1
    kraft_metadata_epoch: Epoch = -1
    kraft_controller_epoch: Epoch = -1


decode_cluster_id = JsonCodec(ClusterId)
decode_features = JsonCodec(FinalizedFeatures)
decode_producer_id_block = JsonCodec(ProducerIdBlock)
decode_migration = JsonCodec(KraftMigration)


def generated_broker_id(seqid_data_version: int, reserved_broker_max_id: int = 1000) -> int:
    """The id a broker without one takes after writing `/brokers/seqid`, from that write's data version."""
    return reserved_broker_max_id + seqid_data_version
