"""Paths as people type them."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.cluster.whole_file import typed_path


def test_a_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert typed_path("~/a.csv") == Path("/home/ann/a.csv")
    assert typed_path("a/~") == Path("a/~")


@pytest.mark.parametrize("text", ["~nobody.of.that.name/a.csv", "~a\0b/c", ""])
def test_what_is_no_home_folder_stays_as_it_is(text: str) -> None:
    assert typed_path(text) == Path(text)
