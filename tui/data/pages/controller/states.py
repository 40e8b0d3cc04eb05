"""The controller's two state machines: how many partitions and replicas are in which state, as it holds them."""

from model.controller.partition_states import PartitionState
from model.controller.replica_states import ReplicaState
from model.drills.staging.held_states import HeldStates, held_states
from model.sources.feed import Moment
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.listing import Memory
from tui.data.pages.partitions import table_of
from tui.data.pages.sheets import Sheet
from tui.rows import Span, span

ROWS: tuple[tuple[str, PartitionState | None, ReplicaState, str], ...] = (
    ("Online", PartitionState.ONLINE, ReplicaState.ONLINE, ""),
    ("Offline", PartitionState.OFFLINE, ReplicaState.OFFLINE, "error"),
    ("New", PartitionState.NEW, ReplicaState.NEW, "warn"),
    ("NonExistent", PartitionState.NON_EXISTENT, ReplicaState.NON_EXISTENT, "removed"),
    ("DeletionStarted", None, ReplicaState.DELETION_STARTED, "removed"),
    ("DeletionSuccessful", None, ReplicaState.DELETION_SUCCESSFUL, "removed"),
    ("DeletionIneligible", None, ReplicaState.DELETION_INELIGIBLE, "warn"),
)
"""Kafka's names without `Partition` and `Replica`, the states they stand for, and the style of what is not zero."""


def states_text(moment: Moment, query: TextQuery, memory: Memory) -> TextAnswer:
    """A table of both machines, and which partitions and replicas are meant by them."""
    image = moment.image
    if image.generation == "kraft":
        return _quorum_text(moment, query)

    def count() -> HeldStates:
        return held_states(image, table_of(moment, memory).columns)

    held = memory.recall("held states", (image.topics, image.brokers, image.admin, image.generation), count)
    sheet = Sheet("States", query.width)
    sheet.draw(span(f"{'':18} {'partitions':>10} {'replicas':>9}", "heading"))
    for name, of_partitions, of_replicas, style in ROWS:
        known = (
            span(f"{'-':>10}", "dim") if of_partitions is None else _number(held.partitions[of_partitions], 10, style)
        )
        sheet.draw(span(f"{name:18} ", "dim"), known, " ", _number(held.replicas[of_replicas], 9, style))
    sheet.gap()
    if image.controller.broker is None:
        sheet.say("Nobody is in office: the next controller would find them so, before it elects leaders.", "warn")
    else:
        sheet.say("As the controller holds them in memory, worked out from the znodes: no znode has them.", "dim")
    sheet.say("Offline: the leader is dead, or there is none. New: assigned, and there is no state znode yet.", "dim")
    sheet.say("Deletion: started, unless a dead broker or a reassignment keeps it waiting.", "dim")
    sheet.say("What one that waits has deleted already is in no znode, and counted as if it were not.", "dim")
    return sheet.answer()


def _quorum_text(moment: Moment, query: TextQuery) -> TextAnswer:
    """KRaft's controller holds no such states: its voters and observers instead, as a broker told them last."""
    sheet, quorum = Sheet("Quorum", query.width), moment.image.quorum
    if quorum is None:
        return sheet.say("no broker told how the quorum of controllers stands", "dim").answer()
    sheet.fact("voters", ", ".join(str(each.id) for each in quorum.voters) or "none")
    sheet.fact("observers", ", ".join(str(each.id) for each in quorum.observers) or "none")
    sheet.gap()
    sheet.say("Voters elect the active controller and confirm its metadata. Brokers observe.", "dim")
    return sheet.say("A controller of KRaft has no state machines for partitions and replicas.", "dim").answer()


def _number(count: int, width: int, style: str) -> Span:
    return span(f"{count:>{width},}", (style or "ok") if count else "dim")
