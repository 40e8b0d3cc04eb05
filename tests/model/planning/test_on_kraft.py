"""What a KRaft controller makes of a plan: leaders, epochs, what waits, and which brokers it takes as targets."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from model.analyses.analysis import run_here
from model.analyses.image_arrays import racks_of
from model.analyses.plans import PLANS, EachBrokerParameters, layout_in, plan_arrays
from model.cluster import records as r
from model.cluster.cluster_image import ClusterImage, state_in
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import KraftMetadata
from model.interchange.tool_files import read_plan
from model.planning.documents import document_of, forward
from model.planning.kraft_course import PartitionCourse, courses_of
from model.planning.layout import layout_of
from model.planning.plan import Plan, applied
from model.planning.planner import plan, score
from model.planning.request import NewBroker, PlanError, PlanRequest
from tests.model.drills.clusters import T0, cluster
from tui.cli.plan_text import lines

LEVEL_OF = {(3, 7): 19, (3, 9): 21, (4, 1): 27, (4, 4): 33}


def kraft(
    replicas: dict[int, tuple[int, ...]],
    *more: r.ClusterRecord,
    release: tuple[int, int] = (4, 4),
    elr: bool = False,
    states: dict[int, r.PartitionState] | None = None,
    live: tuple[int, ...] = (1, 2, 3, 4, 5),
) -> ClusterImage:
    """Topic t, in sync and led by the first replicas unless said; leader epoch 5, partition epoch 9, min ISR 2."""
    given = {number: r.PartitionState(number, own[0], 5, own, 0, 9, elr=(), last_known_elr=())
             for number, own in replicas.items()} | (states or {})  # fmt: skip
    features = {"metadata.version": LEVEL_OF[release], "eligible.leader.replicas.version": int(elr)}
    return cluster(
        live,
        r.GenerationRecognised(generation="kraft"),
        r.MetadataDescribed(metadata=KraftMetadata(features)),
        r.TopicAssigned(topic="t", replicas=replicas),
        r.PartitionStatesWritten(topic="t", states=tuple(given.values())),
        r.ConfigChanged(entity="topics/t", config={"min.insync.replicas": "2"}),
        *more,
    )


def course(image: ClusterImage, *target: int, coming: tuple[int, ...] = ()) -> PartitionCourse:
    return courses_of(image, {T0: target}, coming)[T0]


def told(found: PartitionCourse) -> dict[str, Any]:
    now, then = found.before, found.after
    return {
        "leaders": [now.leader, found.moved.leader, then.leader],
        "epochs": (then.leader_epoch - now.leader_epoch, then.partition_epoch - now.partition_epoch),
        "isr": then.isr,
        "waits": found.waits_for,
    }


@pytest.mark.parametrize(
    ("target", "leaders", "epochs", "isr"),
    [
        # The old leader goes: another leads as the reassignment completes, in the same record.
        ((4, 2, 3), [1, 4, 4], (1, 2), (2, 3, 4)),
        # Two copies are two changes of the ISR, and the last of them completes it.
        ((1, 4, 5), [1, 1, 1], (1, 3), (1, 4, 5)),
        # Fewer replicas are one record; more of them raise no leader epoch.
        ((1, 2), [1, 1, 1], (1, 1), (1, 2)),
        ((1, 2, 3, 4), [1, 1, 1], (0, 2), (1, 2, 3, 4)),
        # An order alone moves no leader: the preferred election does.
        ((3, 2, 1), [1, 1, 3], (1, 2), (1, 2, 3)),
        ((2, 1, 4), [1, 1, 2], (2, 3), (1, 2, 4)),
    ],
)
def test_leaders_and_epochs_of_a_move(
    target: tuple[int, ...], leaders: list[int], epochs: tuple[int, int], isr: tuple[int, ...]
) -> None:
    found = told(course(kraft({0: (1, 2, 3)}), *target))
    assert found == {"leaders": leaders, "epochs": epochs, "isr": isr, "waits": ()}


@pytest.mark.parametrize(("release", "waits"), [((3, 7), ()), ((3, 9), (2,)), ((4, 1), (2,)), ((4, 4), ())])
def test_who_stays_has_to_be_in_sync_from_3_8_to_4_2(release: tuple[int, int], waits: tuple[int, ...]) -> None:
    behind = {0: r.PartitionState(0, 1, 5, (1, 3), 0, 9)}
    image = kraft({0: (1, 2, 3)}, release=release, states=behind)
    assert course(image, 1, 2, 4).waits_for == waits
    made = score(image, read_plan(b'{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2,4]}]}'),
                 PlanRequest(), "plan.json")  # fmt: skip
    said = "waits until broker 2 is in sync, too: this release completes a reassignment only then."
    assert any(said in note for note in made.notes) is bool(waits)


def test_fewer_copies_than_go_wait_for_all_from_4_3_on() -> None:
    behind = {0: r.PartitionState(0, 1, 5, (1, 3), 0, 9)}
    assert course(kraft({0: (1, 2, 3)}, states=behind), 1, 2).waits_for == (2,)


def test_elr_is_kept_while_it_moves_and_given_up_once_the_isr_is_large_enough() -> None:
    small = {0: r.PartitionState(0, 1, 5, (1,), 0, 9, elr=(2,), last_known_elr=())}
    image = kraft({0: (1, 2)}, elr=True, states=small, live=(1, 3, 4))
    half_way, done = course(image, 1, 3, 4), course(image, 1, 2, 3)
    assert (half_way.moved.isr, half_way.moved.elr, half_way.after.elr) == ((1, 3, 4), (), ())
    assert (done.moved.isr, done.moved.elr, done.waits_for) == ((1, 3), (), ())
    single = course(image, 1)
    assert (single.after.replicas, single.after.elr) == ((1,), (2,))  # as Kafka has it: eligible, and no replica


def test_going_back_on_what_is_under_way_never_ends_in_4_3_and_later() -> None:
    """Worked case G10."""
    moving = r.TopicAssigned(topic="t", replicas={0: (4, 5, 1)}, adding={0: (5,)}, removing={0: (1,)})
    state = {0: r.PartitionState(0, 1, 5, (1, 4), 0, 9)}
    image = kraft({0: (4, 5, 1)}, moving, states=state)
    assert course(image, 1, 4).is_stuck
    text = b'{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,4]}]}'
    made = score(image, read_plan(text), PlanRequest(), "plan.json")
    assert any("which this release then never completes by itself: cancel that first." in note for note in made.notes)
    older = kraft({0: (4, 5, 1)}, moving, states=state, release=(4, 1))
    assert not course(older, 1, 4).is_stuck


FENCED = r.BrokerFenced(broker=6, rack="r0")


def scored(image: ClusterImage, *replicas: int) -> Plan:
    moves = msgspec.json.encode({"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": replicas}]})
    return score(image, read_plan(moves), PlanRequest(), "plan.json")


def test_a_fenced_broker_is_taken_as_target_and_one_that_is_not_registered_is_not() -> None:
    image = kraft({0: (1, 2, 3)}, FENCED)
    made = scored(image, 1, 2, 6)
    assert made.notes[0].startswith("Broker 6 is fenced: Kafka takes the plan, and 1 partition (t-0) waits until it is")
    assert (made.courses[T0].waits_for, made.courses[T0].after.leader) == ((6,), 1)
    assert document_of(made, {})["partitions"][0]["waits_for"] == (6,)
    with pytest.raises(PlanError, match="broker 9: not in this cluster"):
        scored(image, 1, 2, 9)
    with pytest.raises(PlanError, match="broker 6: not in this cluster"):
        scored(kraft({0: (1, 2, 3)}, r.BrokerLost(broker=6)), 1, 2, 6)


def test_a_plan_onto_a_fenced_broker_has_its_rack_and_says_that_it_waits() -> None:
    made = plan(kraft({0: (1, 2, 3)}, FENCED), PlanRequest(remove=(3,), add=(NewBroker(6),)))
    assert {share.broker: share.rack for share in made.after.brokers}[6] == "r0"
    assert "Broker 6 is fenced: Kafka takes the plan, and what is to go there waits until it is back." in made.notes


def test_nothing_new_goes_to_a_broker_that_is_shutting_down() -> None:
    stops = r.BrokerRegistered(broker=4, rack="r1", epoch=104, in_controlled_shutdown=True)
    image = kraft({0: (1, 2), 1: (1, 2), 2: (1, 2), 3: (4, 1)}, stops, live=(1, 2, 4))
    made = plan(image, PlanRequest(reach="balance"))
    assert not any(4 in change.added for change in made.changes)
    assert any(note.startswith("Broker 4 is fenced and keeps 1 replica") for note in made.notes)


def test_what_a_plan_leads_to_has_the_epochs_that_its_controller_writes() -> None:
    image = kraft({0: (1, 2, 3), 1: (2, 3, 1)})
    made = scored(image, 4, 2, 3)
    after = state_in(applied(image, made), T0)
    assert after is not None
    assert (after.leader, after.leader_epoch, after.version, after.isr) == (4, 6, 11, (2, 3, 4))
    untouched = state_in(applied(image, made), TopicPartition("t", 1))
    assert untouched is not None and (untouched.leader_epoch, untouched.version) == (5, 9)


def test_where_brokers_do_not_tell_partition_epochs_they_are_unknown() -> None:
    image = msgspec.structs.replace(kraft({0: (1, 2, 3)}), metadata=None)
    made = scored(image, 4, 2, 3)
    (row,) = document_of(made, {})["partitions"]
    assert (row["partition_epoch"], row["leader_epoch"]) == (None, [5, 6])
    assert made.rules.endswith(": assumed, as nobody tells the level")
    after = state_in(applied(image, made), T0)
    assert after is not None and (after.leader, after.version) == (4, 0)


def test_command_and_document_say_what_is_written() -> None:
    made = scored(kraft({0: (1, 2, 3)}, elr=True), 4, 2, 3)
    said = " ".join(" ".join(lines(made, None)).split())
    assert "the controller, by the rules of KRaft 4.4, metadata.version 33 (4.4-IV2), with ELR" in said
    for words in ("partition records 2", "leaders move 1 with the reassignment", "leader epoch +1 1 partition"):
        assert words in said
    assert "Leaders move: 1 with the reassignment itself, where the old one goes; 0 with the" in " ".join(made.notes)
    document = document_of(made, {})
    assert document["controller"] == {
        "rules": made.rules, "records": 2, "moved_by_reassignment": 1, "moved_by_election": 0,
        "epochs": ((1, 1),), "waiting": 0,
    }  # fmt: skip
    (row,) = document["partitions"]
    assert (row["leader"], row["leader_epoch"], row["partition_epoch"]) == ([1, 4, 4], [5, 6], [9, 11])
    assert '"replicas":[4,2,3]' in forward(made)


def test_with_zookeeper_nothing_of_that_is_said() -> None:
    image = msgspec.structs.replace(kraft({0: (1, 2, 3)}), generation="3.x")
    made = scored(image, 4, 2, 3)
    assert (made.courses, made.rules, "controller" in document_of(made, {})) == ({}, "", False)
    assert any(note.startswith("Leaders move with the next preferred leader election") for note in made.notes)


def cordoned(release: tuple[int, int] = (4, 4)) -> ClusterImage:
    """All that broker 3 has is cordoned, and one of broker 2's two directories."""
    features = {"metadata.version": LEVEL_OF[release]}
    dirs = {1: ("a",), 2: ("b", "c"), 3: ("d",), 4: ("e",)}
    metadata = KraftMetadata(features, log_dirs=dirs, cordoned={2: ("b",), 3: ("d",)})
    replicas = {0: (1, 2), 1: (1, 2), 2: (2, 1), 3: (3, 1), 4: (2, 1), 5: (1, 2)}
    return kraft(replicas, r.MetadataDescribed(metadata=metadata), live=(1, 2, 3, 4), release=release)


