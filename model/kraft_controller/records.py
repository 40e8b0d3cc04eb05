"""What a controller writes, as values: those records of the metadata log that elections depend on."""

import msgspec

from model.cluster.ids import TopicPartition
from model.kraft_controller.partition_change import PartitionChange, Registration, applied


class BrokerRegistration(msgspec.Struct, frozen=True):
    """A broker that is registered."""

    epoch: int = -1
    fenced: bool = False
    in_controlled_shutdown: bool = False
    rack: str | None = None
    directories: tuple[str, ...] = ()
    """Ids of its log directories that work; empty where it does not tell them."""

    @property
    def is_active(self) -> bool:
        """Whether it may lead and be in an ISR."""
        return not (self.fenced or self.in_controlled_shutdown)

    def changed_by(self, record: "BrokerChanged") -> "BrokerRegistration":
        """The broker after it: whoever is fenced or unfenced is no longer in a controlled shutdown."""
        told = {name: value for name in ("fenced", "in_controlled_shutdown", "directories")
                if (value := getattr(record, name)) is not None}  # fmt: skip
        if record.fenced is not None:
            told["in_controlled_shutdown"] = False
        return msgspec.structs.replace(self, **told)


class PartitionChanged(msgspec.Struct, frozen=True, gc=False):
    """A PartitionChangeRecord. `unclean`: its leader may lack records that were acknowledged; `last_known`: only such
    as were lost when it crashed, since it led last."""

    partition: TopicPartition
    before: Registration
    change: PartitionChange
    unclean: bool = False
    last_known: bool = False

    @property
    def after(self) -> Registration:
        return applied(self.before, self.change)


class BrokerRegistered(msgspec.Struct, frozen=True):
    """A RegisterBrokerRecord: a new incarnation is fenced until it has caught up."""

    broker: int
    epoch: int
    fenced: bool = True
    in_controlled_shutdown: bool = False
    rack: str | None = None
    directories: tuple[str, ...] = ()


class BrokerChanged(msgspec.Struct, frozen=True):
    """A BrokerRegistrationChangeRecord; None: that stays."""

    broker: int
    fenced: bool | None = None
    in_controlled_shutdown: bool | None = None
    directories: tuple[str, ...] | None = None


class BrokerUnregistered(msgspec.Struct, frozen=True):
    """An UnregisterBrokerRecord. Replica lists and ELRs keep it."""

    broker: int


class TopicCreated(msgspec.Struct, frozen=True):
    """A TopicRecord."""

    topic: str


class PartitionCreated(msgspec.Struct, frozen=True):
    """A PartitionRecord."""

    partition: TopicPartition
    registration: Registration


class TopicRemoved(msgspec.Struct, frozen=True):
    """A RemoveTopicRecord: its partitions and settings go with it, without records of their own."""

    topic: str


class ConfigWritten(msgspec.Struct, frozen=True):
    """A ConfigRecord, of `topics/NAME`, `brokers/ID` or `brokers/<default>`; None takes the setting away."""

    entity: str
    key: str
    value: str | None


class ElrCleared(msgspec.Struct, frozen=True):
    """A ClearElrRecord, of all topics where none is named: no change of a partition, yet it raises partition epochs."""

    topic: str = ""


class FeatureWritten(msgspec.Struct, frozen=True):
    """A FeatureLevelRecord."""

    feature: str
    level: int


MetadataRecord = (
    PartitionChanged
    | BrokerRegistered
    | BrokerChanged
    | BrokerUnregistered
    | TopicCreated
    | PartitionCreated
    | TopicRemoved
    | ConfigWritten
    | ElrCleared
    | FeatureWritten
)
