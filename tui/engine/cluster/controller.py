"""The brokers' screen: who controls the cluster, what the controller holds in memory, and what it has still to do.

Since when it controls, under which epochs, and how often that changed; how many partitions and replicas are in which
state of its two state machines; reassignments, preferred elections and topic deletions that it was asked for and has
not done. One broker's facts with what only its znode says. Some texts need znodes beside the moment: `znodes_behind`.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from model.cluster.cluster_image import BrokerImage, ClusterImage, ControllerImage
from model.cluster.findings.pending_work import PendingWork, pending_work
from model.cluster.image_parts import QuorumReplica
from model.cluster.texts import counted, replicas
from model.controller.state_machines import PartitionState, ReplicaState
from model.drills.setup import StateCounts, held_states
from model.metadata_log.journal import LEADER_CHANGE, Logged
from model.sources.feed import Moment
from model.sources.source import FollowingCost
from model.znodes.cluster import BrokerRegistration, ControllerEpoch, ControllerRegistration
from model.znodes.codec import decode
from model.znodes.paths import broker_path
from model.zookeeper import Unread, Znode
from tui.engine.cluster.brokers import BrokerTable, broker_sheet, brokers_of, host_of, tells_epochs
from tui.engine.cluster.queries import NO_WORK, AdminWorkList, ControllerText, RegistrationText, StatesText
from tui.engine.cluster.record_pages import tell_terms
from tui.engine.filters import Coded, ListField, Texts, whole_numbers
from tui.engine.listing import AnswerMemo, Listing, place_in, window
from tui.engine.logs.segments import size_text
from tui.engine.messages import TextAnswer
from tui.engine.partitions.rows import table_of
from tui.engine.rows import Column, Row, Span, Window, line, span
from tui.engine.sheets import Sheet, age_text, clock_text, date_text, stamp_text

CONTROLLER, EPOCH = "/controller", "/controller_epoch"
MOVES = frozenset({"controller-moved", "controller-elected", "controller-lost"})
"""Kinds of changes that another controller, or none, shows itself by."""

MOST_MOVES = 5
MOST_EPOCHS = 4

Znodes = Mapping[str, Znode | Unread]
"""What was just read of ZooKeeper, by path; nothing where there is no connection, or only a snapshot."""


def controller_text(
    moment: Moment,
    query: ControllerText,
    now_ms: int,
    memory: AnswerMemo,
    znodes: Znodes,
    terms: Sequence[Logged] = (),
) -> TextAnswer:
    """The controller. Of znodes that tell of another one than the moment, nothing is said.

    `terms`: elections of a quorum; one that was before the first picture is known by them alone.
    """
    brokers, controller = brokers_of(moment, memory), moment.image.controller
    sheet = Sheet("Controller", query.width)
    if CONTROLLER in moment.image.unreadable:
        sheet.fact("broker", f"not known: {moment.image.unreadable[CONTROLLER]}")
        return sheet.answer()
    is_kraft = moment.image.generation == "kraft"
    _who(sheet, brokers, controller, is_kraft=is_kraft)
    if controller.broker is not None:
        elected_ms = (each.time_ms for each in terms if _is_election_of(controller, each))
        since_ms = controller.since_ms if controller.since_ms > 0 else next(elected_ms, 0)
        since = f"{date_text(since_ms)} ({age_text(since_ms, now_ms)})"
        sheet.fact("since", since if since_ms > 0 else "not known")
    _epoch(sheet, controller, znodes.get(EPOCH), is_kraft=is_kraft)
    _session(sheet, controller, znodes.get(CONTROLLER))
    _moves(sheet, moment)
    if tells_epochs(moment.image):
        _written(sheet, brokers, controller)
    _broker_epochs(sheet, moment.image)
    _cost(sheet, moment.status.cost)
    return sheet.answer()


def _cost(sheet: Sheet, cost: FollowingCost | None) -> None:
    """What kdrill itself asks of ZooKeeper."""
    if cost is None:
        return
    watches = counted(cost.watches, "watch", "watches")
    sheet.fact("kdrill", f"asks ZooKeeper {cost.requests_per_s:,.1f} times a second, {watches}")
    sheet.fact("", f"{size_text(cost.received_bytes_per_s)}/s in, {size_text(cost.sent_bytes_per_s)}/s out")
    sheet.fact("", f"{cost.in_flight} in flight, answered in {cost.latency_ms:g} ms")
    if cost.is_holding_back:
        sheet.fact("", "holding back: ZooKeeper answers slower than usual", "warn")


def _is_election_of(controller: ControllerImage, term: Logged) -> bool:
    epoch, leader = term.epoch, term.fields.get("leaderId")
    return term.kind == LEADER_CHANGE and (epoch, leader) == (controller.epoch, controller.broker)


def _who(sheet: Sheet, brokers: BrokerTable, controller: ControllerImage, *, is_kraft: bool) -> None:
    if is_kraft and controller.broker is not None and controller.broker not in brokers.table.image.brokers:
        sheet.fact("node", f"{controller.broker}, which is no broker that serves", "controller")
    elif controller.broker is None:
        sheet.fact("broker", "nobody: no leader is elected, no topic made or deleted until somebody is", "error")
    elif brokers.state(controller.broker) == "DOWN":
        sheet.fact("broker", f"b{controller.broker}, which is not registered", "error")
    else:
        registered = brokers.registration(controller.broker)
        sheet.fact("broker", f"b{controller.broker}  {host_of(registered)}", "controller")


def _epoch(sheet: Sheet, controller: ControllerImage, znode: Znode | Unread | None, *, is_kraft: bool) -> None:
    if is_kraft:
        # Each candidate raises it, elected or not (KafkaRaftClient): it skips numbers.
        sheet.fact(
            "epoch", "not known" if controller.epoch is None else f"{controller.epoch}, that of the quorum's leader"
        )
        return
    if controller.epoch is None:
        sheet.fact("epoch", "none: there never was a controller")
        return
    sheet.fact("epoch", f"{controller.epoch}, one more each time")
    if isinstance(znode, Znode) and _epoch_in(znode) == controller.epoch:
        sheet.fact("", f"data version {znode.stat.version}, zxid {znode.stat.mzxid:#x}")


def _epoch_in(znode: Znode) -> int | None:
    payload = decode(EPOCH, znode.data)
    return payload.epoch if isinstance(payload, ControllerEpoch) else None


def _session(sheet: Sheet, controller: ControllerImage, znode: Znode | Unread | None) -> None:
    payload = decode(CONTROLLER, znode.data) if isinstance(znode, Znode) else None
    if not (isinstance(znode, Znode) and isinstance(payload, ControllerRegistration)):
        return
    if controller.broker is None or payload.broker_id != controller.broker:
        return
    sheet.fact("session", f"{znode.stat.ephemeral_owner:#x}")
    if payload.kraft_controller_epoch is not None and payload.kraft_controller_epoch >= 0:
        sheet.fact(
            "KRaft", f"a migration is under way, KRaft controller epoch {payload.kraft_controller_epoch}", "warn"
        )


def _moves(sheet: Sheet, moment: Moment) -> None:
    moves = [change for change in moment.feed if change.kind in MOVES]
    taken = sum(change.kind != "controller-lost" for change in moves)  # one who goes and the next one are one move
    often = (
        f"{counted(taken, 'time')} since {clock_text(moment.feed[0].time_ms)}" if taken else "not since kdrill began"
    )
    if moves and not taken:
        often = "nobody has taken over yet"
    sheet.fact("moved", often, "warn" if moves else "")
    for change in moves[: -MOST_MOVES - 1 : -1]:
        sheet.fact("", f"{clock_text(change.time_ms)}  {change.text}")


def _written(sheet: Sheet, brokers: BrokerTable, controller: ControllerImage) -> None:
    """Under which controllers' epochs the states stand: old ones have not been touched since."""
    columns = brokers.table.columns
    epochs, counts = np.unique(columns.controller_epoch[columns.has_state], return_counts=True)
    newest = list(zip(epochs.tolist(), counts.tolist(), strict=True))[::-1]
    texts = [f"{count:,} in epoch {epoch}" for epoch, count in newest[:MOST_EPOCHS]]
    if older := sum(count for _, count in newest[MOST_EPOCHS:]):
        texts.append(f"{older:,} before")
    sheet.fact("states", f"written {', '.join(texts)}" if texts else "none is written")
    if newest and controller.epoch is not None and newest[0][0] > controller.epoch:
        sheet.fact("", f"epoch {newest[0][0]} is ahead of {EPOCH}", "error")


