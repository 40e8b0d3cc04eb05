"""Deaths that KRaft alone knows: controllers by word, log folders, a rack's machines, voters that come and go."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from model.cluster import records as r
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import KraftMetadata, LogDir, Quorum, QuorumReplica
from model.drills.document import document_of
from model.drills.drill import PlayedDrill, run
from model.drills.outcomes import OutcomeKind
from model.drills.rows import FolderFailed, QuorumShrank, StateWritten, VoterFellSilent
from model.drills.scenario import (
    Act,
    Deed,
    Scenario,
    ScenarioError,
    controllers_named,
    folders_lost,
    machines_of_rack,
    nodes_text,
    of_acts,
    of_brokers,
    with_voters_changed,
)
from tests.model.drills.clusters import cluster, topic
from tests.model.drills.test_voters import kraft, leaders
from tui.cli.drill import lines

T = TopicPartition


def apart() -> ClusterImage:
    """Voters 101 to 103 are no brokers; 102 is the active one."""
    return kraft(voters=(101, 102, 103), leader=102)


def folders() -> ClusterImage:
    """Brokers 1 to 3; a [1,2] and b [1] lie in /x of broker 1, c [2,1] in /y of it."""
    image = cluster(
        [1, 2, 3],
        *topic((1, 2), (1, 2), 1, name="a"),
        *topic((1,), (1,), 1, name="b"),
        *topic((2, 1), (2, 1), 2, name="c"),
        r.GenerationRecognised(generation="kraft"),
        r.LogDirsDescribed(
            broker=1, folders=(LogDir("/x", sizes={T("a", 0): 5, T("b", 0): 5}), LogDir("/y", sizes={T("c", 0): 5}))
        ),
        r.LogDirsDescribed(broker=2, folders=(LogDir("/z", sizes={T("a", 0): 5, T("c", 0): 5}),)),
    )
    return msgspec.structs.replace(image, metadata=KraftMetadata({"metadata.version": 25}))


def lost(image: ClusterImage, *named: tuple[int, str]) -> PlayedDrill:
    return run(image, of_acts(folders_lost(image, named)))


def states(drill: PlayedDrill) -> dict[str, tuple[int, tuple[int, ...]]]:
    found: dict[str, tuple[int, tuple[int, ...]]] = {}
    for name, each in drill.after.topics.items():
        found[name] = int(each.leader[0]), tuple(broker for broker in each.isr[0].tolist() if broker >= 0)
    return found


def test_controllers_by_word() -> None:
    assert controllers_named(apart(), "active") == (102,)
    assert controllers_named(apart(), "majority") == (101, 102)
    assert controllers_named(apart(), "103, 101") == (103, 101)
    # Those that are no brokers go first, after the active one.
    assert controllers_named(kraft(voters=(1, 101, 102), leader=1), "majority") == (1, 101)
    five = kraft(voters=(1, 2, 3, 4, 5), leader=5)
    assert controllers_named(five, "majority") == (1, 2, 5)
    assert controllers_named(cluster([1, 2]), "active") == (1,)


@pytest.mark.parametrize(
    ("image", "word", "why"),
    [
        (apart(), "7", "7: no voter; voters: 101, 102, 103"),
        (apart(), "101,most", "most: no voter"),
        (cluster([1, 2]), "majority", "no voters here"),
        (kraft(voters=(), leader=2), "active", "the voters are not known"),
        (kraft(leader=-1), "active", "no controller is active"),
    ],
)
def test_controllers_that_nobody_knows(image: ClusterImage, word: str, why: str) -> None:
    with pytest.raises(ScenarioError, match=why):
        controllers_named(image, word)


def test_the_active_controller_alone_dies_and_nothing_happens_to_partitions() -> None:
    drill = run(apart(), of_brokers(controllers_named(apart(), "active")))
    assert (drill.hurts, leaders(drill), drill.affected) == (False, [1, 2, 3, 4, 5], ())
    died, shrank = drill.timeline.rows
    assert isinstance(died, VoterFellSilent) and isinstance(shrank, QuorumShrank)
    assert (died.voter, shrank.candidates) == (102, (101, 103))
    assert "what if controller 102 failed" in "\n".join(lines(drill))
    assert drill.served is None


def test_a_lost_majority_says_what_is_still_served() -> None:
    """Of five partitions 1 leads [1,2] …: with 5 dead one is gone, and one has it in its ISR."""
    dead = (*controllers_named(apart(), "majority"), 5)
    drill = run(apart(), of_brokers(dead))
    assert drill.hurts and drill.turnout is not None and drill.turnout.is_lost
    assert "still served       3 partitions as before, 1 without acks=all, 1 not at all" in list(lines(drill))
    assert document_of(drill)["still_served"] == {"whole": 3, "without_all": 1, "not_served": 1}
    assert "what if broker 5 and controllers 101, 102 failed" in "\n".join(lines(drill))


def test_a_controller_that_dies_later_counts_then() -> None:
    acts = (Act(Deed.STOP, (5,)), Act(Deed.KILL, (102,)))
    rows = [row for row in run(apart(), of_acts(acts)).timeline.rows if isinstance(row, VoterFellSilent | QuorumShrank)]
    assert [type(row) for row in rows] == [VoterFellSilent, QuorumShrank]
    assert rows[0].at_ms > 0


def test_a_log_folder_fails() -> None:
    drill = lost(folders(), (1, "/x"))
    assert states(drill) == {"a": (2, (2,)), "b": (-1, (1,)), "c": (2, (2, 1))}
    assert {str(one.partition): one.outcome for one in drill.affected} == {
        "a-0": OutcomeKind.CLEAN, "b-0": OutcomeKind.OFFLINE,
    }  # fmt: skip
    assert drill.after.brokers.keys() == {1, 2, 3}  # the broker lives
    (failed,) = [row for row in drill.timeline.rows if isinstance(row, FolderFailed)]
    assert (failed.broker, failed.path, failed.partitions) == (1, "/x", 2)
    assert {row.at_ms for row in drill.timeline.rows if isinstance(row, StateWritten)} == {17}
    shown = "\n".join(lines(drill))
    assert "what if log folder /x of b1 failed" in shown
    assert "log folder /x of b1 failed, with 2 replicas in it" in shown
    document = json.loads(json.dumps(document_of(drill)))
    assert document["scenario"]["then"] == [{"deed": "lose", "brokers": [1], "folders": [[1, "/x"]]}]


def test_a_follower_in_a_failed_folder_leaves_the_isr_and_stays_out() -> None:
    drill = lost(folders(), (1, "/y"))
    assert states(drill)["c"] == (2, (2,))
    again = of_acts([*folders_lost(folders(), [(1, "/y")]), Act(Deed.STOP, (3,)), Act(Deed.START, (3,))])
    assert states(run(folders(), again))["c"] == (2, (2,))
    # Its leader dies: whoever is in a folder that failed cannot take over.
    then = of_acts([*folders_lost(folders(), [(1, "/y")]), Act(Deed.KILL, (2,))])
    assert states(run(folders(), then))["c"] == (-1, (2,))


def test_with_its_last_folder_a_broker_dies() -> None:
    assert folders_lost(folders(), [(2, "/z")]) == (Act(Deed.KILL, (2,)),)
    both = folders_lost(folders(), [(1, "/x"), (2, "/z")])
    assert both == (Act(Deed.KILL, (2,)), Act(Deed.LOSE, (1,), folders=((1, "/x"),)))
    assert folders_lost(folders(), [(1, "/x"), (1, "/y"), (1, "/x")]) == (Act(Deed.KILL, (1,)),)


@pytest.mark.parametrize(
    ("image", "folder", "why"),
    [
        (folders(), (1, "/w"), "b1 has no log folder '/w' that works: /x, /y"),
        (folders(), (3, "/x"), "b3: its log folders are not known"),
        (cluster([1]), (1, "/x"), "KRaft clusters only"),
        (msgspec.structs.replace(folders(), metadata=KraftMetadata({"metadata.version": 16})), (1, "/x"), "3.7-IV2"),
    ],
)
def test_folders_that_cannot_fail(image: ClusterImage, folder: tuple[int, str], why: str) -> None:
    with pytest.raises(ScenarioError, match=why):
        folders_lost(image, [folder])


def test_a_rack_takes_the_voters_on_its_machines() -> None:
    """Brokers listen at h1 to h5; rack r1 has 1 and 4. Voters on a machine that others are on as well stay."""

    def voter(number: int, host: str) -> QuorumReplica:
        return QuorumReplica(number, 90, 0, 1_000, endpoints=(f"CONTROLLER://{host}:9093",))

    quorum = Quorum(101, 7, 90, (voter(101, "h1"), voter(102, "h2"), voter(103, "elsewhere")))
    image = msgspec.structs.replace(kraft(), quorum=quorum)
    assert machines_of_rack(image, (1, 4)) == (101,)
    here = ("PLAINTEXT://h1:9092",)
    brokers = {broker: msgspec.structs.replace(each, endpoints=here) for broker, each in image.brokers.items()}
    one_machine = msgspec.structs.replace(image, brokers=brokers)
    assert machines_of_rack(one_machine, (1, 4)) == ()


@pytest.mark.parametrize(
    ("add", "remove", "dead", "left", "majority", "is_lost"),
    [
        ((), (), (1,), (2, 3), 2, False),
        ((4,), (), (1,), (2, 3, 4), 3, False),
        ((4,), (), (1, 3), (2, 4), 3, True),
        ((4, 5), (), (1, 3), (2, 4, 5), 3, False),
        ((), (3,), (1,), (2,), 2, True),
        ((), (1, 3), (), (2,), 1, False),
        ((), (2,), (), (1, 3), 2, False),
    ],
)
def test_voters_that_come_and_go(
    add: tuple[int, ...], remove: tuple[int, ...], dead: tuple[int, ...], left: Any, majority: int, is_lost: bool
) -> None:
    drill = run(kraft(), Scenario(kill=dead, add_voters=add, remove_voters=remove))
    assert drill.turnout is not None
    assert (drill.turnout.left, drill.turnout.majority, drill.turnout.is_lost) == (left, majority, is_lost)
    assert drill.turnout.candidates == (() if is_lost else (2,) if 2 in left else left)


def test_voters_that_cannot_come_or_go() -> None:
    for scenario, why in (
        (Scenario(add_voters=(1,)), "1: a voter already"),
        (Scenario(remove_voters=(9,)), "9: no voter; voters: 1, 2, 3"),
        (Scenario(remove_voters=(1, 2, 3)), "nobody would be left to vote"),
    ):
        with pytest.raises(ScenarioError, match=why):
            with_voters_changed(kraft(), scenario)
    with pytest.raises(ScenarioError, match="the voters are not known"):
        with_voters_changed(cluster([1]), Scenario(add_voters=(1,)))
    shown = list(lines(run(kraft(), Scenario(add_voters=(4,), remove_voters=(2, 3)))))
    assert any("what if voter 4 was added, then voters 2, 3 were removed" in line for line in shown)


def test_nodes_are_called_what_they_are() -> None:
    assert nodes_text(apart(), (1, 2)) == "brokers 1, 2"
    assert nodes_text(apart(), (101, 1)) == "broker 1 and controller 101"
    assert nodes_text(kraft(), (1,)) == "broker 1"
