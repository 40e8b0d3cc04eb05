"""Each kind of finding is told as the guide tells it: of which subject, what, why and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.cluster.findings import SEVERITY
from tests.tui.guides.finding_examples import EXAMPLES, example

GUIDE = (Path(__file__).parents[4] / "tui/guides/findings.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_finding_is_told_as_in_the_guide(kind: str) -> None:
    found = example(kind)
    told = f"{found.subject}: {found.what}.\n\n- Why it matters: {found.why}\n- What to do: {found.action}\n"
    assert f"### {kind}\n\n{told}" in GUIDE
    assert found.severity == SEVERITY[kind]
