"""What a controller knows before it is told anything, and Kafka's defaults of its settings."""

from __future__ import annotations

from model.controller.context import NO_BROKER_EPOCH, NO_CONTROLLER, Activity, ControllerContext
from model.controller.events_and_commands import BrokerStarted, ElectionRequested, Event, ProposedIsr
from model.controller.generations import ControllerSettings
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.placement import PlacementRequest
from model.controller.topic_validation import PartitionAddition, TopicCreation
from tests.model.cluster.test_defaults import numbers_of


def test_a_new_context_knows_no_broker_no_controller_and_no_epoch() -> None:
    assert (NO_CONTROLLER, NO_BROKER_EPOCH) == (-1, -1)
    assert numbers_of(ControllerContext) == {
        "broker_epoch": -1, "active_id": -1, "epoch": 0, "epoch_version": 0, "now_ms": 0,
    }  # fmt: skip
    assert ControllerContext(ControllerSettings(broker_id=1)).activity is Activity.INACTIVE


def test_settings_have_kafkas_defaults() -> None:
    """`KafkaConfig` (3.9)."""
    assert numbers_of(ControllerSettings) == {
        "unclean_leader_election_enable": False,
        "delete_topic_enable": True,
        "auto_leader_rebalance_enable": True,
        "leader_imbalance_check_interval_ms": 300_000,
        "leader_imbalance_per_broker_percentage": 10,
        "token_auth_enabled": False,
        "delegation_token_expiry_check_interval_ms": 3_600_000,
        "finalizes_features": True,
    }


def test_an_event_is_at_no_known_time_unless_it_says_so() -> None:
    assert {kind: numbers_of(kind)["at_ms"] for kind in Event.__subclasses__()} == dict.fromkeys(
        Event.__subclasses__(), 0
    )
    assert numbers_of(BrokerStarted) == {"session": 0, "at_ms": 0}
    assert numbers_of(ElectionRequested) == {"unclean": False, "at_ms": 0}


def test_states_and_requests_ask_for_nothing_unusual() -> None:
    assert numbers_of(LeaderAndIsr) == {"recovering": False, "partition_epoch": 0}
    assert numbers_of(ProposedIsr) == {"recovering": False}
    assert numbers_of(PlacementRequest) == {"start": 0, "shift": 0, "first_partition": 0}
    assert numbers_of(TopicCreation) == {"longest_name": 249, "forbids_collisions": True}
    assert numbers_of(PartitionAddition) == {"by_broker_id": False}
