"""Every text that Kafka's DumpLogSegments 3.9.1 printed for a file of the corpus is printed here, byte for byte."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from model.log.dump.facts import DumpOptions
from tests.model.log.dump.dumping import dump
from tests.segment_corpus import Printed, printed

OPTIONS = {
    "print": DumpOptions(deep=True, contents=True, release=(3, 9, 1, 0)),
    "shallow": DumpOptions(),
    "dump": DumpOptions(),
    "sanity": DumpOptions(index_sanity_check=True),
    "verify": DumpOptions(verify_index_only=True),
}


def ours(text: Printed) -> tuple[bytes, bool]:
    """What is printed for the same file, and whether damage was found."""
    found, damage, _ = dump(text.path, OPTIONS[text.how])
    return found, bool(damage)


@pytest.fixture(autouse=True)
def in_the_corpus(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are printed as they are given."""
    monkeypatch.chdir(corpus)


def test_wherever_the_tool_got_through_without_a_word(corpus: Path) -> None:
    texts = [text for text in printed(corpus) if not text.complaint]
    differing = [f"{text.path} {text.how}" for text in texts if ours(text)[0] != text.text]
    assert not differing
    assert Counter(text.how for text in texts) == {"dump": 348, "print": 132, "sanity": 29, "shallow": 14}


def test_where_it_only_complained(corpus: Path) -> None:
    """Gaps, mismatches of indexes: its text is the same. Of a snapshot that it does not trust it prints nothing."""
    texts = [text for text in printed(corpus) if text.complaint.startswith("exit=0") and text.text]
    differing = {text.path for text in texts if ours(text)[0] != text.text}
    assert len(texts) > 15
    assert all(path.startswith("damaged/snapshot-") for path in differing)


def test_where_it_died(corpus: Path) -> None:
    """What it had printed before is printed too, but for entries that were no entries; then comes the rest."""
    seen = Counter[str]()
    for text in printed(corpus):
        if not text.complaint.startswith("exit=1") or text.how in ("sanity", "verify"):
            continue
        found, is_damaged = ours(text)
        *whole_lines, _torn = text.text.split(b"\n")
        assert is_damaged or "liveprealloc" in text.path, text.path
        seen["kept" if found.startswith(b"\n".join(whole_lines)) else text.path.split("/")[1]] += 1
    assert seen.pop("kept") >= 20
    assert set(seen) == {"size-14-magic2"}


def test_what_it_took_for_sound_is_sound(corpus: Path) -> None:
    clean = [text for text in printed(corpus) if text.path.startswith(("k39-clean", "v0-", "v1-", "kraft"))]
    assert len(clean) > 300
    assert not [text.path for text in clean if ours(text)[1]]
