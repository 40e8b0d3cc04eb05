"""Previews say what the assignors say: from arrays the same comes as from names, whatever happens to the group."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.analyses.previews.changed_group import GroupChange
from model.analyses.previews.group_arrays import stage
from model.analyses.previews.lab import Lab
from model.analyses.previews.result import CLASSIC_STRATEGIES, ZOOKEEPER_STRATEGIES
from model.cluster.cluster_image import ClusterImage
from model.cluster.image_parts import CLASSIC, ZOOKEEPER
from model.consumers.assignors.assignment import AssignedCase, balance, explain
from model.consumers.assignors.group import AssignorError
from tests.spark.previews.groups import assigned, clusters

STRATEGIES = {CLASSIC: CLASSIC_STRATEGIES, ZOOKEEPER: (*ZOOKEEPER_STRATEGIES, "ceil", *CLASSIC_STRATEGIES)}

patient = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def answer(ask: Callable[[], AssignedCase]) -> Any:
    """All that an assignor says, with names; or why it says nothing."""
    try:
        outcome = ask()
    except AssignorError as error:
        return str(error)
    lists = {name: owned for name, owned in outcome.lists().items() if owned}
    if all(strategy not in outcome.strategy.name for strategy in ("range", "ceil")):  # those tell of places in a list
        return lists, balance(outcome), [row for row in explain(outcome) if row.member is not None]
    return lists, balance(outcome)


@patient
@given(clusters(most_groups=1), st.data())
def test_a_group_gets_what_its_assignor_gives_it(image: ClusterImage, data: st.DataObject) -> None:
    for place, (_, group) in enumerate(sorted(image.every_group())):
        lab = Lab(stage(image), place)
        change = GroupChange(
            data.draw(st.integers(-1, len(group.members) - 1)), data.draw(st.sampled_from([0, 0, 1, 3]))
        )
        for strategy in STRATEGIES[group.kind]:
            ours = answer(partial(lab.outcome, strategy, change))
            assert ours == answer(partial(assigned, image, group, strategy, change)), strategy
