"""A proposal carried out: checked again, written to the audit log, done step by step up to the first failure, logged.

A writer decides nothing and repeats nothing. The audit log is a file that only its owner can read; secrets never get
there. Its line before an action says what is about to be done, the line after it, with the same `id`, what became of
it: a first line without a second one is an action whose end nobody saw.
"""

import fcntl
import getpass
import os
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal, Protocol, cast

import msgspec

from model.actions.proposal import ActionRefused, ApiCall, Proposal, Step, ZnodeWrite
from model.cluster.texts import HIDDEN, is_sensitive_name, visible_json
from model.log.checkpoints import fsync_folder
from model.znodes.codec import redact


class WriteOutcome(msgspec.Struct, frozen=True):
    """What became of steps.

    `done`: all of them; `refused`: the cluster did not take one, and nothing behind it was sent; `unknown`: one was
    sent and no answer came, so that the cluster has to be looked at.
    """

    kind: Literal["done", "refused", "unknown"]
    said: str = ""
    """One line for the operator: why, and what was found."""
    done: int = 0
    """How many steps are known to be done."""
    unwritten: str = ""
    """Why the audit log does not say what became of them; empty where it does."""

    @property
    def told(self) -> str:
        """`said`, and what is not written down; for one that is done, too."""
        unwritten = f"{'done, but ' if self.kind == 'done' else ''}not written down: {self.unwritten}"
        return "; ".join(filter(None, (self.said, unwritten if self.unwritten else "")))


class UnansweredError(Exception):
    """A request may have reached the brokers, and no answer came; one line."""


class UnwrittenError(Exception):
    """Something was done and could not be written down, so that nothing goes on; one line."""


class Writer(Protocol):
    """Takes steps of one kind. Blocks, and is used from one thread."""

    def check(self, steps: Sequence[Step]) -> str:
        """Why they cannot be done any more, one line; empty where nothing speaks against it. Writes nothing."""
        ...

    def carry_out(self, steps: Sequence[Step]) -> WriteOutcome:
        """All of them in order, up to the first that fails."""
        ...

    def close(self) -> None:
        """Lets go of the cluster."""
        ...


AUDIT_FILE = "audit.jsonl"


class AuditLog:
    """Appends to `audit.jsonl` in a folder; `source` is the cluster as the operator named it."""

    def __init__(self, folder: Path, source: str, now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000):
        self._file = folder / AUDIT_FILE
        self._source = source
        self._now_ms = now_ms

    @property
    def file(self) -> Path:
        """Where the lines are."""
        return self._file

    def begin(self, proposal: Proposal) -> str:
        """What is about to be done; the action's id. Raises OSError: what cannot be written down is not done.

        The line is on the disk, whole, when this returns; where that fails nothing of it is.
        """
        number = uuid.uuid4().hex
        self._append({"id": number, "title": proposal.title, "steps": [shown(step) for step in proposal.steps]})
        return number

    def end(self, number: str, outcome: WriteOutcome) -> None:
        """What became of it. Raises OSError, and nothing of the line is there."""
        self._append({"id": number, "outcome": outcome.kind, "said": outcome.said, "done": outcome.done})

    def _append(self, fields: dict[str, object]) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        line = msgspec.json.encode({"time_ms": self._now_ms(), "user": _user(), "source": self._source, **fields})
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(descriptor, 0o600)
            fsync_folder(self._file.parent)
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # what is cut off below is ours, and no other kdrill's
            _append_whole(descriptor, visible_json(line) + b"\n")
        finally:
            os.close(descriptor)


def _append_whole(descriptor: int, line: bytes) -> None:
    """At the end of a file, until it is on the disk; or nothing, and OSError."""
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        line = b"\n" + line  # whoever wrote the last one died over it
    try:
        left = memoryview(line)
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def shown(step: Step) -> dict[str, object]:
    """A step as plain values for people and files, without secrets."""
    if isinstance(step, ApiCall):
        return {"api": step.api, "fields": _without_secrets(step.fields), "expects": dict(step.expects)}
    fields: dict[str, object] = {"operation": step.operation, "path": step.path, "version": step.version}
    for name, data in (("before", step.before), ("after", step.after)):
        if data is not None:
            fields[name] = redact(step.path, data).decode(errors="replace")
    return fields


def _without_secrets(value: object) -> object:
    if isinstance(value, Mapping):
        fields = cast("Mapping[object, object]", value)
        return {key: _hidden(str(key), item) for key, item in fields.items()}
    if isinstance(value, list | tuple):
        return [_without_secrets(item) for item in cast("Sequence[object]", value)]
    return value


def _hidden(name: str, value: object) -> object:
    return HIDDEN if isinstance(value, str) and is_sensitive_name(name) else _without_secrets(value)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an id without a name
        return str(os.getuid())


class Writers(msgspec.Struct, frozen=True):
    """Who takes which steps; None: nobody here does."""

    znodes: Writer | None = None
    calls: Writer | None = None

    def close(self) -> None:
        """Lets go of both."""
        for writer in (self.znodes, self.calls):
            if writer is not None:
                writer.close()


def carry_out(proposal: Proposal, writers: Writers, audit: AuditLog) -> WriteOutcome:
    """What became of it. Raises ActionRefused, and nothing was done, where it does not hold any more.

    Also where it cannot be written down; that it was done, and could not be written down then, the outcome says.
    """
    groups = [
        (writers.znodes if is_write else writers.calls, tuple(steps))
        for is_write, steps in groupby(proposal.steps, lambda step: isinstance(step, ZnodeWrite))
    ]
    for writer, steps in groups:
        if writer is None:
            raise ActionRefused(f"{proposal.title}: no way to carry out {steps[0]}: name brokers with --bootstrap")
        if objection := writer.check(steps):
            raise ActionRefused(objection)
    try:
        number = audit.begin(proposal)
    except OSError as error:
        raise ActionRefused(f"{_unwritten(audit, error)}; nothing was done") from None
    outcome, done = WriteOutcome("done"), 0
    for writer, steps in groups:
        assert writer is not None
        outcome = writer.carry_out(steps)
        done += outcome.done
        if outcome.kind != "done":
            break
    outcome = msgspec.structs.replace(outcome, done=done)
    try:
        audit.end(number, outcome)
    except OSError as error:
        return msgspec.structs.replace(outcome, unwritten=_unwritten(audit, error))
    return outcome


def _unwritten(audit: AuditLog, error: OSError) -> str:
    return f"{audit.file} cannot be written: {error.strerror or error}"
