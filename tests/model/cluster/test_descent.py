"""What differs along a line of images is what differs when all of them is looked at."""

from collections.abc import Mapping
from functools import reduce

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.cluster_image import ClusterImage, descended, differing_keys
from model.cluster.findings import Findings, find
from model.cluster.records import ClusterRecord
from model.cluster.topic_image import STATE_COLUMNS, widened
from tests.model.cluster.build import image
from tests.model.cluster.strategies import histories, images

mappings = st.dictionaries(st.integers(0, 5), st.text(max_size=2), max_size=5)
changes = st.dictionaries(st.integers(0, 5), st.none() | st.text(max_size=2), max_size=3)


@given(mappings, st.lists(changes, max_size=4))
def test_a_mapping_knows_what_differs_from_the_one_before(first: dict[int, str], steps: list[dict[int, str]]) -> None:
    line: list[Mapping[int, str]] = [first]
    for step in steps:
        line.append(descended(line[-1], step))
        expected = {key: value for key, value in {**line[-2], **step}.items() if value is not None}
        assert line[-1] == expected
    for before in line:
        for after in line:
            keys = differing_keys(before, after)
            assert sorted(keys) == sorted(k for k in {*before, *after} if before.get(k) is not after.get(k))
            assert [key in before for key in keys] == sorted((key in before for key in keys), reverse=True)


@given(images, histories)
def test_rows_since_an_earlier_image_are_at_least_those_that_differ(
    before: ClusterImage, told: list[ClusterRecord]
) -> None:
    line = [before]
    for record in told:
        line.append(image(record, base=line[-1]))
    for earlier in (before, line[-2] if told else before):
        for name, new in line[-1].topics.items():
            old = earlier.topics.get(name)
            rows = None if old is None else new.rows_since(old)
            if old is None or rows is None:
                continue
            assert (old.partitions == new.partitions).all() and (old.replicas == new.replicas).all()
            width = max(old.isr.shape[1], new.isr.shape[1])
            differs = (widened(old.isr, width) != widened(new.isr, width)).any(axis=1)
            for column in STATE_COLUMNS:
                differs |= getattr(old, column) != getattr(new, column)
            assert set(np.flatnonzero(differs).tolist()) <= set(rows.tolist())
            assert new.brokers == type(new)(**{name: getattr(new, name) for name in new.__dataclass_fields__}).brokers


@given(images, histories)
def test_findings_followed_record_by_record_are_those_of_the_last_image(
    before: ClusterImage, told: list[ClusterRecord]
) -> None:
    def step(known: Findings, record: ClusterRecord) -> Findings:
        return find(image(record, base=known.image), known)

    followed = reduce(step, told, find(before))
    anew = find(followed.image)
    assert followed == anew
    assert followed.census == anew.census
