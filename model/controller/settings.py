"""How a controller is set up: its broker, the generation of Kafka it behaves as, what the operator configured.

It reads no file; hosts make one of what they have. Defaults are Kafka 3.9's (`kafka.server.KafkaConfig`).
"""

import msgspec

from model.controller.generations import LATEST, Generation
from model.controller.leader_imbalance import DEFAULT_PERCENTAGE


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """`generation` decides the rules; the rest are broker settings by the names of their keys in server.properties."""

    broker_id: int
    generation: Generation = LATEST
    unclean_leader_election_enable: bool = False
    delete_topic_enable: bool = True
    auto_leader_rebalance_enable: bool = True
    leader_imbalance_check_interval_ms: int = 300_000
    leader_imbalance_per_broker_percentage: int = DEFAULT_PERCENTAGE