def _broker_epochs(sheet: Sheet, image: ClusterImage) -> None:
    epochs = {broker.epoch: broker.id for broker in image.brokers.values() if broker.epoch is not None}
    if epochs:
        last = max(epochs)
        sheet.fact("brokers", f"epochs {min(epochs)} to {last}; b{epochs[last]} registered last")
    elif image.brokers and tells_epochs(image):
        sheet.fact("brokers", "without epochs (before Kafka 2.2)")


_TOO_LONG = 11
SINCE = {1: "0.8", 2: "0.9", 3: "0.10.0", 4: "0.10.2", 5: "2.7"}
"""Payload version → the first release that writes it."""


def is_broker(key: str) -> bool:
    """Whether a key can be a broker's id."""
    return key.isascii() and key.isdecimal() and len(key) < _TOO_LONG


def registration_text(
    moment: Moment, query: RegistrationText, now_ms: int, memory: AnswerMemo, znodes: Znodes
) -> TextAnswer:
    """The broker whose id is the key. Of a znode that is another registration than the moment's, nothing is said."""
    sheet = broker_sheet(moment, query, now_ms, memory)
    known = moment.image.brokers.get(int(query.key)) if query.key.isdecimal() else None
    if known is not None:
        _said(sheet, known, znodes.get(broker_path(known.id)))
    return sheet.answer()


