"""A plan as a value: what changes, what it costs, how it compares with the best, how long it takes, what comes of it.

Rows are in the order in which they are to be run; batches are slices of them. Nothing is executed and no throttle is
set. Kafka's throttle (KIP-73) is a rate for what a broker sends (`leader.replication.throttled.rate`) and one for what
it receives (`follower.replication.throttled.rate`), of the listed replicas only. What its reader has to know is said in
sentences: what it puts first, second and so on, and what was left alone.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

import msgspec
import numpy as np

from model.cluster import records as r
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import NO_LEADER, KafkaGeneration, TopicPartition
from model.cluster.texts import brokers, counted
from model.cluster.topic_image import NOBODY, Flags, rows_of, widened
from model.drills.voters import turnout_after, turnout_text
from model.planning.kraft_course import Courses, state_after
from model.planning.layout import Balance, PlacementCost, ReplicaLayout, cordoned_brokers
from model.planning.optimum.measures import Judged
from model.planning.request import PlanRequest, PlanTarget, Throttling, on_any

COSTS = ("moves", "bytes", "leader_changes")


class CostComparison(msgspec.Struct, frozen=True):
    """The sentence, and those of `COSTS` that may be held against their bound.

    A cost may not where the plan breaks a rule, or is worse in something that counts more: it is low at that price.
    """

    verdict: str
    comparable: tuple[str, ...]


def compared(plan: Judged, best: Judged, *, is_proven: bool) -> CostComparison:
    """A plan beside kdrill's own for the same wish; `is_proven`: nothing is better than that."""
    whose = "the best plan" if is_proven else "kdrill's own plan"
    if plan.broken:
        return CostComparison(f"no plan for this wish: {'; '.join(_broken(plan))}", ())
    for place, (name, own) in enumerate(best.figures.items()):
        if (theirs := plan.figures[name]) != own:
            better, worse = _DIFFERENCES[name]
            verdict = f"not as good as {whose}: {worse}" if theirs > own else f"better than {whose}: {better}"
            counts = list(best.figures)[: place + 1] if theirs > own else list(_still_good(plan, best))
            return CostComparison(verdict, tuple(cost for cost in COSTS if cost in counts))
    return CostComparison(f"as good as {whose}", COSTS)


def _still_good(plan: Judged, best: Judged) -> Iterator[str]:
    """What counts, as far as nothing before it is worse."""
    for name, own in best.figures.items():
        yield name
        if plan.figures[name] > own:
            return


def _broken(plan: Judged) -> Iterator[str]:
    for rule, count in plan.broken.items():
        one, many = _RULES[rule]
        yield f"{counted(count, 'broker' if rule == 'full' else 'partition')} {one if count == 1 else many}"


_RULES = {
    "newcomer": ("does not get the new broker", "do not get the new broker"),
    "twice": ("names a broker twice", "name a broker twice"),
    "touched": ("should stay as it is", "should stay as they are"),
    "others": ("gets other replicas", "get other replicas"),
    "leaving": ("is on a broker that leaves or is dead", "are on brokers that leave or are dead"),
    "factor": ("has another number of replicas than it should", "have another number of replicas than they should"),
    "racks": ("is on fewer racks than it could be", "are on fewer racks than they could be"),
    "full": ("gets more than it can hold", "get more than they can hold"),
}
"""Of `Judged.broken`, for one and for several."""

_DIFFERENCES = {
    "replicas": ("replicas are more even", "replicas are less even"),
    "bytes": ("fewer bytes are copied", "more bytes are copied"),
    "moves": ("fewer replicas are copied", "more replicas are copied"),
    "racks": ("partitions are on more racks", "partitions are on fewer racks"),
    "leaders": ("preferred leaders are more even", "preferred leaders are less even"),
    "leader_changes": ("fewer preferred leaders change", "more preferred leaders change"),
}


class ReplicaChange(msgspec.Struct, frozen=True, gc=False):
    """The replicas of one partition, preferred leader first. `bytes` of one replica, None: unknown."""

    topic: str
    partition: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    bytes: int | None = None

    @property
    def name(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)

    @property
    def added(self) -> tuple[int, ...]:
        """Brokers that get a copy."""
        return tuple(broker for broker in self.after if broker not in self.before)

    @property
    def removed(self) -> tuple[int, ...]:
        return tuple(broker for broker in self.before if broker not in self.after)


