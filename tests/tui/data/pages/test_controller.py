"""The controller, the states it holds, one broker's registration, and work that is not done, as pages."""

from dataclasses import replace

import msgspec
import pytest

from model.cluster.change import Change
from model.cluster.cluster_image import EMPTY
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import Quorum, QuorumReplica
from model.cluster.records import (
    UNTOLD,
    ControllerElected,
    ControllerLost,
    GenerationRecognised,
    PreferredElectionRequested,
    QuorumDescribed,
    ReassignmentsRequested,
    TopicAssigned,
    TopicDeletionRequested,
    ZnodeUnreadable,
)
from model.metadata_log.journal import LEADER_CHANGE, Logged
from model.sources.feed import Moment
from model.sources.source import FollowingCost
from model.zookeeper import Missing, Stat, Unread, Znode
from tests.tui.data.asked import ENTRIES, text_query
from tests.tui.data.small_cluster import DAY_MS, NOW_MS, WRITTEN_MS, keys_of, moment_of, rows_of, small_image
from tui.engine.cluster.controller import admin_work_window, controller_text, states_text, znodes_behind
from tui.engine.cluster.queries import AdminWorkList, ControllerText, StatesText
from tui.engine.listing import AnswerMemo

MOMENT = moment_of(small_image())


def znode(path: str, data: str, *, version: int = 0, owner: int = 0, czxid: int = 9) -> Znode:
    return Znode(path, data.encode(), Stat(czxid, 0x2A, 0, WRITTEN_MS, version, 0, 0, owner, len(data), 0, 9))


def told(*znodes: Znode | Unread, about: str = "controller", key: str = "", moment: Moment = MOMENT) -> str:
    query = text_query(about, key=key, width=76)
    page = ENTRIES[type(query)].page
    return page(moment, query, NOW_MS, AnswerMemo(), {one.path: one for one in znodes}).plain


def held(moment: Moment) -> list[list[str]]:
    """The table of states, word by word."""
    plain = states_text(moment, StatesText(width=76), NOW_MS, AnswerMemo()).plain
    return [line.split() for line in plain.split("\n")[1:8]]


def test_the_controller_of_a_snapshot():
    assert told().split("\n") == [
        "broker    b4  kfk-04:9092",
        "since     2023-11-14 22:13:20Z (33s)",
        "epoch     118, one more each time",
        "moved     not since kdrill began",
        "states    written 6 in epoch 7",
        "brokers   epochs 101 to 106; b6 registered last",
    ]


def test_what_kdrill_costs_zookeeper():
    cost = FollowingCost(12.5, 3_100, 800, 2, 20_003, 1.4, is_holding_back=True)
    moment = replace(MOMENT, status=msgspec.structs.replace(MOMENT.status, cost=cost))
    assert told(moment=moment).split("\n")[-4:] == [
        "kdrill    asks ZooKeeper 12.5 times a second, 20,003 watches",
        "          3.0 KiB/s in, 800 B/s out",
        "          2 in flight, answered in 1.4 ms",
        "          holding back: ZooKeeper answers slower than usual",
    ]


def test_a_controller_that_the_source_does_not_tell():
    untold = small_image(ControllerLost(), ZnodeUnreadable(path="/controller", reason=UNTOLD))
    assert told(moment=moment_of(untold)) == "broker    not known: the source does not tell it"


def test_what_only_its_znodes_say():
    text = told(
        znode("/controller_epoch", "118", version=117),
        znode("/controller", '{"version":2,"brokerid":4,"timestamp":"1","kraftControllerEpoch":3}', owner=0x1A),
    )
    assert "data version 117, zxid 0x2a" in text
    assert "session   0x1a" in text
    assert "KRaft     a migration is under way, KRaft controller epoch 3" in text


def test_znodes_of_another_moment_are_left_out():
    newer = told(
        znode("/controller_epoch", "119", version=118), znode("/controller", '{"version":1,"brokerid":5}', owner=0x1A)
    )
    assert newer == told(Missing("/controller"), Missing("/controller_epoch")) == told()


