"""What the worst broker's death does before and after an action, said with its proposal."""

from __future__ import annotations

from model.actions.configs import ConfigRequest, alter_configs
from model.actions.partitions import grow_topic
from model.actions.proposal import Basis, Proposal
from model.actions.topics import NewTopic, create_topic
from tests.model.planning.clusters import cluster
from tui.engine.proposing import with_drill

BASIS = Basis(cluster({"orders": [(1, 2, 3)], "audit": [(1,)]}, {1: "a", 2: "b", 3: "c"}))
"""Asked through brokers; the death of broker 1 takes `audit` with it."""


def said(proposal: Proposal) -> str:
    return with_drill(BASIS.image, proposal).changes[0]


def test_a_topic_without_a_second_replica_dies_with_its_broker() -> None:
    lonely = NewTopic(name="clicks", assignment={0: (1,), 1: (1,), 2: (2,)})
    safe = NewTopic(name="clicks", assignment={0: (1, 2), 1: (2, 3)})
    strict = NewTopic(name="clicks", assignment={0: (1, 2), 1: (2, 3)}, configs={"min.insync.replicas": "2"})
    assert said(create_topic(BASIS, lonely, int)) == "drill: losing the worst broker hurts 1 partition → 3"
    assert said(create_topic(BASIS, safe, int)) == "drill: losing the worst broker hurts 1 partition → 1"
    assert said(create_topic(BASIS, strict, int)) == "drill: losing the worst broker hurts 1 partition → 2"


def test_so_do_further_partitions() -> None:
    grown = grow_topic(BASIS, "audit", 3, [(1,), (1,)])
    assert said(grown) == "drill: losing the worst broker hurts 1 partition → 3"


def test_settings_that_say_what_a_death_does_are_drilled_and_others_are_not() -> None:
    strict = alter_configs(BASIS, ConfigRequest("topics/orders", {"min.insync.replicas": "3"}))
    kept = alter_configs(BASIS, ConfigRequest("topics/orders", {"retention.ms": "1"}))
    assert said(strict) == "drill: losing the worst broker hurts 1 partition → 2"
    assert with_drill(BASIS.image, kept) is kept
