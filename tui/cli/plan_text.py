"""A plan for people to read: what it is for, its cost beside the bound, what becomes better, how to run it.

At most 80 columns, but for names: nobody cuts them, and those of partitions come last. Bytes and times have three
digits that mean something, in decimal units as disks and networks have them. Prints nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from textwrap import wrap

from model.analyses.plans import DrillFigures, Worst
from model.cluster.texts import brokers, counted, listed, replicas, written_at
from model.planning.documents import above_percent
from model.planning.kraft_course import figures_of
from model.planning.layout import Balance, BrokerShare, Range
from model.planning.plan import COSTS, Plan, PlanBatch, PlanPace, ReplicaChange
from model.planning.request import PlanRequest
from tui.cli.output import more
from tui.engine.text import plain

_BYTES = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def bytes_text(amount: int) -> str:
    """`0 B`, `52.4 MB`, `1.12 TB`."""
    power, value = 0, float(amount)
    while value >= 999.5 and power < len(_BYTES) - 1:
        power, value = power + 1, value / 1000
    digits = 0 if not power or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {_BYTES[power]}"


def duration_text(seconds: float) -> str:
    """`40 s`, `12 min`, `3 h 05 min`, `2 d 4 h`."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02} min"
    return f"{hours // 24} d {hours % 24} h"


MOST_ROWS = 20
WIDTH = 80
Drills = tuple[DrillFigures, DrillFigures]


def lines(plan: Plan, drills: Drills | None, *, everything: bool = False) -> Iterator[str]:
    """The plan as text; lists are cut unless `everything` is set."""
    yield from _head(plan)
    yield ""
    yield from _cost(plan)
    yield ""
    yield from _balance(plan)
    if drills is not None:
        yield ""
        yield from _drills(*drills)
    yield ""
    yield from _brokers(plan.before, plan.after, everything)
    if plan.courses:
        yield ""
        yield from _controller(plan)
    if plan.changes:
        yield ""
        yield from _batches(plan, everything)
        yield ""
        yield from _changes(plan.changes, everything)
    if plan.notes:
        yield ""
        for note in plan.notes:
            yield from wrap(plain(note), WIDTH, initial_indent="! ", subsequent_indent="  ", break_long_words=False)


def wish_of(request: PlanRequest) -> str:
    """The request in a few words."""
    words: list[str] = []
    if request.remove:
        words.append(f"remove {brokers(request.remove)}")
    if request.add:
        words.append(f"add {listed(_new(broker.id, broker.rack) for broker in request.add)}")
    words += [f"replace broker {old} by {new}" for old, new in request.replace]
    if request.replication_factor is not None:
        words.append(f"replication factor {request.replication_factor}")
    words.append(_REACHES[request.reach])
    chosen = f", topics {listed(request.topics)}" if request.topics else ""
    left_out = f", without {listed(request.exclude)}" if request.exclude else ""
    return ", ".join(word for word in words if word) + chosen + left_out


_REACHES = {"balance": "rebalance", "forced": "", "racks": "fix racks", "leaders": "leaders only"}


def _new(broker: int, rack: str | None) -> str:
    return f"{broker}" if rack is None else f"{broker} in {rack}"


