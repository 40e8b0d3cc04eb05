"""The decisions of Kafka's controller, as pure functions of immutable values.

Nothing here does what it decides: no ZooKeeper, no request, no clock, no dice. Sources are Kafka's classes under
`kafka.controller` and `org.apache.kafka.admin`, 0.8.0 to 3.9; what differs between releases is in `generations`.

Why something is not done is a value, by Kafka's own name for it, never an exception.
"""

from typing import Literal

import msgspec

KafkaError = Literal[
    "BROKER_NOT_AVAILABLE",
    "ELECTION_NOT_NEEDED",
    "ELIGIBLE_LEADERS_NOT_AVAILABLE",
    "INVALID_CONFIG",
    "INVALID_PARTITIONS",
    "INVALID_REPLICATION_FACTOR",
    "INVALID_REPLICA_ASSIGNMENT",
    "INVALID_REQUEST",
    "INVALID_TOPIC_EXCEPTION",
    "NO_REASSIGNMENT_IN_PROGRESS",
    "PREFERRED_LEADER_NOT_AVAILABLE",
    "REASSIGNMENT_IN_PROGRESS",
    "TOPIC_ALREADY_EXISTS",
    "UNKNOWN_SERVER_ERROR",
    "UNKNOWN_TOPIC_OR_PARTITION",
    # Kafka has no code for these on the wire (a client sees UNKNOWN_SERVER_ERROR), only an exception class.
    "AdminOperationException",
    "LeaderElectionNotNeededException",
    "NoReplicaOnlineException",
    "StateChangeFailedException",
    "TopicAlreadyMarkedForDeletionException",
]
"""Names of `org.apache.kafka.common.protocol.Errors` where there is one, else of the exception class."""


class Refusal(msgspec.Struct, frozen=True, gc=False):
    """Nothing is changed: Kafka's name for the reason, and the sentence for whoever asked.

    The sentence may quote topic names and other text that came from outside.
    """

    error: KafkaError
    message: str
