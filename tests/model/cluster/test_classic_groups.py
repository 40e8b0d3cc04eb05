"""Groups that brokers coordinate, as their records make them."""

from __future__ import annotations

import msgspec
import pytest

from model.cluster.image_parts import Rebalance
from model.cluster.records import GroupDescribed
from model.cluster.snapshot_format import RebalanceDocument
from tests.model.cluster.build import image


@pytest.mark.parametrize(
    ("state", "told", "known"),
    [("PreparingRebalance", None, 4), ("CompletingRebalance", None, 4), ("Stable", None, None), ("Stable", 5, 5)],
)
def test_a_generation_stands_while_the_group_rebalances_and_no_longer(
    state: str, told: int | None, known: int | None
) -> None:
    before = image(GroupDescribed(group="g", state="Stable", generation=4))
    after = image(GroupDescribed(group="g", state=state, generation=told), base=before)
    assert after.classic_groups["g"].generation == known


def test_a_snapshot_of_before_generations_were_counted_tells_of_one_each() -> None:
    document = msgspec.json.decode(b'{"at_ms": 1, "generation": 4}', type=RebalanceDocument)
    assert document.generations == Rebalance(1).generations == 1
