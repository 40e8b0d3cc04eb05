"""A log against a plain list of batches, through whatever may happen to it: nothing synced is lost, nothing invented.

A crash keeps what the operating system had written: of segments that were not synced any tail may be missing, may be
followed by garbage, and their indexes and snapshots may be anything.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from model.log.lookup import find_offset, find_time, readable_segments
from model.log.names import INDEX, LOG, TIME_INDEX
from model.log.partition_log import PartitionLog
from model.log.recovery import Checkpointed, open_log
from model.log.segment import Segment
from model.log.settings import LogSettings
from tests.model.log.batches import START_MS, all_records, batch, batches_in

SETTINGS = LogSettings(
    segment_bytes=700, index_interval_bytes=150, segment_index_bytes=600, retention_bytes=1_500, retention_ms=-1
)


@dataclass(frozen=True)
class Written:
    """A batch that is in the log, as the list knows it."""

    first: int
    values: tuple[str, ...]
    time_ms: int

    @property
    def last(self) -> int:
        return self.first + len(self.values) - 1


class LogMachine(RuleBasedStateMachine):
    """Does the same to a log and to a list."""

    @initialize()
    def open_empty(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="log-")) / "t-0"
        self.batches: list[Written] = []
        self.start = self.end = self.synced = 0
        self.count = 0
        self.log = self.reopen(Checkpointed())

    def teardown(self) -> None:
        shutil.rmtree(self.folder.parent, ignore_errors=True)

    def reopen(self, checkpointed: Checkpointed) -> PartitionLog:
        self.log, self.report = open_log(self.folder, SETTINGS, checkpointed, now_ms=START_MS)
        return self.log

    @rule(sizes=st.lists(st.integers(0, 60), min_size=1, max_size=4), time_ms=st.integers(0, 500))
    def append(self, sizes: list[int], time_ms: int) -> None:
        self.count += 1
        values = tuple(f"{self.count}." + "x" * size for size in sizes)
        appended = self.log.append_as_leader(
            batch(*values, time_ms=START_MS + time_ms), leader_epoch=0, now_ms=START_MS
        )
        assert (appended.first_offset, appended.last_offset) == (self.end, self.end + len(values) - 1)
        self.batches.append(Written(self.end, values, START_MS + time_ms))
        self.end = self.log.set_high_watermark(self.log.end_offset)

    @rule()
    def roll(self) -> None:
        self.log.roll(START_MS)

    @rule()
    def sync(self) -> None:
        self.log.flush()
        self.synced = self.log.recovery_point

    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        edges = {each.first for each in self.batches} | {self.end, max(self.log.segments.first.base_offset - 1, 0)}
        offset = data.draw(st.sampled_from(sorted(edges)), "offset")  # as leader epochs see to it
        first_base = self.log.segments.first.base_offset
        self.log.truncate_to(offset, now_ms=START_MS)
        self.batches = [each for each in self.batches if each.last < offset and offset >= first_base]
        self.start, self.end, self.synced = (min(each, offset) for each in (self.start, self.end, self.synced))

    @rule(data=st.data())
    def delete_records(self, data: st.DataObject) -> None:
        self.start = data.draw(st.integers(self.start, self.end), "offset")
        self.log.advance_start(self.start)

    @rule()
    def retain(self) -> None:
        size = self.log.size_bytes
        deleted = {deletion.base_offset for deletion in self.log.apply_retention(START_MS)}
        assert self.log.size_bytes >= min(size, 1_500) or self.start > 0
        self.start = max(self.start, self.log.segments.first.base_offset)
        assert all(base < self.start or base == self.end for base in deleted)

    @rule()
    def restart(self) -> None:
        self.log.close(now_ms=START_MS)
        before = {
            path.name: path.read_bytes() for path in self.folder.iterdir() if path.suffix in (LOG, INDEX, TIME_INDEX)
        }
        self.reopen(Checkpointed(True, self.end, self.end, self.start))
        assert not self.report.rebuilt
        self.log.close(now_ms=START_MS)
        assert before == {name: (self.folder / name).read_bytes() for name in before}
        self.reopen(Checkpointed(True, self.end, self.end, self.start))
        self.synced = self.end

    @precondition(lambda self: self.batches)
    @rule(data=st.data())
    def crash(self, data: st.DataObject) -> None:
        in_doubt = self.log.segments.from_offset(self.synced)
        for segment in self.log.segments:
            segment.close()
        segment = data.draw(st.sampled_from(in_doubt), "segment")
        safe = self._synced_bytes(segment)
        cut = data.draw(st.integers(safe, segment.size_bytes), "byte")
        tail = data.draw(st.one_of(st.just(b""), st.binary(max_size=80), st.integers(0, 80).map(bytes)), "tail")
        later = [each.base_offset for each in self.log.segments if each.base_offset > segment.base_offset]
        path = segment.path(LOG)
        written = path.read_bytes()
        left = written[:cut] + tail  # which may end as what was written does
        whole = [each for each in segment.batches() if left.startswith(written[: each.end])]
        torn = [each.base_offset for each in segment.batches()][len(whole) :]
        is_seen = len(left) != max((each.end for each in whole), default=0)
        path.write_bytes(left)
        for each in in_doubt:
            each.path(INDEX).write_bytes(data.draw(st.binary(max_size=40), "index"))
            if data.draw(st.booleans(), "time index is gone"):
                each.path(TIME_INDEX).unlink()
        self.reopen(Checkpointed(False, self.synced, self.synced, self.start))
        assert self.log.end_offset >= self.synced
        if is_seen:
            lost_from = min((*torn, *later), default=self.end)
            self.batches = [each for each in self.batches if each.first < lost_from]
        else:  # nothing shows that batches are missing: the segments behind them stay, as Kafka's do
            self.batches = [each for each in self.batches if each.first not in torn]
        self.end = self.log.end_offset
        assert not self.batches or self.end >= self.batches[-1].last + 1
        self.start = min(self.start, self.end)
        self.log.set_high_watermark(self.end)

    def _synced_bytes(self, segment: Segment) -> int:
        """What of a segment is on disk for sure."""
        return max((each.end for each in segment.batches() if each.last_offset < self.synced), default=0)

    @invariant()
    def the_log_is_the_list(self) -> None:
        if not hasattr(self, "log"):
            return
        assert (self.log.start_offset, self.log.end_offset) == (self.start, self.end)
        expected = [
            (each.first + number, value, each.time_ms)
            for each in self.batches
            for number, value in enumerate(each.values)
            if each.first + number >= self.start
        ]
        found = [(each.offset, (each.value or b"").decode(), each.timestamp) for each in all_records(self.log)]
        assert found == expected

    @invariant()
    def lookups_agree(self) -> None:
        if not hasattr(self, "log") or not self.batches:
            return
        segments = readable_segments(self.folder)
        for offset in {self.start, (self.start + self.end) // 2, self.end - 1} - {-1}:
            fetched = self.log.read(max(offset, self.start), max_bytes=1)
            steps = find_offset(segments, max(offset, self.start))
            if not fetched.data:
                assert steps.batch is None
                continue
            [read] = batches_in(fetched.data)
            assert steps.batch is not None
            assert (steps.batch.base_offset, steps.batch.crc) == (read.base_offset, read.crc)
        for time_ms in (START_MS, START_MS + 250):
            fast = self.log.find_timestamp(time_ms)
            slow = find_time(segments, time_ms).record
            if slow is None or slow.offset >= self.start:  # steps do not know where the log starts
                assert (None if slow is None else slow.offset) == (None if fast is None else fast.offset)


TestLog = LogMachine.TestCase
TestLog.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
