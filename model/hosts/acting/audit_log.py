"""What was done to clusters, line by line in a file that only its owner reads. Secrets never get there.

A line before an action says what is about to be done, the line after it with the same `id` what became of it: a first
line without a second one is an action whose end nobody saw.
"""

import fcntl
import getpass
import os
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec

from model.actions.proposal import ApiCall, Proposal, Step
from model.cluster.secrets import HIDDEN, is_sensitive_name
from model.cluster.visible_json import visible_json
from model.hosts.acting.writer import Outcome
from model.log.durable_file import fsync_folder
from model.znodes.secrets import redact

FILE = "audit.jsonl"


class AuditLog:
    """Appends to `audit.jsonl` in a folder; `source` is the cluster as the operator named it."""

    def __init__(self, folder: Path, source: str, now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000):
        self._file = folder / FILE
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

    def end(self, number: str, outcome: Outcome) -> None:
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
