"""A small cluster with most of what can be the matter, and pages written down as text."""

import msgspec

from model.cluster.change import Change
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.cluster.findings import find
from model.cluster.ids import TopicPartition
from model.cluster.records import (
    BrokerRegistered,
    ClusterIdentified,
    ClusterRecord,
    ConfigChanged,
    ControllerElected,
    ControllerEpochChanged,
    MemberJoined,
    OffsetCommitted,
    PartitionClaimed,
    PartitionState,
    PartitionStatesWritten,
    TopicAssigned,
)
from model.sources.feed import Moment
from model.sources.source import SourceStatus
from tui.engine.rows import Line, Window

WRITTEN_MS = 1_700_000_000_000
NOW_MS = WRITTEN_MS + 33_000
DAY_MS = 86_400_000

LIVE = (1, 2, 3, 4, 6)  # broker 5 is dead


def state(partition: int, leader: int, isr: tuple[int, ...], epoch: int) -> PartitionState:
    """A state written at WRITTEN_MS."""
    return PartitionState(
        partition, leader, epoch, isr, controller_epoch=7, version=epoch, zxid=0x100, time_ms=WRITTEN_MS
    )


def small_image(*more: ClusterRecord) -> ClusterImage:
    """Topics orders and payments on brokers 1 to 6, group billing; `more` comes on top."""
    registered = [
        BrokerRegistered(
            broker=broker,
            endpoints=(f"PLAINTEXT://kfk-0{broker}:9092",),
            rack=f"r{(broker - 1) % 3 + 1}",
            epoch=100 + broker,
            registered_ms=WRITTEN_MS - 4 * DAY_MS,
        )
        for broker in LIVE
    ]
    records: list[ClusterRecord] = [
        *registered,
        ControllerElected(broker=4, since_ms=WRITTEN_MS),
        ControllerEpochChanged(epoch=118),
        ClusterIdentified(cluster_id="prod-eu1"),
        TopicAssigned(topic="orders", replicas={2: (3, 4, 5), 3: (4, 5, 6), 10: (1, 2, 3)}),
        PartitionStatesWritten(
            topic="orders", states=(state(2, 3, (3, 4), 39), state(3, 4, (4, 6), 39), state(10, 2, (2, 1, 3), 5))
        ),
        TopicAssigned(topic="payments", replicas={0: (1, 2, 6), 3: (5,), 7: (5, 1)}, adding={0: (6,)}),
        PartitionStatesWritten(
            topic="payments", states=(state(0, 1, (1, 2), 12), state(3, -1, (5,), 41), state(7, 5, (5,), 41))
        ),
        ConfigChanged(entity="topics/orders", config={"min.insync.replicas": "2"}),
        *billing(),
        *more,
    ]
    return (
        ClusterDelta(EMPTY)
        .replay_all(records)
        .apply(Provenance(source="zk://kfk", zxid=1, time_ms=WRITTEN_MS, complete=True))
    )


def billing() -> list[ClusterRecord]:
    """A group with an idle thread, a dead owner and partitions nobody owns."""
    owners = {
        ("orders", 2): "billing-a-77-0",
        ("orders", 3): "billing-a-77-1",
        ("payments", 0): "billing-a-77-0",
        ("payments", 7): "billing-b-12-0",
    }
    return [
        MemberJoined(group="billing", member="billing-a-77", subscription={"orders": 2, "payments": 1}),
        MemberJoined(group="billing", member="billing-c-40", subscription={"orders": 1}),
        *(PartitionClaimed(group="billing", partition=TopicPartition(*p), owner=o) for p, o in owners.items()),
        OffsetCommitted(group="billing", partition=TopicPartition("orders", 2), offset=100),
    ]


def moment_of(image: ClusterImage, *feed: Change, ends: dict[TopicPartition, int] | None = None) -> Moment:
    """A live moment of an image; `ends` are log end offsets."""
    image = msgspec.structs.replace(image, log_ends=ends or image.log_ends)
    return Moment(1, image, find(image), feed, SourceStatus("live"))


def text_of(line: Line) -> str:
    """A line without its styles."""
    return "".join(text for text, _ in line)


def rows_of(window: Window) -> list[str]:
    """`! | orders-2 | 3 | …` for each row."""
    return [" | ".join([row.mark or " ", *(text_of(cell).strip() for cell in row.cells)]) for row in window.rows]


def keys_of(window: Window) -> list[str]:
    """The rows' keys."""
    return [row.key for row in window.rows]
