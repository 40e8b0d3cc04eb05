"""What each part of a broker is set to. The log's part is text: `topic_settings.topic_defaults`."""

from model.broker.life.life import ShutdownSettings
from model.broker.partition.conditions import ReplicationSettings
from model.broker.replication_rules import replication_rules_of
from model.broker.settings import broker_keys, replication_keys
from model.broker.settings.settings import Settings
from model.controller.generations import generation_of
from model.controller.settings import Settings as ControllerSettings


def replication_settings(settings: Settings) -> ReplicationSettings:
    """For the rules of replication, of a broker or of one topic. Raises ValueError for what is no release of Kafka.

    inter.broker.protocol.version names the release whose rules hold.
    """
    return ReplicationSettings(
        rules=replication_rules_of(settings[broker_keys.INTER_BROKER_PROTOCOL_VERSION]),
        replica_lag_time_max_ms=settings[replication_keys.REPLICA_LAG_TIME_MAX_MS],
        replica_lag_max_messages=settings[replication_keys.REPLICA_LAG_MAX_MESSAGES],
        min_insync_replicas=settings[replication_keys.MIN_INSYNC_REPLICAS],
    )


def shutdown_settings(settings: Settings) -> ShutdownSettings:
    """For the end of the broker's life."""
    return ShutdownSettings(
        controlled_shutdown_enable=settings[broker_keys.CONTROLLED_SHUTDOWN_ENABLE],
        controlled_shutdown_max_retries=settings[broker_keys.CONTROLLED_SHUTDOWN_MAX_RETRIES],
        controlled_shutdown_retry_backoff_ms=settings[broker_keys.CONTROLLED_SHUTDOWN_RETRY_BACKOFF_MS],
    )


def controller_settings(settings: Settings, broker_id: int) -> ControllerSettings:
    """For the controller in this broker, which has its id by now. Raises ValueError as `replication_settings`."""
    return ControllerSettings(
        broker_id=broker_id,
        generation=generation_of(settings[broker_keys.INTER_BROKER_PROTOCOL_VERSION]),
        unclean_leader_election_enable=settings[replication_keys.UNCLEAN_LEADER_ELECTION_ENABLE],
        delete_topic_enable=settings[broker_keys.DELETE_TOPIC_ENABLE],
        auto_leader_rebalance_enable=settings[broker_keys.AUTO_LEADER_REBALANCE_ENABLE],
        leader_imbalance_check_interval_ms=1_000 * settings[broker_keys.LEADER_IMBALANCE_CHECK_INTERVAL_SECONDS],
        leader_imbalance_per_broker_percentage=settings[broker_keys.LEADER_IMBALANCE_PER_BROKER_PERCENTAGE],
    )
