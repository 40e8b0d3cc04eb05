"""Folders under a guard end with their owner, however that ends."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from model.sandbox.processes import GuardedFolder, temporary_folder
from tests.harness.waiting import eventually

OWNER = """
import sys
from pathlib import Path
from model.sandbox.processes import GuardedFolder
folder = GuardedFolder(Path(sys.argv[1]))
if sys.argv[2] == "made":
    (folder.path / "deep").mkdir(parents=True)
    (folder.path / "deep" / "file").touch()
print("ready", flush=True)
sys.stdin.readline()
"""


SHARING_OWNER = """
import subprocess, sys
from pathlib import Path
from model.sandbox.processes import GuardedFolder
folder = GuardedFolder(Path(sys.argv[1]))
makes = 'sleep 1; mkdir "$1"'  # by then a guard that did not wait for it is through
child = subprocess.Popen(["sh", "-c", makes, "sh", str(folder.path)], stdout=subprocess.DEVNULL, pass_fds=[folder.pipe])
print(child.pid, flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("end", ["SIGKILL", "SIGTERM", "return"])
@pytest.mark.parametrize("made", ["made", "not made yet"])
def test_it_does_not_outlive_its_owner(tmp_path: Path, end: str, made: str):
    path = tmp_path / "own"
    command = [sys.executable, "-c", OWNER, str(path), made]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdin is not None
        assert owner.stdout is not None
        assert owner.stdout.readline() == "ready\n"
        assert path.exists() is (made == "made")
        if end == "return":
            owner.stdin.close()
        else:
            owner.send_signal(signal.Signals[end])
    eventually(lambda: not path.exists())
    assert list(tmp_path.iterdir()) == []


def test_it_does_not_outlive_a_child_that_makes_it_again(tmp_path: Path, is_gone: Callable[[int], bool]):
    path = tmp_path / "own"
    with subprocess.Popen([sys.executable, "-c", SHARING_OWNER, str(path)], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        child = int(owner.stdout.readline())
        owner.kill()
    eventually(lambda: is_gone(child))
    eventually(lambda: not path.exists())


def test_a_temporary_one_is_new_ours_and_gone_when_removed():
    folder, other = temporary_folder("kdrill-test-"), temporary_folder("kdrill-test-")
    assert folder.path != other.path
    assert folder.path.stat().st_mode & 0o777 == 0o700
    for each in (folder, other):
        each.remove()
        assert not each.path.exists()
        each.remove()


def test_names_arrive_as_they_are(tmp_path: Path):
    (tmp_path / "kept").touch()
    folder = GuardedFolder(tmp_path / "a * $HOME 'b'")
    folder.path.mkdir()
    folder.remove()
    assert [each.name for each in tmp_path.iterdir()] == ["kept"]
