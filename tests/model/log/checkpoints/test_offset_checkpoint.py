"""The offset checkpoints of a log folder: as Kafka writes them, and refused as a whole when they are not."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.log.checkpoints import read_offsets, write_offsets
from model.log.names import DamagedFileError


def test_offsets_by_partition(tmp_path: Path) -> None:
    path = tmp_path / "recovery-point-offset-checkpoint"
    write_offsets(path, {("orders", 1): 120, ("a-b", 0): 7})
    assert path.read_bytes() == b"0\n2\na-b 0 7\norders 1 120\n"
    assert read_offsets(path) == {("a-b", 0): 7, ("orders", 1): 120}
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize("content", [None, b"", b"0\n0\n"])
def test_no_file_and_no_entries_are_nothing(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "checkpoint"
    if content is not None:
        path.write_bytes(content)
    assert read_offsets(path) == {}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"1\n0\n", ", line 1: the version is '1', not 0"),
        (b"0\n", ", line 2: the number of entries is missing"),
        (b"0\nmany\n", ", line 2: the number of entries is missing"),
        (b"0\n%s\n" % (b"9" * 5_000), ", line 2: the number of entries is missing"),
        (b"0\n1\nt 0 9223372036854775808\n", ", line 3: 't 0 9223372036854775808' is no entry"),
        (b"0\n1\nt 0 1_0\n", ", line 3: 't 0 1_0' is no entry"),
        (b"0\n2\nt 0 1\n", ", line 2: 2 entries are promised, 1 are there"),
        (b"0\n1\nt 0 1\nt 1 1\n", ", line 2: 1 entries are promised, 2 are there"),
        (b"0\n1\nt 0\n", ", line 3: 't 0' is no entry"),
        (b"0\n2\nt 0 1\nt x 1\n", ", line 4: 't x 1' is no entry"),
        (b"0\n1\n\xff\n", ": byte 4 is not UTF-8"),
    ],
)
def test_anything_else_refuses_the_whole_file(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "checkpoint"
    path.write_bytes(content)
    with pytest.raises(DamagedFileError) as refusal:
        read_offsets(path)
    assert str(refusal.value) == f"{path}{complaint}"


@given(data=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "checkpoint"
    path.write_bytes(data)
    with suppress(DamagedFileError):
        assert all(isinstance(offset, int) for offset in read_offsets(path).values())