def test_nothing_new_goes_to_a_broker_that_is_cordoned_and_it_is_alive_all_the_same() -> None:
    image = cordoned()
    made = plan(image, PlanRequest(reach="balance"))
    assert not any(3 in change.after for change in made.changes)
    assert any(4 in change.added for change in made.changes)
    assert "Broker 3 is cordoned and keeps 1 replica; remove it to move them." in made.notes
    after = applied(image, made)
    assert (3 in after.brokers, state_in(after, TopicPartition("t", 3))) == (
        True,
        state_in(image, TopicPartition("t", 3)),
    )
    away = plan(image, PlanRequest(remove=(3,), reach="forced"))
    assert [change.partition for change in away.changes] == [3]
    assert 3 not in applied(image, away).brokers
    with pytest.raises(PlanError, match="broker 3: all log directories are cordoned; uncordon one first"):
        plan(image, PlanRequest(add=(NewBroker(3),)))


def test_removing_each_broker_in_turn_keeps_away_from_it_too() -> None:
    image = cordoned()
    arrays, racks = plan_arrays(image, None), racks_of(image)
    assert layout_in(arrays, racks).cordoned == layout_of(image).cordoned == {3}
    result = run_here(PLANS, arrays, EachBrokerParameters(racks=racks, reach="forced"))
    assert {row.broker: row.moves for row in result.brokers}[3] == 1
    assert [row.broker for row in result.impossible] == []


def test_from_4_4_on_a_reassignment_that_names_it_is_refused() -> None:
    made = scored(cordoned(), 1, 3)
    assert (made.courses[T0].refused, made.courses[T0].records) == ((3,), 0)
    assert any("(t-0): Kafka refuses a reassignment that names broker 3" in note for note in made.notes)
    assert scored(cordoned(), 1, 4).courses[T0].refused == ()
    assert scored(cordoned((4, 1)), 1, 3).courses[T0].refused == ()