def test_an_office_that_is_free_and_a_cluster_that_never_had_a_controller():
    free = told(moment=moment_of(small_image(ControllerLost())))
    assert free.startswith("broker    nobody") and "since  " not in free and "epoch     118" in free
    never = told(moment=moment_of(EMPTY))
    assert "epoch     none: there never was a controller" in never and "states    none is written" in never


def test_moves_are_counted_and_the_last_ones_told():
    moves = [
        Change("controller-moved", "controller", f"move {number}", "warn", WRITTEN_MS + number, number)
        for number in range(7)
    ]
    text = told(moment=moment_of(small_image(), *moves))
    assert "moved     7 times since " in text
    assert [line.split("  ")[-1] for line in text.split("\n") if "move " in line] == [
        f"move {number}" for number in (6, 5, 4, 3, 2)
    ]


def test_who_goes_and_the_next_one_are_one_move():
    gone = Change("controller-lost", "controller", "b4 is no longer the controller", "error", WRITTEN_MS, 1)
    elected = Change("controller-elected", "controller", "b2 elected controller", "info", WRITTEN_MS + 5, 2)
    text = told(moment=moment_of(small_image(), gone, elected))
    assert "moved     1 time since " in text
    assert "b4 is no longer the controller" in text and "b2 elected controller" in text
    assert "moved     nobody has taken over yet" in told(moment=moment_of(small_image(), gone))


def test_states_of_a_later_controller_than_the_epoch_contradict():
    image = small_image()
    office = msgspec.structs.replace(image.controller, epoch=6)
    text = told(moment=moment_of(msgspec.structs.replace(image, controller=office)))
    assert "epoch 7 is ahead of /controller_epoch" in text


def test_a_brokers_registration():
    data = (
        f'{{"version":5,"host":"kfk-04","port":9092,"jmx_port":9999,"timestamp":"{WRITTEN_MS - 4 * DAY_MS}",'
        '"endpoints":["SASL://kfk-04:9093"],"listener_security_protocol_map":{"SASL":"SASL_SSL"},'
        '"features":{"f":{"min_version":1,"max_version":3}}}'
    )
    registered = znode("/brokers/ids/4", data, owner=0x1B, czxid=104)
    text = told(registered, about="controller-broker", key="4")
    for line in (
        "state     controller",
        "replicas  2, of them out of the ISR 0",
        "payload   version 5 (Kafka 2.7 on)",
        "listener  SASL kfk-04:9093, SASL_SSL",
        "JMX       port 9999",
        "features  f 1-3",
        "session   0x1b",
    ):
        assert line in text
    restarted = znode("/brokers/ids/4", data, czxid=105)
    assert told(restarted, about="controller-broker", key="4") == told(about="controller-broker", key="4")
    assert told(about="controller-broker", key="77") == "there is no such broker (any more)"


@pytest.mark.parametrize(
    ("about", "key", "paths"),
    [
        ("controller", "", ("/controller", "/controller_epoch")),
        ("controller-broker", "4", ("/brokers/ids/4",)),
        ("controller-broker", "", ()),
        ("controller-broker", "9" * 5000, ()),
    ],
)
def test_only_the_znodes_that_a_text_needs_are_read(about: str, key: str, paths: tuple[str, ...]):
    assert tuple(znodes_behind(text_query(about, key=key))) == paths


def test_states_as_the_controller_holds_them():
    assert held(MOMENT) == [
        ["Online", "4", "11"],
        ["Offline", "2", "4"],
        ["New", "0", "0"],
        ["NonExistent", "0", "0"],
        ["DeletionStarted", "-", "0"],
        ["DeletionSuccessful", "-", "0"],
        ["DeletionIneligible", "-", "0"],
    ]
    more = (TopicAssigned(topic="gone", replicas={0: (1, 2)}), TopicDeletionRequested(topic="gone"))
    new = TopicAssigned(topic="new", replicas={0: (1, 2)})
    table = held(moment_of(small_image(*more, new)))
    assert [table[2], table[3], table[4]] == [
        ["New", "1", "0"],
        ["NonExistent", "1", "0"],
        ["DeletionStarted", "-", "2"],
    ]