class Bound(msgspec.Struct, frozen=True):
    """What no plan for the same wish can fall below that is as good in all that counts more (`Placement`).

    `bytes` None: it was not about them.
    """

    moves: int
    bytes: int | None
    leader_changes: int
    method: str
    """How it is known, in words."""
    is_proven: bool = True
    """The plan that it was found with meets it, and nothing is better."""


class PlanBatch(msgspec.Struct, frozen=True):
    """Changes [first, end) of the plan, to be run together. `bytes` copied, None: unknown."""

    number: int
    first: int
    end: int
    moves: int
    bytes: int | None
    busiest_replicas: int
    """The most replicas that one broker receives or sends in it."""
    busiest_bytes: int | None
    """The most bytes that one broker receives or sends in it."""


class PlanPace(msgspec.Struct, frozen=True):
    """A throttle and the time it makes the plan take, batch after batch."""

    rate: int
    """Bytes/s that a broker may send, and receive, for it."""
    seconds: float
    given: str
    """Which of the two was given: `rate`, `time`, or `nothing` where the rate is assumed."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Changes for one cluster at one moment."""

    source: str
    cluster_id: str | None
    generation: KafkaGeneration
    zxid: int
    """Of KRaft, the metadata log's offset."""
    time_ms: int
    request: PlanRequest
    maker: str
    """`kdrill`, or the name of the file that it was read from."""
    changes: tuple[ReplicaChange, ...]
    cost: PlacementCost
    bound: Bound | None
    """None: nothing was asked for that a bound could be known of."""
    comparison: CostComparison | None = None
    """Of a plan that was read and is held against our own."""
    before: Balance
    after: Balance
    batches: tuple[PlanBatch, ...]
    pace: PlanPace | None
    """None: nothing is copied, or no size is known."""
    sizes: str
    """Where the sizes of partitions come from; empty: none is known."""
    objectives: tuple[str, ...]
    """In the order in which they count; none where there is no bound."""
    notes: tuple[str, ...]
    courses: Courses = {}
    """Of a KRaft cluster, what its controller makes of each change."""
    rules: str = ""
    """Whose rules those are."""


ASSUMED_RATE = 50_000_000
"""Bytes/s, where neither rate nor time is given: less than half of what a 1 Gbit/s link carries."""


def pace_of(batches: Sequence[PlanBatch], throttling: Throttling) -> PlanPace | None:
    """The rate and the time; None where nothing is copied or sizes are unknown.

    A batch takes as long as its busiest broker, which sends or receives all it has to at the given rate.
    """
    busiest = sum(batch.busiest_bytes or 0 for batch in batches)
    if not busiest:
        return None
    if throttling.seconds is not None:
        rate = math.ceil(busiest / throttling.seconds)
        return PlanPace(rate, busiest / rate, "time")
    rate = throttling.rate or ASSUMED_RATE
    return PlanPace(rate, busiest / rate, "rate" if throttling.rate else "nothing")


def applied(image: ClusterImage, plan: Plan) -> ClusterImage:
    """The image with the plan's brokers and replicas; what changed is in sync and led by its preferred replica.

    With ZooKeeper leader epochs and versions stay as they were: how often they are written depends on how it is run.
    On KRaft they are those that its controller's rules lead to.
    """
    return ClusterDelta(image).replay_all(_records(image, plan)).apply(image.provenance)


def _records(image: ClusterImage, plan: Plan) -> Iterator[r.ClusterRecord]:
    staying = {share.broker: share.rack for share in plan.after.brokers}
    leaving = {*plan.request.remove, *(old for old, _ in plan.request.replace)}
    staying |= {
        broker: image.brokers[broker].rack for broker in cordoned_brokers(image) & image.brokers.keys() - leaving
    }
    for broker in sorted(image.brokers.keys() - staying.keys()):
        yield r.BrokerLost(broker=broker)
    gone = tuple(sorted(image.brokers.keys() - staying.keys()))
    if image.quorum is not None and gone:
        silent = tuple(sorted({*image.quorum.silent, *gone} & {each.id for each in image.quorum.voters}))
        yield r.QuorumDescribed(quorum=msgspec.structs.replace(image.quorum, silent=silent))
    for broker, rack in staying.items():
        if broker not in image.brokers:
            yield r.BrokerRegistered(broker=broker, rack=rack)
    by_topic = sorted(plan.changes, key=lambda change: (change.topic, change.partition))
    for _, changes in groupby(by_topic, key=lambda change: change.topic):
        yield from _topic_records(image, plan, list(changes), staying)


