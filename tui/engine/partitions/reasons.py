"""Why a partition is as it is and what would help, in the words of Kafka's rules; and the text that says so.

The pane below the partition map has one partition's facts, why it is as it is, ways out, and what happened to it.

Rules: `kafka.controller.Election` and `ReplicaStateMachine.doRemoveReplicasFromIsr` 3.9, `ReplicaManager` (ISR),
KIP-455 (reassignment), KIP-704 (recovery after an unclean election).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from model.cluster.change import Change
from model.cluster.ids import NO_LEADER
from model.cluster.texts import kept_in, written_at
from model.cluster.topic_image import told_in, unpadded
from model.sources.feed import Moment
from tui.engine.messages import TextAnswer
from tui.engine.partitions.table import (
    STATES,
    PartitionTable,
    elr_of,
    folders_text,
    isr_of,
    partition_table,
    replicas_of,
)
from tui.engine.queries import PartitionTextQuery
from tui.engine.rows import span
from tui.engine.sheets import SEVERITY_STYLES, Sheet, age_text, clock_text

UNCLEAN = "unclean.leader.election.enable"


class Reason(NamedTuple):
    """Why it is so, and what helps; `ways_out` is empty where nothing needs doing."""

    why: str
    ways_out: str = ""


@dataclass(frozen=True)
class PartitionCase:
    """One row of a table, with what its reasons speak of."""

    table: PartitionTable
    row: int

    @property
    def replicas(self) -> tuple[int, ...]:
        return replicas_of(self.table, self.row)

    @property
    def isr(self) -> tuple[int, ...]:
        return isr_of(self.table, self.row)

    @property
    def elr(self) -> tuple[int, ...] | None:
        return elr_of(self.table, self.row)

    @property
    def last_known(self) -> tuple[int, ...]:
        return told_in(self.table.columns.last_known_elr[self.row]) or ()

    @property
    def eligible(self) -> tuple[int, ...]:
        """Who may lead without loss."""
        return self.isr or self.elr or ()

    @property
    def leader(self) -> int:
        return int(self.table.columns.leader[self.row])

    @property
    def min_isr(self) -> int:
        return int(self.table.health.min_isr[self.row])

    def live(self, brokers: Iterable[int]) -> list[int]:
        """Those of the brokers that are not known to be dead."""
        return [broker for broker in brokers if not self.table.is_dead(broker)]

    def dead(self, brokers: Iterable[int]) -> list[int]:
        """Those of the brokers that are known to be dead."""
        return [broker for broker in brokers if self.table.is_dead(broker)]

    def absence(self, dead: Iterable[int]) -> str:
        """What these dead brokers are: without registration, or fenced, as KRaft has it; `down` where nobody tells."""
        image = self.table.image
        if image.fenced.keys() >= set(dead):
            return "fenced"
        return "down" if image.generation == "kraft" else "not registered"

    @property
    def out_of_isr(self) -> list[int]:
        return [broker for broker in self.replicas if broker not in self.isr]

    @property
    def moves(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...] | None]:
        """Replicas being added, being removed, and the target that waits in `/admin/reassign_partitions`."""
        partition = self.table.topic_partition(self.row)
        topic = self.table.image.topics[partition.topic]
        number = partition.partition
        asked = self.table.image.admin.reassignments.get(partition)
        return topic.adding.get(number, ()), topic.removing.get(number, ()), asked

    @property
    def controller(self) -> str:
        broker = self.table.image.controller.broker
        if broker is None:
            return "There is no controller now: until a broker wins the election, nothing is decided."
        return f"If it stays so for more than a few seconds, see what the controller, b{broker}, does."


def named(brokers: Iterable[int]) -> str:
    """`b5`, `b2 and b3`, `b1, b2 and b3`."""
    names = [f"b{broker}" for broker in brokers]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names) or "no broker"


def _deleting(case: PartitionCase) -> Reason:
    dead = case.dead(case.replicas)
    waits = f"{named(dead)} must come back first: a replica on a dead broker cannot be deleted." if dead else ""
    return Reason("The topic is marked for deletion; its replicas go one by one and then its znodes.", waits)


def _offline(case: PartitionCase) -> Reason:
    able = [broker for broker in case.replicas if broker in case.live(case.eligible)]
    spare = [broker for broker in case.live(case.replicas) if broker not in case.eligible]
    gone = f"b{case.leader} leads it and is {case.absence([case.leader])}. " if case.leader != NO_LEADER else ""
    if able:
        place = "the ISR" if case.isr else "the ELR"
        return Reason(
            f"{gone}b{able[0]} is the first live replica in {place}, so the controller can elect it.", case.controller
        )
    if not case.isr and case.elr is not None:
        return _nobody_in_isr(case, gone, spare)
    if not case.isr:
        why = (
            "The ISR is empty, as Kafka 0.8.0 and 0.8.1 left it when its last member died: no replica is known in sync."
        )
        return Reason(gone + why, f"Bring back the replica that led last. {_unclean_election(spare, ())}")
    holds = "holds the only copy" if len(case.replicas) == 1 else "was the last in sync"
    were = holds if len(case.isr) == 1 else "were the last in sync"
    wrote = "wrote leader -1 and kept" if case.leader == NO_LEADER else "will write leader -1 and keep"
    why = f"{named(case.isr)} {were}. The controller may elect only a live ISR member; there is none, so it {wrote} "
    return Reason(
        f"{gone}{why}isr [{_joined(case.isr)}].", f"Bring {named(case.isr)} back. {_unclean_election(spare, case.isr)}"
    )


def _nobody_in_isr(case: PartitionCase, gone: str, spare: list[int]) -> Reason:
    """Where KRaft keeps eligible leader replicas (`PartitionChangeBuilder`, 4.0)."""
    last = case.last_known
    if case.elr:
        why = f"The ISR is empty. {named(case.elr)} {_is(case.elr)} in the ELR and may lead without loss."
        return Reason(
            gone + why, f"Bring {named(case.elr)} back: nothing is lost. {_unclean_election(spare, case.elr)}"
        )
    why = "The ISR and the ELR are empty: nobody can lead without a risk of loss."
    if not last:
        return Reason(gone + why, f"Bring back the replica that led last. {_unclean_election(spare, ())}")
    back = f"Bring {named(last)} back: it led last, and is elected though it may lack its newest records."
    return Reason(gone + why, f"{back} {_unclean_election(spare, last)}")


def _unclean_election(spare: list[int], last: tuple[int, ...]) -> str:
    if not spare:
        return "Unclean election would not help: no other replica is live."
    lost = f"only {named(last)} has" if len(last) == 1 else f"only {named(last)} have" if last else "others had more"
    return f"Unclean election would make b{spare[0]} leader and lose the records that {lost}."


def _stray_leader(case: PartitionCase) -> Reason:
    where = "not in the ISR" if case.leader in case.replicas else "not among its replicas"
    why = f"b{case.leader} leads and is {where}: the state contradicts itself. "
    why += "It was edited by hand, or a reassignment broke off."
    return Reason(why, "Start a preferred election or a reassignment, so that the controller writes the state anew.")


def _under_min_isr(case: PartitionCase) -> Reason:
    why = f"The ISR has {len(case.isr)} of the {case.min_isr} members that min.insync.replicas asks for: "
    why += "producers with acks=all get NOT_ENOUGH_REPLICAS; those with acks=1 still write."
    if len(case.replicas) < case.min_isr:
        return Reason(why, "It has fewer replicas than that: add replicas, or lower min.insync.replicas.")
    return Reason(
        why, f"Bring {named(case.out_of_isr)} back into the ISR. Lowering min.insync.replicas trades safety for writes."
    )


def _unreadable(case: PartitionCase) -> Reason:
    topic, number = case.table.topic_partition(case.row)
    paths = (f"/brokers/topics/{topic}", f"/brokers/topics/{topic}/partitions/{number}/state")
    known = case.table.image.unreadable
    found = "; ".join(f"{path}: {known[path]}" for path in paths if path in known)
    return Reason(
        f"What is known of it is not whole: {found}.",
        "Look at the znode's bytes; the rest of the cluster is unaffected.",
    )


def _recovering(case: PartitionCase) -> Reason:
    why = f"b{case.leader} was elected although it was not in the ISR: acknowledged records may be lost."
    return Reason(
        why, "Its leader clears the mark when it has recovered. Find out what producers and consumers missed."
    )


def _under_replicated(case: PartitionCase) -> Reason:
    dead, behind = case.dead(case.out_of_isr), case.live(case.out_of_isr)
    why = f"{named(dead)} {_is(dead)} {case.absence(dead)}, so out of the ISR. " if dead else ""
    ways = f"Start {named(dead)} again, or move its replicas elsewhere. " if dead else ""
    if behind:
        why += f"{named(behind)} {_is(behind)} live and not in sync: not caught up within replica.lag.time.max.ms. "
        ways += f"See disk, network and long pauses on {named(behind)}; once caught up, it joins the ISR by itself."
    return Reason(why.strip(), ways.strip())


def _no_state(case: PartitionCase) -> Reason:
    if not case.live(case.replicas):
        why = "It never had a leader: the first one is elected when a replica is live, and none is."
        return Reason(why, f"Start {named(case.replicas)}.")
    return Reason("It is assigned and the controller has not written its state yet.", case.controller)


def _orphaned(case: PartitionCase) -> Reason:
    why = "There is a state znode and the topic's assignment does not name the partition. Kafka ignores it."
    return Reason(
        why, "Left over from a deletion that broke off, or the assignment was damaged: compare with the brokers' logs."
    )


def _stray_isr(case: PartitionCase) -> Reason:
    strangers = [broker for broker in case.isr if broker not in case.replicas]
    why = f"{named(strangers)} {_is(strangers)} in the ISR and no replica: "
    why += "the assignment was edited, or a reassignment broke off."
    return Reason(why, "Reassign the partition, so that assignment and ISR agree.")


def _moving(case: PartitionCase) -> Reason:
    adding, removing, asked = case.moves
    parts = [f"adding {named(adding)}" if adding else "", f"removing {named(removing)}" if removing else ""]
    target = f"target [{_joined(asked)}] waits in /admin/reassign_partitions" if asked is not None else ""
    why = f"It is being reassigned: {', '.join(part for part in (*parts, target) if part)}. "
    why += "It ends when every new replica is in the ISR."
    stuck = case.dead((*adding, *(asked or ())))
    return Reason(
        why,
        f"{named(dict.fromkeys(stuck))} must be up for that: start it, or cancel the reassignment." if stuck else "",
    )


def _off_preferred(case: PartitionCase) -> Reason:
    why = f"b{case.leader} leads; b{case.replicas[0]} is preferred, live and in the ISR, so it could."
    return Reason(
        why, "A preferred election moves it back; auto.leader.rebalance.enable does so above 10% on a broker."
    )


def _is(brokers: Sequence[int]) -> str:
    return "is" if len(brokers) == 1 else "are"


def _joined(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers))


_REASONS: tuple[tuple[str, Callable[[PartitionCase], Reason]], ...] = (
    ("deleting", _deleting),
    ("offline", _offline),
    ("leader_not_replica", _stray_leader),
    ("leader_not_in_isr", _stray_leader),
    ("under_min_isr", _under_min_isr),
    ("unreadable", _unreadable),
    ("recovering", _recovering),
    ("under_replicated", _under_replicated),
    ("stateless", _no_state),
    ("orphaned", _orphaned),
    ("isr_not_replica", _stray_isr),
    ("moving", _moving),
    ("off_preferred", _off_preferred),
)
"""What is the matter (a flag of the table or of its health) → how it is told, worst first."""

_EXPLAINED = {"offline": {"under_replicated"}, "leader_not_replica": {"leader_not_in_isr"}}
"""What needs no telling any more once something worse was told."""


def reasons(table: PartitionTable, row: int) -> list[Reason]:
    """Everything that is the matter with a partition, worst first; or that nothing is."""
    case = PartitionCase(table, row)
    told: set[str] = set()
    found: list[Reason] = []
    for flag, tell in _REASONS:
        owner = table if hasattr(table, flag) else table.health
        if flag not in told and bool(getattr(owner, flag)[row]):
            told |= _EXPLAINED.get(flag, set())
            found.append(tell(case))
    return found or [_well(case)]


def _well(case: PartitionCase) -> Reason:
    if case.leader == case.replicas[0]:
        return Reason("Its preferred replica leads and all replicas are in the ISR.")
    return Reason(f"All replicas that should be are in the ISR; b{case.leader} leads, b{case.replicas[0]} cannot now.")


HISTORY = 8
"""Changes told, newest first."""


def partition_text(moment: Moment, query: PartitionTextQuery, now_ms: int, *_: object) -> TextAnswer:
    """About the partition whose key is `orders-3`."""
    sheet = Sheet(query.key, query.width)
    topic = query.key.rpartition("-")[0]
    known = moment.image.topics.get(topic)
    # A table of one topic: what is said about a partition depends on no other.
    image = msgspec.structs.replace(moment.image, topics={topic: known} if known is not None else {})
    table = partition_table(image)
    row = table.place(query.key)
    if row < 0:
        return sheet.say("there is no such partition (any more)" if query.key else "", "dim").answer()
    _state(sheet, table, row)
    for reason in reasons(table, row):
        sheet.fact("why", reason.why)
        if reason.ways_out:
            sheet.fact("ways out", reason.ways_out)
    if (left := _last_to_leave(moment.feed, query.key)) is not None:
        sheet.fact("left ISR", f"{clock_text(left.time_ms)}  {left.text}", SEVERITY_STYLES[left.severity])
    _facts(sheet, table, row, now_ms)
    for number, change in enumerate(_history(moment.feed, query.key, topic)):
        text = f"{clock_text(change.time_ms)}  {change.subject if change.subject != query.key else ''}".rstrip()
        sheet.fact("history" if number == 0 else "", f"{text}  {change.text}", SEVERITY_STYLES[change.severity])
    return sheet.answer()


def _state(sheet: Sheet, table: PartitionTable, row: int) -> None:
    leader, state = int(table.columns.leader[row]), STATES[table.states[row]]
    led = "none" if leader == NO_LEADER else f"{leader} (dead)" if table.is_dead(leader) else str(leader)
    isr = _ids_or_none(isr_of(table, row))
    sheet.draw(span(f"{'state':9} ", "dim"), span(state.label, state.style), span(f"   leader {led}   isr {isr}"))


def _facts(sheet: Sheet, table: PartitionTable, row: int, now_ms: int) -> None:
    columns, replicas = table.columns, replicas_of(table, row)
    topic, number = table.topic_partition(row)
    is_kraft = table.image.generation == "kraft"
    if (elr := elr_of(table, row)) is not None:
        last = unpadded(columns.last_known_elr[row])
        sheet.fact("elr", f"{_ids_or_none(elr)}{f'   last known leader {_ids_or_none(last)}' if last else ''}")
    few = " (!)" if len(replicas) == 1 else ""
    sheet.fact(
        "replicas", f"{_ids_or_none(replicas)}   preferred {_ids_or_none(replicas[:1])}   RF {len(replicas)}{few}"
    )
    if folders := folders_text(table, row):
        sheet.fact("folders", folders)
    if columns.has_state[row]:
        controller, time_ms = int(columns.topics[0].controller_epoch[row]), int(columns.time_ms[row])
        epochs = f"leader {columns.leader_epoch[row]}" + (f", controller {controller}" if controller >= 0 else "")
        age = f"   {'changed' if is_kraft else 'written'} {age_text(time_ms, now_ms)} ago" if time_ms > 0 else ""
        written = written_at(table.image.generation, int(columns.zxid[row]))
        at = f"   {' '.join(written)}" if columns.zxid[row] >= 0 else ""
        sheet.fact("epochs", f"{epochs}{age}{at}")
    sheet.fact("settings", f"min ISR {table.health.min_isr[row]}   unclean election {_unclean_setting(table, topic)}")
    version = f"   data version {columns.version[row]}" if columns.has_state[row] else "   (not there)"
    name, place = kept_in(table.image.generation, f"/brokers/topics/{topic}/partitions/{number}/state")
    sheet.fact(name, place if is_kraft else f"{place}{version}")


def _unclean_setting(table: PartitionTable, topic: str) -> str:
    own = table.image.topic_config(topic).get(UNCLEAN)
    default = table.image.configs.get("brokers/<default>", {}).get(UNCLEAN)
    if own is None and default is None:
        return "not set (off since Kafka 0.11)"
    where = "topic" if own is not None else "cluster"
    return f"{'on' if (own or default or '').strip().lower() == 'true' else 'off'} ({where})"


def _last_to_leave(feed: tuple[Change, ...], partition: str) -> Change | None:
    """Why a follower that lives left the ISR last, where its leader is heard: ZooKeeper does not have it."""
    return next((one for one in reversed(feed) if one.kind == "sandbox-isr" and one.subject == partition), None)


def _history(feed: tuple[Change, ...], partition: str, topic: str) -> list[Change]:
    """What happened to the partition, and to its topic as a whole, newest first."""
    found: list[Change] = []
    for change in reversed(feed):
        if change.subject in (partition, topic):
            found.append(change)
            if len(found) == HISTORY:
                break
    return sorted(found, key=lambda change: -change.time_ms)


def _ids_or_none(brokers: tuple[int, ...]) -> str:
    return ",".join(map(str, brokers)) or "none"
