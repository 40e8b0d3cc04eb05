"""The audit log where there is no room for it: nothing is sent unless its line is whole on the disk."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from model.actions.proposal import ActionRefused, Proposal, Step, create
from model.hosts.acting.carrying_out import AuditLog, WriteOutcome, Writers, carry_out
from tests.limited_room import room_in

PROPOSAL = Proposal("a try", (create("/a"),))
BEFORE = b'{"time_ms":1}\n' * 10_000
"""Lines of earlier days; nothing else that is written meanwhile gets as long."""


class Kept:
    """A writer of which only the count of what it was given matters; a `Writer`."""

    def __init__(self) -> None:
        self.sent = 0

    def check(self, steps: Sequence[Step]) -> str:
        return ""

    def carry_out(self, steps: Sequence[Step]) -> WriteOutcome:
        self.sent += len(steps)
        return WriteOutcome("done", done=len(steps))

    def close(self) -> None:
        pass


@pytest.fixture
def audit(tmp_path: Path) -> AuditLog:
    audit = AuditLog(tmp_path, "zk://a", lambda: 1)
    audit.file.write_bytes(BEFORE)
    return audit


def sizes(audit: AuditLog) -> tuple[int, int]:
    """Of the lines before and after an action."""
    carry_out(PROPOSAL, Writers(znodes=Kept()), audit)
    before, after = audit.file.read_bytes().removeprefix(BEFORE).splitlines(keepends=True)
    audit.file.write_bytes(BEFORE)
    return len(before), len(after)


def test_whatever_room_there_is_no_line_is_half_and_nothing_unwritten_is_done(audit: AuditLog) -> None:
    first, second = sizes(audit)
    for room in (0, 1, 84, first - 1, first, first + 1, first + second - 1, first + second):
        writer, refused, outcome = Kept(), "", None
        with room_in(audit.file, room):
            try:
                outcome = carry_out(PROPOSAL, Writers(znodes=writer), audit)
            except ActionRefused as refusal:
                refused = str(refusal)
        lines = audit.file.read_bytes().removeprefix(BEFORE)
        audit.file.write_bytes(BEFORE)
        full = f"{audit.file} cannot be written: File too large"
        if room < first:
            assert (writer.sent, refused, lines) == (0, f"{full}; nothing was done", b"")
            continue
        assert outcome is not None
        assert (writer.sent, outcome.kind, refused) == (1, "done", "")
        assert outcome.unwritten == ("" if room >= first + second else full)
        assert outcome.told == (outcome.unwritten and f"done, but not written down: {full}")
        assert len(lines) == (first + second if room >= first + second else first)
        assert next(map(json.loads, lines.splitlines()))["title"] == "a try"


def test_a_half_of_a_line_that_was_left_behind_spoils_no_other(audit: AuditLog) -> None:
    audit.file.write_bytes(BEFORE + b'{"time_ms":1,"us')
    carry_out(PROPOSAL, Writers(znodes=Kept()), audit)
    half, *whole = audit.file.read_bytes().removeprefix(BEFORE).splitlines()
    assert half == b'{"time_ms":1,"us'
    assert [json.loads(line).get("outcome") for line in whole] == [None, "done"]
