"""How a controller is set up: its broker, the generation of Kafka it behaves as, what the operator configured.

It reads no file; hosts make one of what they have. Defaults are Kafka 3.9's (`kafka.server.KafkaConfig`).
"""

from typing import Any

import msgspec

from model.controller.forms import Forms
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
    token_auth_enabled: bool = False
    """Whether there are delegation tokens: a delegation.token.secret.key (1.1)."""
    delegation_token_expiry_check_interval_ms: int = 3_600_000
    finalizes_features: bool = True
    """False while inter.broker.protocol.version is below 2.7."""
    seed: bytes = b""
    """Dice for ids of topics: 16 random bytes of the host's. The same seed gives the same ids at the same time."""

    @property
    def forms(self) -> Forms:
        """How ZooKeeper is used."""
        return self.generation.forms


def default_settings(broker_id: int, generation: Generation = LATEST, **others: Any) -> Settings:
    """A broker whose configuration says nothing but `others`: the defaults are those of its generation."""
    rebalance = generation.rebalance
    defaults = Settings(
        broker_id=broker_id,
        generation=generation,
        unclean_leader_election_enable=generation.unclean_by_default,
        delete_topic_enable=bool(generation.deletes_by_default),
        auto_leader_rebalance_enable=rebalance is not None and rebalance.on_by_default,
    )
    return msgspec.structs.replace(defaults, **others)
