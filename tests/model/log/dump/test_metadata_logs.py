"""Metadata logs and snapshots of real KRaft nodes as text: what the tool of their release printed, every byte."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from model.cluster.ids import release_numbers
from model.log.dump.decoders import LEADER_CHANGE_TOLD, LogDecoder, java_double, java_json
from model.log.dump.facts import DumpOptions
from tests.model.log.dump.dumping import dump
from tests.model.metadata_log.kept import LOG, QUORUM, files


@pytest.mark.parametrize("path", files(), ids=lambda path: f"{path.parent.name}-{path.name.lstrip('0')}")
def test_the_same_text(path: Path) -> None:
    release = release_numbers(path.parent.name)
    options = DumpOptions(deep=True, contents=True, decoder=LogDecoder.CLUSTER_METADATA, release=release)
    printed, damage, _ = dump(path, options)
    theirs = path.with_name(f"{path.name}.txt").read_bytes()
    assert not damage
    assert printed.splitlines()[1:] == theirs.splitlines()[1:]  # the first names the file


def test_a_leader_change_is_told_since_4_1() -> None:
    older = DumpOptions(deep=True, contents=True, decoder=LogDecoder.CLUSTER_METADATA, release=(4, 0, 0, 0))
    newer = DumpOptions(deep=True, contents=True, decoder=LogDecoder.CLUSTER_METADATA, release=LEADER_CHANGE_TOLD)
    texts = [dump(QUORUM / LOG, options)[0].decode() for options in (older, newer)]
    assert [text.count("controlType: LEADER_CHANGE(2)") for text in texts] == [3, 0]
    assert [text.count('LeaderChange: {"version":0,"leaderId":') for text in texts] == [0, 3]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (50.0, "50.0"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.2e-4, "1.2E-4"),
        (0.001, "0.001"),
        (0.015, "0.015"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (123456789012345.0, "1.23456789012345E14"),
        (1234567.875, "1234567.875"),
        (-2.5e300, "-2.5E300"),
        (math.inf, '"Infinity"'),
        (math.nan, '"NaN"'),
    ],
)
def test_floating_numbers_as_java_prints_them(number: float, text: str) -> None:
    assert java_double(number) == text


def test_texts_as_jackson_prints_them() -> None:
    text = 'é中😀"\\\x1f\n\x7f\\u001f'
    assert java_json({"a": [text, 1, None, True]}) == '{"a":["é中😀\\"\\\\\\u001F\\n\x7f\\\\u001f",1,null,true]}'
    assert json.loads(java_json(text)) == text