def _said(sheet: Sheet, known: BrokerImage, znode: Znode | Unread | None) -> None:
    payload = decode(znode.path, znode.data) if isinstance(znode, Znode) else None
    if not (isinstance(znode, Znode) and isinstance(payload, BrokerRegistration)):
        return
    if known.epoch not in (None, znode.stat.czxid) or (payload.registered_ms or 0) != known.registered_ms:
        return
    sheet.gap()
    sheet.fact("payload", f"version {payload.version} (Kafka {SINCE.get(payload.version, '?')} on)")
    for endpoint in payload.listeners:
        sheet.fact("listener", f"{endpoint.listener} {endpoint.host}:{endpoint.port}, {endpoint.security_protocol}")
    sheet.fact("JMX", f"port {payload.jmx_port}" if payload.jmx_port >= 0 else "off")
    features = ", ".join(f"{name} {of.min_version}-{of.max_version}" for name, of in sorted(payload.features.items()))
    sheet.fact("features", features or "none")
    sheet.fact("session", f"{znode.stat.ephemeral_owner:#x}")


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


def states_text(
    moment: Moment, query: StatesText, _: int, memory: AnswerMemo, terms: Sequence[Logged] = ()
) -> TextAnswer:
    """A table of both machines, and which partitions and replicas are meant by them; of KRaft the quorum, and who led
    it under which terms."""
    image = moment.image
    if image.generation == "kraft":
        return _quorum_text(moment, query, terms)

    def count() -> StateCounts:
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
        sheet.say("There is no controller: the next one would find them so, before it elects leaders.", "warn")
    else:
        sheet.say("Worked out from the znodes: the controller keeps these states in memory only.", "dim")
    sheet.say("Offline: the leader is dead, or there is none. New: assigned, without a state znode yet.", "dim")
    sheet.say("Deletion: started, unless a dead broker or a reassignment blocks it.", "dim")
    sheet.say("Which replicas a blocked deletion has removed already, no znode says: they count as not deleted.", "dim")
    return sheet.answer()


