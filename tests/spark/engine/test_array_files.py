"""Arrays as files: written once for the same arrays, kept while read, gone when there are newer ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spark_tasks import arrow_arrays
from spark_tasks.spark_client import ArrayFiles


async def test_the_newest_stays_and_others_live_as_long_as_they_are_read(tmp_path: Path):
    files = ArrayFiles(tmp_path)
    first, second = {"a": np.arange(3)}, {"a": np.arange(4)}
    async with files.of(first) as one:
        async with files.of(first) as again, files.of(second) as other:
            assert again == one != other
            assert arrow_arrays.open(other)["a"].tolist() == [0, 1, 2, 3]
        assert one.exists()
        assert other.exists()
    assert [*tmp_path.iterdir()] == [other]
    async with files.of(second) as same:
        assert same == other


async def test_what_cannot_be_written_is_said_and_forgotten(tmp_path: Path):
    files = ArrayFiles(tmp_path / "nowhere")
    arrays = {"a": np.arange(3)}
    with pytest.raises(FileNotFoundError):
        async with files.of(arrays):
            pass
    (tmp_path / "nowhere").mkdir()
    async with files.of(arrays) as file:
        assert file.exists()
