"""Any records that a batch can hold."""

from __future__ import annotations

from hypothesis import strategies as st

from model.log.records import Codec, Producer, Record

INT16_MAX, INT32_MAX, INT63_MAX = 2**15 - 1, 2**31 - 1, 2**62 - 1

timestamps = st.integers(-1, INT63_MAX)
fields = st.none() | st.binary(max_size=200)
headers = st.lists(st.tuples(st.text(max_size=8).map(str.encode), fields), max_size=3).map(tuple)
codecs = st.sampled_from(Codec)
producers = st.none() | st.builds(
    Producer,
    id=st.integers(0, INT63_MAX),
    epoch=st.integers(0, INT16_MAX),
    base_sequence=st.integers(0, INT32_MAX),
    transactional=st.booleans(),
)


@st.composite
def record_lists(draw: st.DrawFn, with_headers: bool = True) -> list[Record]:
    """Records at rising offsets with gaps, as after compaction."""
    gaps = draw(st.lists(st.integers(1, 1000), min_size=1, max_size=12))
    offset = draw(st.integers(-1, 2**40))
    records: list[Record] = []
    for gap in gaps:
        offset += gap
        extra = draw(headers) if with_headers else ()
        records.append(Record(offset, draw(timestamps), draw(fields), draw(fields), extra))
    return records
