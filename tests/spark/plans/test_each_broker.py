"""Each broker removed in turn: every row is the plan of that broker, whoever computes it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.analyses import AnalysisError, analysis
from model.analyses.image_arrays import racks_of
from model.analyses.plans import PLANS, EachBrokerParameters, EachBrokerResult, figures_of, plan_arrays
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.planning.layout import Sizes
from model.planning.plan import applied
from model.planning.planner import plan
from model.planning.request import PlanError, PlanRequest, Reach
from tests.model.planning.clusters import cluster, clusters, sizes_for

TOPICS = {"orders": [[1, 2], [2, 3], [3, 1], [4, 2], [1, 4]], "payments": [[1, 2, 3], [8, 2]]}
RACKS = {1: "a", 2: "b", 3: "c", 4: "a"}
SIZES = Sizes({TopicPartition(name, n): 10 + n for name, lists in TOPICS.items() for n in range(len(lists))}, "a file")


def asked(image: ClusterImage, **more: Any) -> EachBrokerParameters:
    return EachBrokerParameters(racks=racks_of(image), **more)


@settings(max_examples=15)
@given(st.data())
def test_a_row_is_the_plan_without_that_broker(data: st.DataObject) -> None:
    topics, racks = data.draw(clusters(5, dead=True))
    sizes = data.draw(st.none() | sizes_for(topics))
    reach: Reach = data.draw(st.sampled_from(["balance", "forced"]))
    image = cluster(topics, racks)
    result = analysis.run_here(PLANS, plan_arrays(image, sizes), asked(image, reach=reach))
    rows = {row.broker: row for row in result.brokers}
    reasons = {one.broker for one in result.impossible}
    assert rows.keys() | reasons == racks.keys()
    assert not rows.keys() & reasons
    assert result.now == figures_of(image)
    for broker in racks:
        try:
            made = plan(image, PlanRequest(remove=(broker,), reach=reach), sizes)
        except PlanError:
            assert broker in reasons
            continue
        row, after = rows[broker], made.after
        assert made.bound is not None
        assert (row.moves, row.moves_bound, row.bytes) == (made.cost.moves, made.bound.moves, made.cost.bytes)
        assert (row.leader_changes, row.replicas_spread) == (made.cost.leader_changes, after.replicas.spread)
        assert (row.leaders_spread, row.rack_violations) == (after.leaders.spread, after.rack_violations)
        assert row.drills == figures_of(applied(image, made))


@pytest.mark.parametrize("sizes", [None, SIZES])
def test_spark_gives_the_same(spark: Any, sizes: Sizes | None) -> None:
    image = cluster(TOPICS, RACKS)
    arrays, parameters = plan_arrays(image, sizes), asked(image, reach="forced")
    result: EachBrokerResult = spark.run(PLANS, arrays, parameters)
    assert result == analysis.run_here(PLANS, arrays, parameters)
    assert [row.broker for row in result.brokers] == [1, 2, 3, 4]
    assert {row.broker: row.moves for row in result.brokers}[1] == 4


def test_how_the_work_is_cut_does_not_matter() -> None:
    image = cluster(TOPICS, RACKS)
    arrays, parameters = plan_arrays(image, SIZES), asked(image)
    assert analysis.run_here(PLANS, arrays, parameters, ended=lambda: False) == analysis.run_here(
        PLANS, arrays, parameters
    )


def test_brokers_may_be_named() -> None:
    image = cluster(TOPICS, RACKS)
    result = analysis.run_here(PLANS, plan_arrays(image, None), asked(image, brokers=(3,)))
    assert [row.broker for row in result.brokers] == [3]
    assert result.brokers[0].bytes is None
    with pytest.raises(AnalysisError, match="broker 8 is not alive here"):
        analysis.run_here(PLANS, plan_arrays(image, None), asked(image, brokers=(8,)))


def test_a_broker_that_cannot_be_done_without_says_why() -> None:
    image = cluster({"t": [[1, 2]]}, {1: None, 2: None})
    result = analysis.run_here(PLANS, plan_arrays(image, None), asked(image))
    assert [one.broker for one in result.impossible] == [1, 2]
    assert "needs 2 replicas and 1 broker would stay" in result.impossible[0].reason
