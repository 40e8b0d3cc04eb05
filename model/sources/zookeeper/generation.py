"""Which Kafka generation wrote a payload. Each rule gives the oldest generation that writes such a thing; pure."""

from collections.abc import Mapping
from typing import Final

from model.cluster.kafka_generations import KafkaGeneration
from model.hosts.zookeeper.values import Stat
from model.znodes.brokers import BrokerRegistration
from model.znodes.cluster import FinalizedFeatures, KraftMigration
from model.znodes.controller import ControllerRegistration
from model.znodes.topics import TopicAssignment


def generation_shown_by(payload: object, stat: Stat) -> KafkaGeneration:
    """The oldest generation that could have written this; "unknown" where any could.

    Sources: `BrokerIdZNode`, `TopicZNode`, `ControllerZNode`, `FeatureZNode` (3.9); KIP-380 (registration in 2.2).
    """
    match payload:
        case BrokerRegistration(version=version):
            return _BROKERS.get(version, "0.9-1.x") if stat.version == 0 or version < 4 else "2.x"
        case TopicAssignment(version=version) if version >= 2:
            return "2.x"
        case ControllerRegistration(version=2) | FinalizedFeatures(version=2) | KraftMigration():
            return "3.x"
        case FinalizedFeatures():
            return "2.x"
        case _:
            return "unknown"


_BROKERS: Final[Mapping[int, KafkaGeneration]] = {1: "0.8", 5: "2.x"}
"""Registration version → oldest generation, others 0.9-1.x. Version 4 is also 2.0 and 2.1, which look like 1.1 here."""
