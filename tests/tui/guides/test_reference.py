"""The reference pages say what the program says: commands, keys, findings, files."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from model.cluster.findings import SEVERITY
from tests.architecture.source_tree import ROOT, modules, read
from tests.tui.guides import reference
from tests.tui.guides.finding_examples import EXAMPLES

GUIDES = ROOT / "tui/guides"


@pytest.mark.parametrize("name", reference.PAGES)
def test_the_page_is_as_the_program_has_it(name: str) -> None:
    # In a process of its own: click keeps which help options a command had when it was first asked, whoever asked.
    made = subprocess.run([sys.executable, "-m", reference.__name__, name], cwd=ROOT, capture_output=True, check=True)
    file, page = GUIDES / f"{name}.md", made.stdout.decode()
    if os.environ.get("KDRILL_UPDATE_SNAPSHOTS") == "1":
        file.write_text(page, encoding="utf-8")
    else:
        assert file.read_text(encoding="utf-8") == page, "KDRILL_UPDATE_SNAPSHOTS=1 writes the page anew"


def test_every_kind_of_finding_has_its_example() -> None:
    assert EXAMPLES.keys() == SEVERITY.keys()


def test_every_format_is_told_of() -> None:
    sources = "".join(map(read, modules("model", "spark_tasks", "tui")))
    told = (GUIDES / "file-formats.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\bkdrill\.[a-z-]+/\d+", sources)) <= set(re.findall(r"\bkdrill\.[a-z-]+/\d+", told))


def test_every_variable_is_told_of() -> None:
    sources = "".join(map(read, modules("model", "spark_tasks", "tui")))
    told = (GUIDES / "configuration.md").read_text(encoding="utf-8")
    read_by_it = re.findall(r'(?:envvar=|\.get\()"(KDRILL_[A-Z_]+)"', sources)
    assert set(read_by_it) == set(re.findall(r"KDRILL_[A-Z_]+", told))
