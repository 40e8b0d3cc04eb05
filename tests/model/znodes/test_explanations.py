"""Who writes and who watches: said of every kind, in a few plain words."""

import pytest

from model.znodes.catalogue import CATALOGUE, EXPLANATIONS, ZnodeDescription, ZnodeKind

K = ZnodeKind


def test_every_kind_is_explained_in_sentences_that_fit() -> None:
    assert set(EXPLANATIONS) == set(ZnodeKind)
    for kind, explained in EXPLANATIONS.items():
        for text in (explained.written, explained.watched):
            assert text[:1].isalpha() and text.endswith("."), kind
            assert text.isascii() and text.isprintable() and len(text) <= 220, kind


def test_what_is_ephemeral_goes_with_a_session_and_nothing_else_does() -> None:
    goes = {kind for kind, explained in EXPLANATIONS.items() if "goes with" in explained.written}
    assert goes == {row.kind for row in CATALOGUE if row.ephemeral}


@pytest.mark.parametrize("row", [row for row in CATALOGUE if "{sequence}" in row.pattern], ids=lambda row: row.kind)
def test_notices_are_read_by_those_who_watch_the_parent_and_then_deleted(row: ZnodeDescription) -> None:
    explained = EXPLANATIONS[row.kind]
    assert "through the parent" in explained.watched
    assert "delete" in explained.written


def test_generations_that_differ_are_told_apart() -> None:
    for kind, release in {
        K.PARTITION_STATE: "2.7-IV2",
        K.ISR_CHANGE: "2.7-IV2",
        K.REASSIGN_PARTITIONS: "2.4",
        K.PREFERRED_REPLICA_ELECTION: "2.2",
        K.PRODUCER_ID_BLOCK: "3.0",
        K.CONTROLLER_EPOCH: "0.8.2",
        K.BROKER: "1.1",
    }.items():
        assert release in EXPLANATIONS[kind].written + EXPLANATIONS[kind].watched, kind