def _head(plan: Plan) -> Iterator[str]:
    seen = datetime.fromtimestamp(plan.time_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    write = "" if plan.zxid < 0 else f", {' '.join(written_at(plan.generation, plan.zxid))}"
    yield plain(f"{plan.source}, as it was at {seen}{write}")
    wish = wish_of(plan.request)
    if plan.maker != "kdrill":
        wish = plan.maker if plan.bound is None else f"{plan.maker}, held against: {wish}"
    yield plain(f"plan       {wish}")
    for number, objective in enumerate(plan.objectives, 1):
        start = f"{'objectives' if number == 1 else '':<10} {number}. "
        yield from wrap(objective, WIDTH, initial_indent=start, subsequent_indent=" " * len(start))
    yield plain(f"sizes      {plan.sizes or 'unknown: no bytes and times are given'}")


def _cost(plan: Plan) -> Iterator[str]:
    cost, bound = plan.cost, plan.bound
    names = {"moves": "replicas copied", "bytes": "bytes copied", "leader_changes": "leader changes"}
    comparable = COSTS if plan.comparison is None else plan.comparison.comparable
    yield f"{'cost':<20}{'plan':>14}{'at least':>14}{'above':>10}" if bound else f"{'cost':<20}{'plan':>14}"
    for name, words in names.items():
        value, least = getattr(cost, name), getattr(bound, name, None)
        if value is None:
            continue
        show = bytes_text if name == "bytes" else _number
        above = "" if least is None else _above(value, least, show) if name in comparable else "-"
        yield f"  {words:<18}{show(value):>14}" + ("" if least is None else f"{show(least):>14}{above:>10}")
    yield f"  {'partitions changed':<18}{cost.touched:>14,}  of which {cost.reorders:,} only reordered"
    if bound is not None:
        yield f"  {bound.method if plan.comparison is None else 'the best plan: ' + bound.method}"
    if plan.comparison is not None:
        yield from wrap(plan.comparison.verdict, WIDTH, initial_indent="  this one: ", subsequent_indent="  ")


def _number(value: int) -> str:
    return f"{value:,}"


def _above(value: int, least: int, show: Callable[[int], str]) -> str:
    percent = above_percent(value, least)
    return f"+{show(value - least)}" if percent is None else f"{percent:.1f} %"


def _balance(plan: Plan) -> Iterator[str]:
    before, after = plan.before, plan.after
    yield f"{'balance':<20}{'before':>22}{'after':>22}"
    rows = [
        ("replicas a broker", _range(before.replicas), _range(after.replicas)),
        ("leaders a broker", _range(before.leaders), _range(after.leaders)),
        ("disk spread", _percent(before.disk_spread_percent), _percent(after.disk_spread_percent)),
        ("topic spread", f"{before.topic_spread:.2f}", f"{after.topic_spread:.2f}"),
        ("rack violations", _count(before.rack_violations), _count(after.rack_violations)),
        ("on leaving or dead", f"{before.elsewhere:,}", f"{after.elsewhere:,}"),
    ]
    for name, old, new in rows:
        yield f"  {name:<18}{old:>22}{new:>22}"


def _range(found: Range) -> str:
    return f"{found.least:,}-{found.most:,} ({found.spread:,})"


def _percent(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1f} %"


def _count(value: int | None) -> str:
    return "not looked at" if value is None else f"{value:,}"


def _drills(before: DrillFigures, after: DrillFigures) -> Iterator[str]:
    if before.not_forecast:
        yield from wrap(before.not_forecast, WIDTH)
    yield f"{'drills: partitions hurt':<20}{'before':>19}{'after':>22}"
    for name in ("broker", "pair", "rack"):
        old, new = getattr(before, name), getattr(after, name)
        if old is not None or new is not None:
            yield f"  {'worst ' + name:<18}{_worst(old):>22}{_worst(new):>22}"
    if before.loss is not None or after.loss is not None:
        yield f"  {'chance of loss':<18}{_chance(before):>22}{_chance(after):>22}"
        yield f"  (all in-sync replicas of a partition are lost, each broker with {100 * after.loss_rate:g} %)"


def _worst(worst: Worst | None) -> str:
    if worst is None:
        return "not drilled"
    who = "" if not worst.kill else f" ({worst.rack or 'b' + '+b'.join(map(str, worst.kill))})"
    return f"{worst.hurt:,}{plain(who)}{' NO QUORUM' if worst.quorum_lost else ''}"


def _chance(figures: DrillFigures) -> str:
    return "unknown" if figures.loss is None else f"{100 * figures.loss:.3g} %"


def _brokers(before: Balance, after: Balance, everything: bool) -> Iterator[str]:
    old = {share.broker: share for share in before.brokers}
    shown = after.brokers if everything else after.brokers[:MOST_ROWS]
    size = "" if after.disk_spread_percent is None else f"{'bytes':>24}"
    yield f"{'broker':<8}{'rack':<10}{'replicas':>18}{'leaders':>18}{size}"
    for share in shown:
        was = old.get(share.broker, share)
        yield (
            f"  b{share.broker:<5}{plain(share.rack or '-', 9)} {_arrow(was.replicas, share.replicas):>18}"
            f"{_arrow(was.leaders, share.leaders):>18}{_bytes_arrow(was, share)}"
        )
    yield from more(len(after.brokers) - len(shown))


def _arrow(before: int, after: int) -> str:
    return f"{before:,} → {after:,}"


def _bytes_arrow(before: BrokerShare, after: BrokerShare) -> str:
    if before.bytes is None or after.bytes is None:
        return ""
    return f"{bytes_text(before.bytes)} → {bytes_text(after.bytes)}".rjust(24)


def _controller(plan: Plan) -> Iterator[str]:
    """What KRaft's controller makes of it."""
    found = figures_of(plan.courses.values())
    yield from wrap(f"the controller, by the {plan.rules}", WIDTH, subsequent_indent="  ")
    yield f"  {'partition records':<18}{found.records:>14,}  if copies get into the ISR one by one"
    yield f"  {'leaders move':<18}{found.moved_by_reassignment:>14,}  with the reassignment"
    yield f"  {'':<18}{found.moved_by_election:>14,}  with the preferred election after it"
    for rise, count in found.epochs:
        yield f"  {f'leader epoch +{rise}':<18}{count:>14,}  {'partition' if count == 1 else 'partitions'}"
    if found.waiting:
        yield f"  {'not complete':<18}{found.waiting:>14,}  see the notes below"


def _batches(plan: Plan, everything: bool) -> Iterator[str]:
    pace, shown = plan.pace, plan.batches if everything else plan.batches[:MOST_ROWS]
    if pace is not None:
        yield from _pace(pace)
    yield f"{counted(len(plan.batches), 'batch', 'batches')}, run each when the one before is done:"
    for batch in shown:
        yield f"  {batch.number:>4}  {_batch(batch, pace)}"
    yield from more(len(plan.batches) - len(shown))


def _batch(batch: PlanBatch, pace: PlanPace | None) -> str:
    parts = f"{counted(batch.end - batch.first, 'partition')}, {counted(batch.moves, 'copy', 'copies')}"
    if batch.bytes is None or batch.busiest_bytes is None:
        return f"{parts}, at most {batch.busiest_replicas:,} to or from a broker"
    took = "" if pace is None else f", {duration_text(batch.busiest_bytes / pace.rate)}"
    return f"{parts}, {bytes_text(batch.bytes)}, busiest broker {bytes_text(batch.busiest_bytes)}{took}"


_GIVEN = {"rate": "as given", "time": "what that time takes", "nothing": "assumed: say --throttle or --within"}


def _pace(pace: PlanPace) -> Iterator[str]:
    rate = f"{pace.rate} ({bytes_text(pace.rate)}/s a broker)"
    yield f"throttle   {rate}, {_GIVEN[pace.given]}"
    yield f"time       about {duration_text(pace.seconds)}, batch after batch, if the network can carry it"
    yield from wrap(_THROTTLE, WIDTH, initial_indent=" " * 11, subsequent_indent=" " * 11)


_THROTTLE = (
    "As --throttle of Kafka's tool it becomes leader.replication.throttled.rate of brokers that send and "
    "follower.replication.throttled.rate of those that receive. Keep it above what is produced to the partitions "
    "that move, or they never catch up; --verify removes the throttles when all is done."
)


def _changes(changes: Sequence[ReplicaChange], everything: bool) -> Iterator[str]:
    shown = changes if everything else changes[:MOST_ROWS]
    yield f"{counted(len(changes), 'partition')}, in the order of the batches:"
    old = max(len(replicas(change.before)) for change in shown)
    new = max(len(replicas(change.after)) for change in shown)
    for change in shown:
        size = f"{'' if change.bytes is None else bytes_text(change.bytes):>9}  "
        yield f"  {replicas(change.before):<{old}} → {replicas(change.after):<{new}} {size}{plain(str(change.name))}"
    yield from more(len(changes) - len(shown))
