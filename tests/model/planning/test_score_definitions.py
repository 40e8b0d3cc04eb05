"""Balance and cost as columns count them are what the plain definition counts."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from model.cluster.topic_image import padded
from model.planning.layout import balance_of, cost_of, layout_of, rack_rule
from model.planning.optimum.measures import BrokerBounds, Judged
from model.planning.plan import compared
from tests.model.planning.clusters import Racks, Replicas, cluster, clusters, replicas_of, sizes_for
from tests.model.planning.plain_score import plain_score


@settings(max_examples=40)
@given(st.data())
def test_columns_count_as_the_plain_definition_does(data: st.DataObject) -> None:
    topics, racks = data.draw(clusters())
    sizes = data.draw(sizes_for(topics))
    image = cluster(topics, racks)
    before = replicas_of(image)
    some = st.lists(st.sampled_from(sorted(racks)), min_size=1, max_size=3, unique=True).map(tuple)
    after = {name: data.draw(st.just(old) | some) for name, old in before.items()}
    staying = sorted(data.draw(st.sets(st.sampled_from(sorted(racks)), min_size=1)))

    layout = layout_of(image, sizes)
    replicas = padded([after[name] for name in layout.names()])
    cost = cost_of(layout.replicas, replicas, layout.size)
    balance = balance_of(layout.with_replicas(replicas), staying, racks, racks)
    assert {
        "moves": cost.moves,
        "bytes": cost.bytes,
        "touched": cost.touched,
        "reorders": cost.reorders,
        "leader_changes": cost.leader_changes,
        "elsewhere": balance.elsewhere,
        "rack_violations": balance.rack_violations,
        "replicas_min": balance.replicas.least,
        "replicas_max": balance.replicas.most,
        "leaders_min": balance.leaders.least,
        "leaders_max": balance.leaders.most,
        "disk_spread_percent": round(balance.disk_spread_percent or 0, 6),
        "topic_spread": round(balance.topic_spread, 6),
    } == plain_score(before, after, sizes.bytes, racks, staying)


def test_without_sizes_there_are_no_bytes() -> None:
    image = cluster({"a": [[1, 2]]}, {1: None, 2: None})
    layout = layout_of(image)
    balance = balance_of(layout, [1, 2], layout.racks, layout.racks)
    assert cost_of(layout.replicas, layout.replicas[:, ::-1], None).bytes is None
    assert balance.disk_spread_percent is None
    assert [share.bytes for share in balance.brokers] == [None, None]


def test_a_broker_without_a_rack_is_one_of_its_own_where_the_others_suffice() -> None:
    def violations(topics: Replicas, racks: Racks) -> int | None:
        layout = layout_of(cluster(topics, racks))
        widest = layout.replicas.shape[1]
        return balance_of(layout, list(racks), racks, rack_rule(list(racks), racks, widest)).rack_violations

    assert violations({"a": [[1, 2]]}, {1: "r1", 2: "r1", 3: None}) is None
    assert violations({"a": [[1, 2], [1, 3], [1, 4]]}, {1: "r1", 2: "r1", 3: None, 4: "r2"}) == 1
    assert violations({"a": [[1, 2], [1, 3, 4]]}, {1: "r1", 2: "r1", 3: None, 4: "r2"}) is None
    assert violations({"a": [[1, 2]]}, {1: "r1", 2: "r1"}) == 0


def test_a_band_holds_what_is_neither_below_nor_above_it() -> None:
    band = BrokerBounds(np.array([1.0, 1.0]), np.array([2.0, 2.0]))
    assert band.holds(np.array([1.0, 2.0]))
    assert not band.holds(np.array([0.0, 2.0]))
    assert not band.holds(np.array([1.0, 3.0]))


def test_broken_rules_are_counted_in_words() -> None:
    best = Judged({}, {"moves": 3})
    told = compared(Judged({"racks": 1, "leaving": 2, "full": 1}, {"moves": 0}), best, is_proven=True)
    assert told.comparable == ()
    assert told.verdict == (
        "no plan for this wish: 1 partition is on fewer racks than it could be; "
        "2 partitions are on brokers that leave or are dead; 1 broker gets more than it can hold"
    )
