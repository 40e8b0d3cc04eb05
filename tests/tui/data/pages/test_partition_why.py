"""Why a partition is as it is, for every way it can be."""

import pytest

from model.cluster.change import Change
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import KraftMetadata, LogDir, directory_number
from model.cluster.records import (
    BrokerFenced,
    ConfigChanged,
    GenerationRecognised,
    LogDirsDescribed,
    MetadataDescribed,
    PartitionState,
    PartitionStatesWritten,
    ReassignmentsRequested,
    TopicAssigned,
    TopicDeletionRequested,
    ZnodeUnreadable,
)
from tests.tui.data.small_cluster import NOW_MS, WRITTEN_MS, moment_of, small_image, state
from tui.engine.partitions.reasons import partition_text, reasons
from tui.engine.partitions.table import partition_table
from tui.engine.queries import PartitionTextQuery

UNASSIGNED = directory_number("AAAAAAAAAAAAAAAAAAAAAQ")


def told(image: ClusterImage, key: str) -> str:
    table = partition_table(image)
    return " / ".join(f"{reason.why} -> {reason.ways_out}" for reason in reasons(table, table.place(key)))


def odd(replicas: tuple[int, ...], *states: PartitionState) -> ClusterImage:
    return small_image(
        TopicAssigned(topic="odd", replicas={0: replicas} if replicas else {}),
        *([PartitionStatesWritten(topic="odd", states=states)] if states else []),
    )


def test_the_pane_below_the_map():
    change = Change("partition-offline", "payments-3", "leader 5 -> none", "error", WRITTEN_MS)
    other = Change("broker-lost", "broker 5", "gone", "error", WRITTEN_MS)
    moment = moment_of(small_image(), other, change)
    answer = partition_text(moment, PartitionTextQuery(key="payments-3", width=76), NOW_MS)
    assert answer.title == "payments-3"
    assert answer.plain.splitlines() == [
        "state     X OFFLINE   leader none   isr 5",
        "why       b5 holds the only copy. The controller may elect only a live ISR",
        "          member; there is none, so it wrote leader -1 and kept isr [5].",
        "ways out  Bring b5 back. Unclean election would not help: no other replica",
        "          is live.",
        "replicas  5   preferred 5   RF 1 (!)",
        "epochs    leader 41, controller 7   written 33s ago   zxid 0x100",
        "settings  min ISR 1   unclean election not set (off since Kafka 0.11)",
        "znode     /brokers/topics/payments/partitions/3/state   data version 41",
        "history   22:13:20.000  leader 5 -> none",
    ]


def test_a_kraft_cluster_tells_where_on_a_broker_s_disks_a_replica_is() -> None:
    ids, name = ("YWFhYWFhYWFhYWFhYWFhYQ", "YmJiYmJiYmJiYmJiYmJiYg"), TopicPartition("kept", 0)
    numbers = (*map(directory_number, ids), UNASSIGNED, directory_number("gone"))
    written = PartitionState(0, 1, 0, (1, 2, 3), directories=numbers)
    image = small_image(
        GenerationRecognised(generation="kraft"),
        MetadataDescribed(metadata=KraftMetadata(log_dirs={1: (ids[1], ids[0]), 2: (ids[1],), 4: (ids[1],)})),
        TopicAssigned(topic="kept", replicas={0: (1, 2, 3, 4)}),
        PartitionStatesWritten(topic="kept", states=(written,)),
        LogDirsDescribed(broker=1, folders=(LogDir("/data/a"), LogDir("/data/b", sizes={name: 7}))),
    )
    told = partition_text(moment_of(image), PartitionTextQuery(key="kept-0", width=120), NOW_MS).plain
    assert f"folders   b1 /data/b {ids[0]}, b2 {ids[1]}, b3 unassigned, b4 not registered" in told


def test_the_history_is_in_the_order_of_its_times():
    told = [Change("isr-shrunk", "payments-3", f"{ms}", "info", WRITTEN_MS + ms) for ms in (5, 9, 7)]
    answer = partition_text(moment_of(small_image(), *told), PartitionTextQuery(key="payments-3"), NOW_MS)
    assert [line.split()[-1] for line in answer.plain.splitlines()[-3:]] == ["9", "7", "5"]


def test_lines_fit_the_width():
    answer = partition_text(moment_of(small_image()), PartitionTextQuery(key="payments-7", width=50), NOW_MS)
    wrapped = [line for line in answer.plain.splitlines() if not line.startswith(("znode", "state"))]
    assert max(map(len, wrapped)) <= 50


@pytest.mark.parametrize("key", ["", "payments-4", "gone-0", "odd"])
def test_a_partition_that_is_not_there(key: str):
    answer = partition_text(moment_of(small_image()), PartitionTextQuery(key=key), NOW_MS)
    assert answer.plain == ("there is no such partition (any more)" if key else "")


