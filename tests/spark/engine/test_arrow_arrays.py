"""Arrays survive the way through a file, whatever their type and shape."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from spark_tasks import arrow_arrays

DTYPES = st.one_of(
    st_numpy.boolean_dtypes(),
    st_numpy.integer_dtypes(endianness="?"),
    st_numpy.floating_dtypes(endianness="?", sizes=(32, 64)),
    st_numpy.unicode_string_dtypes(min_len=1, max_len=5),
    st_numpy.datetime64_dtypes(),
)
ARRAYS = DTYPES.flatmap(lambda dtype: st_numpy.arrays(dtype, st_numpy.array_shapes(min_dims=0, min_side=0, max_side=4)))


@given(st.dictionaries(st.text(max_size=3), ARRAYS, max_size=3))
def test_there_and_back(arrays):
    back = arrow_arrays.decode(arrow_arrays.encode(arrays))
    assert list(back) == list(arrays)
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype
        assert back[name].shape == array.shape
        assert back[name].tobytes() == array.tobytes()


def test_a_file_is_mapped_and_outlives_its_name(tmp_path: Path):
    file = tmp_path / "arrays"
    arrow_arrays.write(file, {"numbers": np.arange(6).reshape(2, 3).T})
    numbers = arrow_arrays.open(file)["numbers"]
    file.unlink()
    assert numbers.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert not numbers.flags.writeable


def test_what_is_large_is_handed_over_by_file_where_there_is_a_folder(tmp_path: Path):
    small, large = {"numbers": np.arange(7)}, {"numbers": np.arange(1 << 18), "flags": np.ones(3, np.bool_)}
    for arrays, folder, files in (
        (small, tmp_path, 0),
        (large, "", 0),
        (large, tmp_path / "gone", 0),
        (large, tmp_path, 1),
    ):
        told = arrow_arrays.handed_over(arrays, str(folder))
        assert len(list(tmp_path.iterdir())) == files
        back = arrow_arrays.taken_over(told)
        for file in tmp_path.iterdir():
            file.unlink()
        assert {name: array.tolist() for name, array in back.items()} == {n: a.tolist() for n, a in arrays.items()}


def test_what_is_no_file_of_arrays(tmp_path: Path):
    file = tmp_path / "notes"
    file.write_text("buy milk")
    with pytest.raises(OSError, match="notes: no file of arrays"):
        arrow_arrays.open(file)
    with pytest.raises(OSError, match="nowhere"):
        arrow_arrays.open(tmp_path / "nowhere")


def test_objects_are_refused():
    with pytest.raises(ValueError, match="names: an array of Python objects"):
        arrow_arrays.encode({"names": np.array(["a", None])})


@pytest.mark.parametrize(("most", "bytes_each"), [(200, 1), (60_000, 2), (4_000_000_000, 4), (1 << 40, 8), (-1, 8)])
def test_a_message_has_numbers_as_narrow_as_they_are(most: int, bytes_each: int):
    numbers = np.zeros(10_000, np.int64)
    numbers[-1] = most
    message = arrow_arrays.encode({"numbers": numbers})
    assert bytes_each * 10_000 <= len(message) < bytes_each * 10_000 + 2_000
    back = arrow_arrays.decode(message)["numbers"]
    assert back.dtype == np.int64 and (back == numbers).all()
