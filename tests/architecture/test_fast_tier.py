"""The fast tier starts no process and opens no connection, and its table names what there is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT
from tests.fast_tier import FAST, NOT_FAST, is_fast

TOUCHES = {
    "starts a process": "import subprocess; subprocess.run(['true'])",
    "forks": "import os; os.fork() or os._exit(0)",
    "listens": "import socket; socket.create_server(('127.0.0.1', 0))",
    "connects": "import socket; socket.create_connection(('127.0.0.1', 1))",
    "hides the error": "import subprocess\n    try: subprocess.run(['true'])\n    except RuntimeError: pass",
}


def run(folder: Path, *lines: str, options: tuple[str, ...] = ()) -> str:
    """What pytest says of a file with these lines, beside the hooks of the fast tier alone."""
    (folder / "test_it.py").write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "pytest", "-n", "0", "-c", os.devnull, "--rootdir", str(folder), "-q", str(folder)]
    done = subprocess.run(
        [*command, "-p", "tests.fast_tier", "-p", "no:cacheprovider", *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""},
    )
    return done.stdout + done.stderr


def test_a_fast_test_that_starts_or_opens_something_fails(tmp_path: Path) -> None:
    tests = [f"@pytest.mark.fast\ndef test_{name.replace(' ', '_')}():\n    {code}" for name, code in TOUCHES.items()]
    said = run(tmp_path, "import pytest", *tests)
    assert f"{len(TOUCHES)} failed" in said, said
    assert "not fast, see tests/fast_tier.py: subprocess.Popen" in said, "the error was hidden, and nothing told of it"


def test_another_test_may_do_so(tmp_path: Path) -> None:
    said = run(
        tmp_path,
        "import pytest, subprocess, socket",
        "def test_other():\n    subprocess.run(['true'])\n    socket.create_server(('127.0.0.1', 0))",
        "@pytest.mark.fast\ndef test_quiet():\n    socket.socketpair()",
    )
    assert "2 passed" in said, said


def test_what_is_thorough_takes_long_and_is_no_part_of_the_tier(tmp_path: Path) -> None:
    profile = "from hypothesis import settings\nsettings.register_profile('kdrill')\n"
    (tmp_path / "conftest.py").write_text(profile)
    long = "@pytest.mark.fast\n@pytest.mark.thorough\ndef test_long(): pass"
    lines = ("import pytest", long, "@pytest.mark.fast\ndef test_short(): pass")
    command = ("-m", "fast")
    assert "1 passed, 1 deselected" in (said := run(tmp_path, *lines, options=command)), said
    assert "2 passed" in (said := run(tmp_path, *lines)), said


@pytest.mark.parametrize("named", [*FAST, *NOT_FAST])
def test_the_table_names_what_there_is(named: str) -> None:
    assert (ROOT / named).exists()
    assert named in FAST or named.startswith(FAST)


def test_what_decides_is_tested_by_the_fast_tier() -> None:
    for folder in ("controller", "broker", "cluster", "consumers", "planning", "drills", "znodes"):
        files = [str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "model" / folder).rglob("test_*.py")]
        assert files
        assert all(map(is_fast, files))
