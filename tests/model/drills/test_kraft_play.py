"""Drills of KRaft clusters: what real ones of 3.9.1, 4.1.0 and 4.4.0 became, and when it happens."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from model.cluster.cluster_image import ClusterImage, state_of
from model.cluster.image_parts import KraftMetadata, Quorum, QuorumReplica
from model.drills.drill import run
from model.drills.rows import BrokerFenced, BrokerLeft, StateWritten
from model.drills.scenario import Act, Deed, Scenario, of_acts, of_brokers
from tests.model.drills.test_voters import kraft
from tests.model.kraft_controller.test_real_deaths import cluster_at, happenings

DEEDS = {"kill": Deed.KILL, "stop": Deed.STOP, "start": Deed.START}


def foretold() -> list[Any]:
    """Of brokers that start, those that had been killed: an image does not tell how one that is fenced had ended."""
    return [
        each
        for each in happenings()
        if (what := each.values[1]["event"]) in DEEDS
        and len(each.values[1]["brokers"]) == 1
        and not (what == "start" and set(each.values[1]["brokers"]) & each.values[2])
    ]


def partitions(image: ClusterImage) -> dict[tuple[str, int], Any]:
    found: dict[tuple[str, int], Any] = {}
    for topic in image.topics.values():
        for row, number in enumerate(topic.partitions.tolist()):
            state = state_of(topic, row)
            found[topic.name, number] = (
                state.leader, state.leader_epoch, state.version, set(state.isr), set(state.elr or ()),
                state.last_known_elr or (), state.recovering,
            )  # fmt: skip
    return found


@pytest.mark.parametrize(("release", "event", "stopped"), foretold())
def test_a_drill_leaves_what_the_real_cluster_became(release: str, event: Any, stopped: frozenset[int]) -> None:
    before, _ = cluster_at(release, event["before"])
    after, _ = cluster_at(release, event["after"])
    drill = run(before, of_acts([Act(DEEDS[event["event"]], tuple(event["brokers"]))]))
    assert drill.at_rest
    assert partitions(drill.after) == partitions(after)
    assert drill.after.brokers.keys() == after.brokers.keys()
    assert drill.after.fenced.keys() == after.fenced.keys()


def rows_of(scenario: Scenario, kind: type, image: ClusterImage | None = None) -> list[Any]:
    return [row for row in run(image or kraft(), scenario).timeline.rows if isinstance(row, kind)]


def test_who_fails_is_fenced_when_its_session_is_over_and_another_ten_ms_later() -> None:
    assert [(row.at_ms, row.broker) for row in rows_of(of_brokers([4, 5]), BrokerFenced)] == [(9002, 4), (9012, 5)]


def test_if_the_active_controller_fails_too_all_sessions_begin_anew() -> None:
    assert [row.at_ms for row in rows_of(of_brokers([2]), BrokerFenced)] == [11_002]


def test_so_does_the_session_of_who_died_shortly_before_or_after_it() -> None:
    before = of_acts([Act(Deed.KILL, (5,)), Act(Deed.KILL, (2,), 3_000)])
    after = of_acts([Act(Deed.KILL, (2,)), Act(Deed.KILL, (5,), 1)])
    assert [(row.at_ms, row.broker) for row in rows_of(before, BrokerFenced)] == [(14_002, 5), (14_012, 2)]
    assert [(row.at_ms, row.broker) for row in rows_of(after, BrokerFenced)] == [(11_002, 2), (11_012, 5)]


def test_until_3_9_they_are_over_together_and_end_in_the_order_of_the_deaths() -> None:
    image = msgspec.structs.replace(kraft(), metadata=KraftMetadata({"metadata.version": 21}))
    both = of_acts([Act(Deed.KILL, (5,)), Act(Deed.KILL, (2,), 1)])
    assert [(row.at_ms, row.broker) for row in rows_of(both, BrokerFenced, image)] == [(11_003, 5), (11_003, 2)]


def test_who_stops_hands_over_at_once_and_leaves_when_all_others_know() -> None:
    stop = of_acts([Act(Deed.STOP, (5,))])
    assert {row.at_ms for row in rows_of(stop, StateWritten)} == {2}
    assert [(row.at_ms, row.broker) for row in rows_of(stop, BrokerLeft)] == [(2002, 5)]
    assert not run(kraft(), stop).timeline.outages


def test_without_a_majority_nobody_is_fenced() -> None:
    quorum = Quorum(4, 1, 9, tuple(map(QuorumReplica, (4, 5))))
    image = msgspec.structs.replace(kraft(), quorum=quorum)
    assert not rows_of(of_brokers([4, 5]), BrokerFenced, image)
    assert run(image, of_brokers([4, 5])).hurts


def test_quotas_users_and_cordoned_directories_change_no_election() -> None:
    plain = kraft()
    settings = {
        "clients/<default>": {"consumer_byte_rate": "9"},
        "users/alice": {"SCRAM-SHA-256": "hidden", "controller_mutation_rate": "1"},
        "ips/10.0.0.1": {"connection_creation_rate": "1"},
        "client-metrics/all": {"interval.ms": "1000"},
        "groups/g": {"share.session.timeout.ms": "45000"},
    }
    metadata = KraftMetadata(log_dirs={2: ("a",), 3: ("b",)}, cordoned={2: ("a",)})
    more = msgspec.structs.replace(plain, configs={**plain.configs, **settings}, metadata=metadata)
    for scenario in (of_brokers([1]), of_acts([Act(Deed.STOP, (1,)), Act(Deed.START, (1,))])):
        drill = run(more, scenario)
        assert partitions(drill.after) == partitions(run(plain, scenario).after)
        assert {name: drill.after.configs[name] for name in settings} == settings
        assert drill.after.metadata == metadata


def test_who_is_cordoned_leads_and_comes_back_all_the_same() -> None:
    """New replicas keep away from it; those that it has are as any others."""
    metadata = KraftMetadata(log_dirs={2: ("a",)}, cordoned={2: ("a",)})
    image = msgspec.structs.replace(kraft(), metadata=metadata)
    died = run(image, of_brokers([1]))
    assert partitions(died.after)["t1", 0][0] == 2
    back = run(image, of_acts([Act(Deed.KILL, (2,)), Act(Deed.START, (2,))]))
    assert 2 in partitions(back.after)["t1", 0][3] and 2 in partitions(back.after)["t2", 0][3]
