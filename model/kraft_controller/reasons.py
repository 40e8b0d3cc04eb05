"""Why a KRaft controller wrote what it wrote of partitions, in a sentence for each rule (`PartitionChangeBuilder`)."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from model.cluster.texts import counted
from model.kraft_controller.partition_change import NO_LEADER
from model.kraft_controller.records import MetadataRecord, PartitionChanged

IN_SYNC: Final = "the first replica, in the order of the assignment, that is active and in the ISR leads"
ELIGIBLE: Final = "the ISR is empty, so an eligible leader replica (KIP-966) leads, and nothing acknowledged is lost"
LAST_KNOWN: Final = "neither ISR nor ELR is left, so the last leader leads again; it may lack records after its crash"
UNCLEAN: Final = "nobody in sync is active, so another replica leads, as unclean.leader.election.enable allows"
NOBODY: Final = "nobody who may lead is active: without a leader until one of them is back"
SHRUNK: Final = "the leader stays, the ISR shrinks"
GROWN: Final = "the leader asked for its follower to be in the ISR again"
REASSIGNED: Final = "all that was asked for is in sync, so the reassignment is complete"
KEPT: Final = "who leads and who is in sync stays"


def reasons_of(records: Iterable[MetadataRecord]) -> tuple[str, ...]:
    """`12 partitions: …`, the most frequent rule first."""
    rules = Counter(_rule(each) for each in records if isinstance(each, PartitionChanged))
    return tuple(f"{counted(count, 'partition')}: {rule}." for rule, count in rules.most_common())


def _rule(changed: PartitionChanged) -> str:
    before, change = changed.before, changed.change
    if changed.unclean:
        return LAST_KNOWN if changed.last_known else UNCLEAN
    if change.removing == () or change.adding == ():
        return REASSIGNED
    if change.leader == NO_LEADER:
        return NOBODY
    if change.leader is not None and change.leader != before.leader:
        return IN_SYNC if change.leader in before.isr else ELIGIBLE
    isr = before.isr if change.isr is None else change.isr
    if set(before.isr) - set(isr):
        return SHRUNK
    return GROWN if set(isr) - set(before.isr) else KEPT
