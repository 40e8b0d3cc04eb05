"""Real files of Kafka logs, for tests that scan them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.segment_corpus import unpack


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus, unpacked. Tests only read it."""
    return unpack(tmp_path_factory.mktemp("segments"))


@pytest.fixture
def partition(corpus: Path, tmp_path: Path) -> Path:
    """A partition folder of three batches and all its files, to be broken."""
    return Path(shutil.copytree(corpus / "k39-clean/t-plain-0", tmp_path / "t-plain-0"))