@pytest.mark.parametrize(
    ("image", "says"),
    [
        (odd((1, 2), state(0, 1, (1, 2), 1)), ["Its preferred replica leads and all replicas are in the ISR. -> "]),
        (odd((5, 1), state(0, 1, (1, 5), 1)), ["All replicas that should be are in the ISR; b1 leads, b5 cannot now."]),
        (odd((1, 2), state(0, 2, (1, 2), 1)), ["b2 leads; b1 is preferred, live and in the ISR, so it could."]),
        (odd((5, 1, 2), state(0, 5, (5, 2), 1)), ["b5 leads it and is not registered. b2 is the first live replica"]),
        (odd((5, 1), state(0, 5, (5,), 1)), ["it will write leader -1", "make b1 leader", "that only b5 has."]),
        (odd((5, 9), state(0, -1, (5, 9), 1)), ["b5 and b9 were the last in sync", "no other replica is live"]),
        (odd((5, 1), state(0, -1, (), 1)), ["The ISR is empty", "lose the records that others had more"]),
        (odd((1, 2), state(0, 3, (3, 1, 2), 1)), ["b3 leads and is not among its replicas", "b3 is in the ISR and no"]),
        (odd((1, 2), state(0, 1, (2,), 1)), ["b1 leads and is not in the ISR"]),
        (odd((1, 2, 5), state(0, 1, (1,), 1)), ["b5 is not registered", "b2 is live and not in sync"]),
        (odd((1, 2)), ["the controller has not written its state yet", "see what the controller, b4, does"]),
        (odd((5, 9)), ["It never had a leader", "Start b5 and b9."]),
        (odd((), state(0, 1, (1,), 1)), ["the topic's assignment does not name the partition"]),
        (odd((1,), PartitionState(0, 1, 1, (1,), recovering=True)), ["b1 was elected although it was not in the ISR"]),
    ],
)  # fmt: skip
def test_the_reason_is_told(image: ClusterImage, says: list[str]):
    text = told(image, "odd-0")
    assert [part for part in says if part not in text] == [], text


def lone(elr: tuple[int, ...] | None, last: tuple[int, ...] | None = ()) -> PartitionState:
    return PartitionState(0, -1, 1, (), elr=elr, last_known_elr=last)


@pytest.mark.parametrize(
    ("image", "says"),
    [
        (odd((5, 1), lone((5,), (5,))), ["b5 is in the ELR and may lead", "Bring b5 back: nothing is lost."]),
        (odd((5, 1), lone((5, 1))), ["b1 is the first live replica in the ELR, so the controller can elect it"]),
        (odd((5, 1), lone((), (5,))), ["The ISR and the ELR are empty", "Bring b5 back: it led last, and is elected"]),
        (odd((5, 1), lone(())), ["The ISR and the ELR are empty", "Bring back the replica that led last."]),
        (odd((5, 1), lone(None, None)), ["The ISR is empty, as Kafka 0.8.0 and 0.8.1 left it"]),
    ],
)  # fmt: skip
def test_eligible_leader_replicas_show_the_way_out(image: ClusterImage, says: list[str]):
    text = told(image, "odd-0")
    assert [part for part in says if part not in text] == [], text


def test_a_fenced_broker_is_not_called_unregistered():
    kraft = GenerationRecognised(generation="kraft")
    records = (
        TopicAssigned(topic="odd", replicas={0: (1, 5)}),
        PartitionStatesWritten(topic="odd", states=(state(0, 1, (1,), 1),)),
    )
    assert told(small_image(*records), "odd-0").startswith("b5 is not registered, so out of the ISR.")
    assert told(small_image(*records, kraft, BrokerFenced(broker=5)), "odd-0").startswith("b5 is fenced, so out of")
    assert told(small_image(*records, kraft), "odd-0").startswith("b5 is down, so out of the ISR.")


def test_eligible_leader_replicas_are_told_where_they_are_known():
    def facts(state: PartitionState) -> list[str]:
        query = PartitionTextQuery(key="odd-0", width=76)
        shown = partition_text(moment_of(odd((5, 1), state)), query, NOW_MS).plain
        return [line for line in shown.splitlines() if line.startswith("elr")]

    assert facts(lone((5,), (5,))) == ["elr       5   last known leader 5"]
    assert facts(lone(())) == ["elr       none"]
    assert facts(lone(None, None)) == []


def test_too_few_in_sync_for_producers():
    image = small_image(ConfigChanged(entity="topics/orders", config={"min.insync.replicas": "3"}))
    assert "producers with acks=all get NOT_ENOUGH_REPLICAS" in told(image, "orders-2")
    image = small_image(ConfigChanged(entity="topics/orders", config={"min.insync.replicas": "4"}))
    assert "It has fewer replicas than that" in told(image, "orders-2")


def test_a_reassignment_that_waits_for_a_dead_broker():
    asked = ReassignmentsRequested(targets={TopicPartition("orders", 10): (1, 5)})
    text = told(small_image(asked), "orders-10")
    assert "target [1,5] waits in /admin/reassign_partitions" in text
    assert "b5 must be up for that" in text


def test_a_znode_that_cannot_be_read():
    image = small_image(ZnodeUnreadable(path="/brokers/topics/orders", reason="not JSON"))
    text = told(image, "orders-10")
    assert text.startswith("What is known of it is not whole: /brokers/topics/orders: not JSON.")


def test_a_topic_that_is_being_deleted():
    text = told(small_image(TopicDeletionRequested(topic="payments")), "payments-3")
    assert text.startswith("The topic is marked for deletion")
    assert "b5 must come back first" in text


@pytest.mark.parametrize(
    ("entity", "value", "says"),
    [("topics/orders", "true", "on (topic)"), ("brokers/<default>", "false", "off (cluster)")],
)
def test_whether_an_unclean_election_may_happen(entity: str, value: str, says: str):
    image = small_image(ConfigChanged(entity=entity, config={"unclean.leader.election.enable": value}))
    answer = partition_text(moment_of(image), PartitionTextQuery(key="orders-2"), NOW_MS)
    assert f"unclean election {says}" in answer.plain
