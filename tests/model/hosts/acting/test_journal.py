"""A reassignment's journal that somebody has edited."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from model.actions.proposal import ActionRefused
from model.actions.reassignment import ReassignmentPlan, ReplicaMove
from model.actions.reassignment_run import started
from model.hosts.acting.reassigning import JOURNAL_FORMAT, JournalFile, ReassignmentJournal

MOVES = tuple(ReplicaMove("orders\x7f", number, (1, 2), (2, 3)) for number in range(3))
RUN = ReassignmentPlan(
    source="zk://a", plan="plan.json", begun_ms=1, route="zookeeper", moves=MOVES, ends=(2, 3), rate=1000
)


@pytest.mark.parametrize(("ends", "batch"), [((), 0), ((2, 3), 2), ((2, 3), -1), ((3, 2), 0), ((0, 3), 0), ((2, 9), 0)])
def test_batches_that_are_not_there(tmp_path: Path, ends: tuple[int, ...], batch: int) -> None:
    journal = ReassignmentJournal(tmp_path, "c")
    state = msgspec.structs.replace(started(RUN), run=msgspec.structs.replace(RUN, ends=ends), batch=batch)
    journal.file.parent.mkdir()
    journal.file.write_bytes(msgspec.json.encode(JournalFile(JOURNAL_FORMAT, "c", state)))
    with pytest.raises(ActionRefused, match=r"it names batches that are not there; move it away$"):
        journal.read()


def test_nesting_without_end(tmp_path: Path) -> None:
    journal = ReassignmentJournal(tmp_path, "c")
    journal.file.parent.mkdir()
    journal.file.write_bytes(b"[" * 100_000)
    with pytest.raises(ActionRefused, match="cannot be used"):
        journal.read()


def test_what_is_written_can_be_shown_and_is_read_again(tmp_path: Path) -> None:
    with ReassignmentJournal(tmp_path, "c") as journal:
        journal.write(started(RUN))
    assert journal.file.read_text().isprintable()
    assert journal.read() == started(RUN)