def _quorum_text(moment: Moment, query: StatesText, terms: Sequence[Logged]) -> TextAnswer:
    """KRaft's controller holds no such states: its voters and observers instead, as a broker told them last."""
    sheet, quorum = Sheet("Quorum", query.width), moment.image.quorum
    if quorum is None:
        return sheet.say("no broker told how the quorum of controllers stands", "dim").answer()
    sheet.fact("voters", ", ".join(str(each.id) for each in quorum.voters) or "none")
    sheet.fact("observers", ", ".join(str(each.id) for each in quorum.observers) or "none")
    late = {each.id for each in quorum.late_voters()}
    for voter in quorum.voters:
        if said := _voter_text(voter, is_late=voter.id in late):
            sheet.fact(f"voter {voter.id}", said, "warn" if voter.id in late else "")
    if terms:
        sheet.gap().draw(span("Elections", "heading"))
        tell_terms(sheet, terms, moment.image.provenance.zxid)
    sheet.gap()
    sheet.say("Voters elect the active controller and confirm its metadata. Brokers observe.", "dim")
    return sheet.say("A controller of KRaft has no state machines for partitions and replicas.", "dim").answer()


def _voter_text(voter: QuorumReplica, *, is_late: bool) -> str:
    """Whether it keeps up, where it listens, and which directory has its log, as far as anybody tells."""
    behind = f"behind since {stamp_text(voter.caught_up_ms)[:19]}" if voter.caught_up_ms > 0 else "has read nothing"
    directory = f"directory {voter.directory_id}" if voter.directory_id else ""
    return ", ".join(part for part in (behind if is_late else "", *voter.endpoints, directory) if part)


def _number(count: int, width: int, style: str) -> Span:
    return span(f"{count:>{width},}", (style or "ok") if count else "dim")


COLUMNS = (
    Column("work", 8, "<", "work"),
    Column("of", -14, "<", "subject"),
    Column("target", 10, "<", "target", rank=2),
    Column("waits for", -24, "<", "waits"),
)
STYLES = {"reassign": "adding", "elect": "changed", "delete": "removed"}
STATES = ("BLOCKED", "under way")


def work_key(work: PendingWork) -> str:
    """`reassign orders-3`: the kind, and what it is about."""
    return f"{work.kind} {work.subject}"


def admin_work_window(moment: Moment, query: AdminWorkList, now_ms: int, memory: AnswerMemo) -> Window:
    """Piece by piece. A filter `state:blocked` leaves those that do not go on by themselves."""
    image = moment.image
    made_from = (image.topics, image.brokers, image.admin)
    work = memory.recall("admin work", made_from, lambda: pending_work(image))
    keys = memory.recall("admin work keys", (work,), lambda: [work_key(one) for one in work])
    listing = Listing(
        count=len(work),
        fields=lambda: _fields(work),
        shown=("work", "subject", "target", "waits"),
        row=lambda index: _row(work[index]),
        place=place_in(keys),
        columns=COLUMNS,
        made_from=(work,),
        nothing=NO_WORK,
    )
    return window(listing, query, memory, now_ms)


def _fields(work: tuple[PendingWork, ...]) -> dict[str, ListField]:
    return {
        "work": Texts(lambda: [one.kind for one in work]),
        "subject": Texts(lambda: [one.subject for one in work]),
        "topic": Texts(lambda: [one.topic for one in work]),
        "partition": whole_numbers(one.partition for one in work),
        "target": Texts(lambda: [_target(one) for one in work]),
        "waits": Texts(lambda: [one.waits_for for one in work]),
        "state": Coded(np.array([not one.blocked for one in work], np.int32), Texts(lambda: STATES)),
    }


def _row(work: PendingWork) -> Row:
    return Row(
        key=work_key(work),
        cells=(
            line(span(work.kind, STYLES[work.kind])),
            line(work.subject),
            line(_target(work)),
            line(span(work.waits_for, "warn" if work.blocked else "")),
        ),
        mark="!" if work.blocked else "",
    )


def _target(work: PendingWork) -> str:
    return replicas(work.target) if work.target else "-"


def znodes_behind(query: ControllerText | RegistrationText) -> Sequence[str]:
    """Paths to read before the text is asked for."""
    if isinstance(query, ControllerText):
        return (CONTROLLER, EPOCH)
    return (broker_path(int(query.key)),) if is_broker(query.key) else ()
