"""A plan as a kdrill.plan/1 document, and as files that Kafka's reassignment tool executes or that undo it.

The document is plain values for JSON. Times are ms since epoch, sizes bytes.

| field | what it is |
|---|---|
| `maker` | `kdrill`, or the file that was scored |
| `source`, `cluster_id`, `zxid`, `time_ms` | the cluster, and the moment the plan is for |
| `sizes` | where sizes come from; null: unknown, and so are all bytes below |
| `request` | what was asked for, as `PlanRequest` |
| `objectives` | sentences, in the order in which they count |
| `cost` | `moves` (replicas copied), `bytes`, `leader_changes`, `touched`, `reorders` |
| `bound` | what no plan for the request can fall below that is as good in each objective before; `method`, |
| | `is_proven`, and `above_percent` of each cost: null beside 0, or if low at the price of an objective before |
| `standing` | of a file that was scored for a request, in a sentence: how it stands to the best plan; else null |
| `before`, `after` | `replicas` and `leaders` (`least`, `most`, `spread`), `disk_spread_percent`, `topic_spread`, |
| | `rack_violations`, `elsewhere` (partitions with a replica on a broker that leaves or is dead), `brokers` |
| `batches` | `number`, `first` and `end` in `partitions`, `moves`, `bytes`, and what the busiest broker has of each |
| `pace` | `rate` (bytes/s a broker), `seconds` for all batches, and which was `given` |
| `drills` | `before` and `after`: the worst `broker`, `pair`, `rack`, and the probability of `loss` at `loss_rate` |
| `notes` | sentences: what was left alone, and why |
| `controller` | of a KRaft cluster: what its controller makes of the plan: `rules`, `records`, leaders |
| | `moved_by_reassignment` and `moved_by_election`, `epochs` ([rise, partitions]), `waiting` |
| `partitions` | in the order of batches: `topic`, `partition`, `replicas` [before, after], `bytes` of one replica; |
| | on KRaft `leader` [now, moved, after the preferred election], `leader_epoch`, `partition_epoch` (null: unknown) |
| | and `elr`, [now, then], and `waits_for` |

Files of Kafka's tool are as `ReassignPartitionsCommand.parseExecuteAssignmentArgs` (3.9) reads them, and
`model.controller.requests` reads them back. Kafka does not look at keys that it does not know, in the
file and in its partitions: `kdrill` says which moment of which cluster the file is for and how the plan was cut into
batches, and `current` what a partition's replicas were then. A bare file has neither.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from model.planning.kraft_course import figures_of
from model.planning.layout import Balance
from model.planning.plan import COSTS, Bound, Plan, ReplicaChange
from model.planning.request import Batching, PlanError

PLAN_FORMAT = "kdrill.plan/1"

Document = dict[str, Any]


def document_of(plan: Plan, others: Mapping[str, Any]) -> Document:
    """The whole plan; `others` are entries beside those of the plan, of whoever knows more about it."""
    return {
        "format": PLAN_FORMAT,
        "maker": plan.maker,
        "source": plan.source,
        "cluster_id": plan.cluster_id,
        "zxid": plan.zxid,
        "time_ms": plan.time_ms,
        "sizes": plan.sizes or None,
        "request": msgspec.to_builtins(plan.request),
        "objectives": plan.objectives,
        "cost": msgspec.to_builtins(plan.cost),
        "bound": None if plan.bound is None else _bound(plan, plan.bound),
        "standing": None if plan.comparison is None else plan.comparison.verdict,
        "before": _balance(plan.before),
        "after": _balance(plan.after),
        "batches": msgspec.to_builtins(plan.batches),
        "pace": msgspec.to_builtins(plan.pace),
        "notes": plan.notes,
        **({"controller": _controller(plan)} if plan.rules else {}),
        **others,
        "partitions": [_partition(plan, change) for change in plan.changes],
    }


def _controller(plan: Plan) -> Document:
    return {"rules": plan.rules, **msgspec.to_builtins(figures_of(plan.courses.values()))}


def _partition(plan: Plan, change: ReplicaChange) -> Document:
    facts: Document = {
        "topic": change.topic,
        "partition": change.partition,
        "replicas": [change.before, change.after],
        "bytes": change.bytes,
    }
    course = plan.courses.get(change.name)
    if course is None:
        return facts
    now, then = course.before, course.after
    knows_epoch = now.partition_epoch >= 0
    return facts | {
        "leader": [now.leader, course.moved.leader, then.leader],
        "leader_epoch": [now.leader_epoch, then.leader_epoch],
        "partition_epoch": [now.partition_epoch, then.partition_epoch] if knows_epoch else None,
        "elr": [now.elr, then.elr],
        "waits_for": course.waits_for,
    }


def _bound(plan: Plan, bound: Bound) -> Document:
    comparable = COSTS if plan.comparison is None else plan.comparison.comparable
    costs = {name: (getattr(plan.cost, name), getattr(bound, name)) for name in COSTS}
    above = {
        name: None if None in pair or name not in comparable else above_percent(*pair) for name, pair in costs.items()
    }
    return {**msgspec.to_builtins(bound), "above_percent": above}


def above_percent(cost: int, bound: int) -> float | None:
    """How far a cost lies above its bound; None where the bound is zero and the cost is not."""
    return 0.0 if cost == bound else None if not bound else round(100 * (cost - bound) / bound, 2)


def _balance(balance: Balance) -> Document:
    document = msgspec.to_builtins(balance)
    for name in ("replicas", "leaders"):
        document[name]["spread"] = getattr(balance, name).spread
    return document


REASSIGNMENT_FORMAT = "kdrill.reassignment/1"


def forward(plan: Plan, changes: Sequence[ReplicaChange] | None = None, *, is_bare: bool = False) -> str:
    """The file that carries out these changes, or all of the plan."""
    rows = plan.changes if changes is None else changes
    return _file(plan, [(change, change.after, change.before) for change in rows], is_bare)


def rollback(plan: Plan, changes: Sequence[ReplicaChange] | None = None, *, is_bare: bool = False) -> str:
    """The file that undoes these changes, or all of the plan: the last first."""
    rows = plan.changes if changes is None else changes
    return _file(plan, [(change, change.before, change.after) for change in reversed(rows)], is_bare)


class _About(msgspec.Struct, frozen=True):
    batching: Batching = Batching()


class _Known(msgspec.Struct, frozen=True):
    kdrill: _About = _About()


def batching_in(text: bytes, name: str) -> Batching:
    """How the plan in a file was cut into batches; as always where it does not say so. Raises PlanError."""
    if not text.lstrip().startswith(b"{"):
        return Batching()  # another tool's
    try:
        return msgspec.json.decode(text, type=_Known).kdrill.batching
    except msgspec.ValidationError as error:
        raise PlanError(f"{name}: what kdrill wrote into it was changed: {error}") from None


def _file(plan: Plan, rows: Sequence[tuple[ReplicaChange, tuple[int, ...], tuple[int, ...]]], is_bare: bool) -> str:
    about = {
        "format": REASSIGNMENT_FORMAT,
        "source": plan.source,
        "cluster_id": plan.cluster_id,
        "zxid": plan.zxid,
        "time_ms": plan.time_ms,
        "batching": msgspec.to_builtins(plan.request.batching),
    }
    entries = (
        {"topic": change.topic, "partition": change.partition, "replicas": to, **({} if is_bare else {"current": now})}
        for change, to, now in rows
    )
    body = ",\n".join(map(_compact, entries))
    head = "" if is_bare else f',"kdrill":{_compact(about)}'
    return f'{{"version":1{head},"partitions":[\n{body}\n]}}\n'


def _compact(value: Mapping[str, object]) -> str:
    # In ASCII: names come from znodes, and the file may be read on a terminal.
    return json.dumps(value, separators=(",", ":"))
