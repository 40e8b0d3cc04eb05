"""Stretches of a metadata log that other processes record."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.recordings.folder import RecordingError
from model.sources.metadata_log.recorded import record_log
from tests.model.sources.test_recorded_log import DEATHS, history_in


def test_processes_tell_what_this_one_does() -> None:
    assert history_in(DEATHS, 20_000, processes=2) == history_in(DEATHS, 20_000)


def test_a_process_that_fails_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / ".stretch-1").write_text("no folder")
    with pytest.raises(RecordingError, match=f"^{DEATHS}: .*stretch-1.*: cannot be written: "):
        record_log(DEATHS, tmp_path, print, stretch_bytes=20_000, processes=2)