def _topic_records(
    image: ClusterImage, plan: Plan, changes: list[ReplicaChange], staying: dict[int, str | None]
) -> Iterator[r.ClusterRecord]:
    topic = changes[0].topic
    known = image.topics[topic]
    rows = zip(known.partitions.tolist(), rows_of(known.replicas), strict=True)
    assigned = {partition: replicas for partition, replicas in rows if replicas}
    assigned |= {change.partition: change.after for change in changes}
    adding, removing = known.adding, known.removing
    yield r.TopicAssigned(topic=topic, replicas=assigned, topic_id=known.topic_id, adding=adding, removing=removing)
    states = (state_after(plan.courses, change.name, staying) or _state(image, change, staying) for change in changes)
    yield r.PartitionStatesWritten(topic=topic, states=tuple(states))


def _state(image: ClusterImage, change: ReplicaChange, staying: dict[int, str | None]) -> r.PartitionState:
    topic = image.topics[change.topic]
    row = topic.row_of[change.partition]
    in_sync = tuple(broker for broker in change.after if broker in staying)
    return r.PartitionState(
        partition=change.partition,
        leader=in_sync[0] if in_sync else NO_LEADER,
        leader_epoch=int(topic.leader_epoch[row]),
        isr=in_sync or change.after,
        controller_epoch=int(topic.controller_epoch[row]),
        version=max(int(topic.version[row]), 0),
    )


def objectives_of(request: PlanRequest, layout: ReplicaLayout, setting: PlanTarget) -> tuple[str, ...]:
    """In the order in which they count."""
    return "; ".join(_hard(request, setting)), *_soft(request, layout)


def _hard(request: PlanRequest, setting: PlanTarget) -> Iterator[str]:
    yield "a broker holds a partition once"
    if setting.leaving or setting.dead:
        yield "nothing new on brokers that leave or are dead"
    rule = setting.rack_rule or {}
    if request.reach in ("balance", "racks") and len({rule.get(broker) for broker in setting.staying}) > 1:
        yield "as many racks as there can be"
    if request.capacity is not None:
        yield f"no broker above {request.capacity:,} bytes"


def _soft(request: PlanRequest, layout: ReplicaLayout) -> Iterator[str]:
    percent = request.tolerance_percent
    band = f"within {percent:g} % of the mean" if percent else "within one"
    if request.reach == "leaders":
        yield "no data moves: only the order of replicas changes"
    elif request.reach == "balance":
        yield f"replicas even {band}, on the brokers of a rack where racks force it"
    else:
        yield "only what must move" + (", and what puts partitions on more racks" if request.reach == "racks" else "")
    if request.reach != "leaders":
        yield "fewest bytes copied, then fewest replicas" if request.by == "bytes" else "fewest replicas copied"
    if request.reach == "forced":
        yield "as many racks as that allows"
    if request.reach in ("balance", "leaders"):
        yield f"preferred leaders even {band}"
    yield "fewest changes of the preferred leader"
    if request.reach in ("forced", "racks"):
        yield f"replicas, then preferred leaders, even {band} as far as that allows"
    if request.reach != "leaders":
        yield "even topics" if layout.size is None else "even disks, then even topics"


def notes_on(
    before: ReplicaLayout, setting: PlanTarget, after: ReplicaLayout, *, is_kraft: bool = False
) -> Iterator[str]:
    """About one plan, the gravest first; on KRaft without what `notes_on_courses` says."""
    yield from _left_behind(before, setting, after)
    if coming := [broker for broker in setting.coming if broker not in before.fenced]:
        one = len(coming) == 1
        yield (
            f"{brokers(coming).capitalize()} {'is' if one else 'are'} not alive: "
            f"Kafka refuses the plan before {'it registers' if one else 'they register'}."
        )
    if waiting := [broker for broker in setting.coming if broker in before.fenced]:
        one = len(waiting) == 1
        yield (
            f"{brokers(waiting).capitalize()} {'is' if one else 'are'} fenced: Kafka takes the plan, and what is to go "
            f"there waits until {'it is' if one else 'they are'} back."
        )
    yield from _brokers_unknown(setting, before, after)
    if before.guessed:
        partitions = counted(before.guessed, "partition")
        yield f"{partitions} without a known size: taken to be as large as the others on average."
    if not is_kraft and (before.replicas[:, 0] != after.replicas[:, 0]).any():
        yield "Leaders move with the next preferred leader election, not with the reassignment itself."
    lost = {b for b in setting.leaving if b not in before.racks and b not in before.fenced}
    if lost := lost & set(before.replicas.ravel().tolist()):
        yield f"The rollback names {brokers(lost)}, dead now: until that changes Kafka refuses that part."


