"""What the reader of a plan has to know, in sentences: what it puts first, second and so on, and what was left alone.

They change nothing in the plan.
"""

from collections.abc import Collection, Iterator

import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.texts import brokers, counted
from model.cluster.topic_image import NOBODY, Flags, widened
from model.drills.voters import turnout_after, turnout_text
from model.planning.layout import Layout
from model.planning.request import PlanRequest, Setting, on_any


def objectives_of(request: PlanRequest, layout: Layout, setting: Setting) -> tuple[str, ...]:
    """In the order in which they count."""
    return "; ".join(_hard(request, setting)), *_soft(request, layout)


def _hard(request: PlanRequest, setting: Setting) -> Iterator[str]:
    yield "a broker holds a partition once"
    if setting.leaving or setting.dead:
        yield "nothing new on brokers that leave or are dead"
    rule = setting.rack_rule or {}
    if request.reach in ("balance", "racks") and len({rule.get(broker) for broker in setting.staying}) > 1:
        yield "as many racks as there can be"
    if request.capacity is not None:
        yield f"no broker above {request.capacity:,} bytes"


def _soft(request: PlanRequest, layout: Layout) -> Iterator[str]:
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


def notes_on(before: Layout, setting: Setting, after: Layout) -> Iterator[str]:
    """About one plan, the gravest first."""
    yield from _left_behind(before, setting, after)
    if setting.coming:
        one = len(setting.coming) == 1
        yield (
            f"{brokers(setting.coming).capitalize()} {'is' if one else 'are'} not alive: "
            f"Kafka refuses the plan before {'it registers' if one else 'they register'}."
        )
    yield from _brokers_unknown(setting, before, after)
    if before.guessed:
        partitions = counted(before.guessed, "partition")
        yield f"{partitions} without a known size: taken to be as large as the others on average."
    if (before.replicas[:, 0] != after.replicas[:, 0]).any():
        yield "Leaders move with the next preferred leader election, not with the reassignment itself."
    if lost := {b for b in setting.leaving if b not in before.racks} & set(before.replicas.ravel().tolist()):
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


def _left_behind(before: Layout, setting: Setting, after: Layout) -> Iterator[str]:
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


def _brokers_unknown(setting: Setting, before: Layout, after: Layout) -> Iterator[str]:
    driven = on_any(before, setting.dead) & ~on_any(after, setting.dead)
    if driven.any():
        yield f"{_named(before, driven)} also on {brokers(setting.dead)}, dead: leaves there, too, as it moves anyway."
    kept = after.replicas[np.isin(after.replicas, list(setting.dead))]
    for broker in sorted({int(one) for one in kept if one != NOBODY}):
        replicas = counted(int((kept == broker).sum()), "replica")
        yield f"Broker {broker} is dead and keeps {replicas}, for it may come back; remove it to move them."
    rule = setting.rack_rule
    if rule is None or rule != setting.racks:
        silent = [broker for broker in setting.staying if setting.racks[broker] is None]
        one = len(silent) == 1
        verb, alone = ("names", "it counts") if one else ("name", "each counts")
        effect = "racks are not looked at" if rule is None else f"{alone} as a rack of its own"
        yield f"{brokers(silent).capitalize()} {verb} no rack: {effect}. Add it as ID:RACK to say which."


def _changed(before: Layout, after: Layout) -> Flags:
    width = max(before.replicas.shape[1], after.replicas.shape[1])
    return (widened(before.replicas, width) != widened(after.replicas, width)).any(axis=1)


def _named(layout: Layout, which: Flags) -> str:
    rows = np.flatnonzero(which)
    first = layout.name(int(rows[0]))
    return f"{counted(len(rows), 'partition')} ({first}{' and more' if len(rows) > 1 else ''})"
