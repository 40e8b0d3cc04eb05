"""Real files of Kafka logs, for tests that read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.segment_corpus import unpack


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus, unpacked. Tests only read it."""
    return unpack(tmp_path_factory.mktemp("segments"))