def notes_on_voters(image: ClusterImage, leaving: Collection[int]) -> Iterator[str]:
    """About brokers of a KRaft cluster that are to go and vote: the plan moves replicas, no votes."""
    turnout = turnout_after(image, leaving)
    if turnout is not None and (voting := set(leaving) & set(turnout.voters)):
        one = len(voting) == 1
        yield (
            f"{brokers(voting).capitalize()} {'is a voter' if one else 'are voters'}: switched off as "
            f"{'it is' if one else 'they are'}, {turnout_text(turnout)}. Take {'it' if one else 'them'} out of the "
            "quorum first (kafka-metadata-quorum remove-controller, where voters can change)."
        )


def _left_behind(before: ReplicaLayout, setting: PlanTarget, after: ReplicaLayout) -> Iterator[str]:
    """Partitions that are not as they should be, and why."""
    changed = _changed(before, after)
    if (busy := before.busy & changed).any():
        yield f"{_named(before, busy)} being reassigned or deleted already: this would take its place."
    if (busy := before.busy & ~changed).any():
        yield f"{_named(before, busy)} being reassigned or deleted: left as is."
    if before.busy.any():
        yield "While reassignments run, Kafka's tool takes more only with --additional."
    if (stranded := before.stranded & changed).any():
        yield f"{_named(before, stranded)} without a live leader: the move waits until there is one to copy from."
    if (stranded := before.stranded & ~changed & ~before.busy).any():
        yield f"{_named(before, stranded)} without a live leader: nobody could copy from there; left as is."
    left = on_any(after, setting.leaving)
    if left.any():
        yield f"{_named(before, left)} still on {brokers(setting.leaving)}: plan again for what was left as it is."


def _brokers_unknown(setting: PlanTarget, before: ReplicaLayout, after: ReplicaLayout) -> Iterator[str]:
    driven = on_any(before, setting.dead) & ~on_any(after, setting.dead)
    if driven.any():
        how = _away(before, setting.dead)
        yield f"{_named(before, driven)} also on {brokers(setting.dead)}, {how}: leaves there, too, as it moves anyway."
    kept = after.replicas[np.isin(after.replicas, list(setting.dead))]
    for broker in sorted({int(one) for one in kept if one != NOBODY}):
        replicas = counted(int((kept == broker).sum()), "replica")
        how = _away(before, {broker})
        why = "" if how == "cordoned" else ", for it may come back"
        yield f"Broker {broker} is {how} and keeps {replicas}{why}; remove it to move them."
    rule = setting.rack_rule
    if rule is None or rule != setting.racks:
        silent = [broker for broker in setting.staying if setting.racks[broker] is None]
        one = len(silent) == 1
        verb, alone = ("names", "it counts") if one else ("name", "each counts")
        effect = "racks are not looked at" if rule is None else f"{alone} as a rack of its own"
        yield f"{brokers(silent).capitalize()} {verb} no rack: {effect}. Add it as ID:RACK to say which."


def _away(layout: ReplicaLayout, some: Collection[int]) -> str:
    """What brokers are that get nothing new."""
    kinds = {"cordoned" if each in layout.cordoned else "fenced" if each in layout.fenced else "dead" for each in some}
    return " or ".join(sorted(kinds))


def _changed(before: ReplicaLayout, after: ReplicaLayout) -> Flags:
    width = max(before.replicas.shape[1], after.replicas.shape[1])
    return (widened(before.replicas, width) != widened(after.replicas, width)).any(axis=1)


def _named(layout: ReplicaLayout, which: Flags) -> str:
    rows = np.flatnonzero(which)
    first = layout.name(int(rows[0]))
    return f"{counted(len(rows), 'partition')} ({first}{' and more' if len(rows) > 1 else ''})"