def test_the_quorum_says_where_voters_listen_and_which_directory_has_their_log():
    voters = (QuorumReplica(7, directory_id="d-7", endpoints=("C://c7:1", "D://c7:2")), QuorumReplica(8))
    described = QuorumDescribed(quorum=Quorum(7, 3, voters=voters))
    moment = moment_of(small_image(GenerationRecognised(generation="kraft"), described))
    lines = states_text(moment, StatesText(width=76), NOW_MS, AnswerMemo()).plain.splitlines()
    assert [line for line in lines if line.startswith("voter")] == [
        "voters    7, 8",
        "voter 7   C://c7:1, D://c7:2, directory d-7",
    ]


def test_a_voter_that_is_behind_is_told_with_since_when():
    voters = (
        QuorumReplica(7, caught_up_ms=NOW_MS),
        QuorumReplica(8, caught_up_ms=NOW_MS - DAY_MS),
        QuorumReplica(9, caught_up_ms=-1),
    )
    described = QuorumDescribed(quorum=Quorum(7, 3, 9, voters=voters))
    moment = moment_of(small_image(GenerationRecognised(generation="kraft"), described))
    lines = states_text(moment, StatesText(width=76), NOW_MS, AnswerMemo()).plain.splitlines()
    assert [line for line in lines if line.startswith("voter ")] == [
        "voter 8   behind since 2023-11-13 22:13:53",
        "voter 9   has read nothing",
    ]


def test_since_when_the_leader_leads_its_election_says_where_nothing_else_does():
    elected = ControllerElected(broker=4)
    moment = moment_of(small_image(GenerationRecognised(generation="kraft"), elected))
    terms = [
        Logged(5, 117, WRITTEN_MS - DAY_MS, LEADER_CHANGE, 0, "", {"leaderId": 4, "voters": []}),
        Logged(9, 118, WRITTEN_MS, LEADER_CHANGE, 0, "", {"leaderId": 4, "voters": []}),
    ]

    def since(*of: Logged) -> str:
        text = controller_text(moment, ControllerText(width=76), NOW_MS, AnswerMemo(), {}, of).plain
        return next(line for line in text.splitlines() if line.startswith("since"))

    assert since() == "since     not known"
    assert since(*terms) == "since     2023-11-14 22:13:20Z (33s)"


def test_states_are_counted_once_for_an_image():
    memory, query = AnswerMemo(), StatesText(width=76)
    states_text(MOMENT, query, NOW_MS, memory)
    assert memory.recall("held states", _made_from(MOMENT), lambda: None) is not None
    assert "Worked out from the znodes" in states_text(MOMENT, query, NOW_MS, memory).plain
    free = moment_of(small_image(ControllerLost()))
    assert "There is no controller" in states_text(free, query, NOW_MS, memory).plain


def test_work_that_is_not_done():
    moment = moment_of(
        small_image(
            ReassignmentsRequested(targets={TopicPartition("orders", 3): (4, 5, 6)}),
            PreferredElectionRequested(partitions=(TopicPartition("orders", 10),)),
            TopicDeletionRequested(topic="payments"),
        )
    )
    memory = AnswerMemo()
    shown = admin_work_window(moment, AdminWorkList(), NOW_MS, memory)
    assert rows_of(shown) == [
        "! | reassign | orders-3 | 4,5,6 | broker 5 (down) to be in the ISR",
        "! | reassign | payments-0 | 1,2,6 | the topic is being deleted: cancel the reassignment",
        "  | elect | orders-10 | 1 | the controller to elect it",
        "! | delete | payments | - | broker 5 (down) to come back",
    ]

    def keys(text: str) -> list[str]:
        return keys_of(admin_work_window(moment, AdminWorkList(filter=text), NOW_MS, memory))

    assert keys("state:blocked work:reassign") == ["reassign orders-3", "reassign payments-0"]
    assert keys("topic:orders") == ["reassign orders-3", "elect orders-10"]
    assert keys("elect it") == ["elect orders-10"]


def test_no_work():
    shown = admin_work_window(moment_of(EMPTY), AdminWorkList(), NOW_MS, AnswerMemo())
    assert (shown.total, shown.note) == (0, "No pending controller work")


def _made_from(moment: Moment) -> tuple[object, ...]:
    return moment.image.topics, moment.image.brokers, moment.image.admin, moment.image.generation
