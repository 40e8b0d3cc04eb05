"""What each kind of finding means for a broker, and what to do: a sentence or two each. Kafka's behaviour is 3.9's."""

from collections.abc import Mapping

from model.log.records import DamageKind
from spark_tasks.scans import findings

_AGAIN = (
    "Where another replica is in sync: stop the broker, move this partition folder away, start it: it is copied anew."
)
_CUT = (
    "A write was cut short. Behind the recovery point a start after a crash cuts the log there; a follower fetches "
    "what it lacks from the leader."
)
_UNTRUSTED = (
    f"Consumers and followers stop at it with an error; a start does not notice it below the recovery point. {_AGAIN}"
)
_WRITTEN_SO = (
    "The CRC holds, so this is how it was written, by the producer or the leader: other replicas have it as well. "
    "Consumers stop at it: have them seek past it."
)
_INDEX = (
    "Reads by offset or time can go wrong, and a start does not notice. Stop the broker and delete the file: "
    "the start makes it anew from the log."
)

MEANINGS: Mapping[str, str] = {
    DamageKind.TORN: _CUT,
    DamageKind.TRUNCATED: _CUT,
    DamageKind.ZEROS: f"Inside a closed segment, so bytes that were never synced are lost. {_AGAIN}",
    DamageKind.BAD_LENGTH: _UNTRUSTED,
    DamageKind.UNKNOWN_MAGIC: _UNTRUSTED,
    DamageKind.BAD_CRC: _UNTRUSTED,
    DamageKind.UNKNOWN_CODEC: _UNTRUSTED,
    DamageKind.BAD_STREAM: _WRITTEN_SO,
    DamageKind.BAD_RECORDS: _WRITTEN_SO,
    findings.OFFSETS_BACK: f"Offsets must rise: reads between them go wrong. {_AGAIN}",
    findings.BAD_INDEX: _INDEX,
    findings.BAD_TIME_INDEX: _INDEX,
    findings.BAD_TRANSACTION_INDEX: "Consumers of committed records may see aborted ones. Delete the file as an index.",
    findings.BAD_SNAPSHOT: "A start removes it and reads the producers from the log instead: a slower start.",
    findings.BAD_CHECKPOINT: (
        "A start may refuse the whole log folder for it. Stop the broker and delete the file: the start recovers more, "
        "and knows what the log tells."
    ),
    DamageKind.TOO_LARGE: "Its records were not looked at.",
    findings.ZERO_TAIL: (
        "Room of a preallocated file (log.preallocate) while the broker runs; after a crash, bytes that were never "
        "synced: a start cuts them."
    ),
    findings.UNREADABLE: "Left out of all sums. Ask as the user that the broker runs as, and look at the disk.",
    findings.BELOW_HIGH_WATERMARK: (
        "Acknowledged records are not on this disk any more. Do not let it lead (unclean election) while another "
        "replica has them."
    ),
    findings.GAP: (
        "In a log that is not compacted each offset follows the one before. A segment was deleted by hand, or lost."
    ),
    findings.EPOCHS_BACK: "A leader wrote with an epoch that was over: replicas may differ from here on.",
    findings.FUTURE: (
        "Retention by time keeps a segment until its newest timestamp has aged, and all segments after it. A "
        "producer's clock is wrong, or its unit is not ms."
    ),
    findings.MISSING_INDEX: "The next start makes it anew; a long start where many are missing.",
    findings.MISSING_TIME_INDEX: "The next start makes it anew; a long start where many are missing.",
    findings.ORPHANED_INDEX: "Its .log is not there: deleted by hand, or lost. A start removes the index.",
    findings.STRAY: "The broker set it aside at a start (3.4+), for the cluster has it elsewhere. It can be deleted.",
    findings.OTHER_TOPIC_ID: "Left from before the topic was deleted and created anew: the broker will not serve it.",
}
"""Kinds of damage and warnings; notes speak for themselves."""
