"""A plan as files that Kafka's reassignment tool executes, and files that undo it. It writes nothing.

Format: `ReassignPartitionsCommand.parseExecuteAssignmentArgs` (3.9), read back by `model.controller.reassignment_file`.
Kafka does not look at keys that it does not know, in the file and in its partitions: `kdrill` says which moment of
which cluster the file is for and how the plan was cut into batches, and `current` what a partition's replicas were
then. A bare file has neither.
"""

import json
from collections.abc import Mapping, Sequence

import msgspec

from model.planning.plan import Change, Plan
from model.planning.refusal import PlanError
from model.planning.request import Batching

FORMAT = "kdrill.reassignment/1"


def forward(plan: Plan, changes: Sequence[Change] | None = None, *, is_bare: bool = False) -> str:
    """The file that carries out these changes, or all of the plan."""
    rows = plan.changes if changes is None else changes
    return _file(plan, [(change, change.after, change.before) for change in rows], is_bare)


def rollback(plan: Plan, changes: Sequence[Change] | None = None, *, is_bare: bool = False) -> str:
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


def _file(plan: Plan, rows: Sequence[tuple[Change, tuple[int, ...], tuple[int, ...]]], is_bare: bool) -> str:
    about = {
        "format": FORMAT,
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
