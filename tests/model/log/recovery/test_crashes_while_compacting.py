"""A crash at every step with which a compaction puts its segments into place: a reader's table is the same."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from model.log.compaction import Compaction
from model.log.partition_log import PartitionLog
from model.log.recovery import Checkpointed, open_log
from model.log.settings import LogSettings
from tests.model.log.batches import START_MS, all_records, keyed

SETTINGS = LogSettings(
    cleanup_policy=frozenset({"compact"}), segment_bytes=700, index_interval_bytes=100, segment_index_bytes=1_200
)


class PowerCutError(Exception):
    """The machine is off."""


def filled(folder: Path) -> PartitionLog:
    """Three segments of two keys each, and one that is nearly empty, so that two of them become one."""
    log, _ = open_log(folder, SETTINGS, now_ms=START_MS)
    for number in range(16):
        log.append_as_leader(keyed([(f"k{number % 5}", f"{number:02d}" * 15)]), leader_epoch=0, now_ms=START_MS)
        if number in (4, 12):
            log.roll(START_MS)
    log.roll(START_MS)
    log.append_as_leader(keyed([("last", "x")]), leader_epoch=0, now_ms=START_MS)
    log.set_high_watermark(log.end_offset)
    log.flush()
    return log


def table(log: PartitionLog) -> dict[bytes | None, bytes | None]:
    return {record.key: record.value for record in all_records(log)}


@pytest.mark.parametrize("step", range(1, 32))
def test_a_power_cut_at_every_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    log = filled(tmp_path / "t-0")
    expected, end_offset = table(log), log.end_offset
    rename, left = os.replace, step

    def rename_until_the_cut(source: Any, target: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise PowerCutError
        rename(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", rename_until_the_cut)
        with pytest.raises(PowerCutError):
            Compaction(log, None, now_ms=START_MS).run()
    for segment in log.segments:
        segment.close()
    recovered, _ = open_log(
        tmp_path / "t-0", SETTINGS, Checkpointed(clean=False, recovery_point=end_offset), now_ms=START_MS
    )
    assert recovered.end_offset == end_offset
    assert table(recovered) == expected
    offsets = [record.offset for record in all_records(recovered)]
    assert offsets == sorted(set(offsets))
    Compaction(recovered, None, now_ms=START_MS).run()
    assert table(recovered) == expected
    assert not list((tmp_path / "t-0").glob("*.swap")) + list((tmp_path / "t-0").glob("*.cleaned"))
    recovered.close(now_ms=START_MS)
    _, report = open_log(tmp_path / "t-0", SETTINGS, Checkpointed(clean=True), now_ms=START_MS)
    assert report.rebuilt == ()
