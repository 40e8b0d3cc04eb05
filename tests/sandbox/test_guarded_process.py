"""Processes under a guard end with their parent, however that ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.sandbox.processes import STOPPED, GuardedProcess, SandboxError, process_state
from tests.harness.waiting import eventually

SLEEP = ("sleep", "600")


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[GuardedProcess]:
    process = GuardedProcess(SLEEP, folder=tmp_path, log=tmp_path / "log")
    yield process
    process.close()


def test_output_goes_to_the_log_and_the_exit_code_comes_back(tmp_path: Path):
    command = ["sh", "-c", "pwd; echo $GREETING; echo trouble >&2; exit 3"]
    log = tmp_path / "log"
    log.write_text("earlier\n")
    process = GuardedProcess(command, folder=tmp_path, log=log, environment={"GREETING": "hello"})
    assert process.wait(timeout_s=30)
    assert process.exit_code() == 3
    assert log.read_text() == f"earlier\n{tmp_path}\nhello\ntrouble\n"
    process.close()


def test_arguments_arrive_as_they_are(tmp_path: Path):
    command = ["printf", "%s|", "a b", "$HOME", '"', "*", "ü"]
    process = GuardedProcess(command, folder=tmp_path, log=tmp_path / "log")
    process.wait(timeout_s=30)
    process.close()
    assert (tmp_path / "log").read_text() == 'a b|$HOME|"|*|ü|'


def test_signals_reach_the_child(sleeper: GuardedProcess):
    assert not sleeper.wait(timeout_s=0)
    sleeper.send(signal.SIGTERM)
    assert sleeper.wait(timeout_s=30)
    assert sleeper.exit_code() == 128 + signal.SIGTERM
    sleeper.send(signal.SIGTERM)
    sleeper.pause()


def test_close_ends_it(sleeper: GuardedProcess, is_gone):
    sleeper.close()
    assert is_gone(sleeper.pid)
    sleeper.close()


def test_a_stopped_child_is_closed_too(sleeper: GuardedProcess, is_gone):
    sleeper.pause()
    assert process_state(sleeper.pid) == STOPPED
    sleeper.close()
    assert is_gone(sleeper.pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_ending_the_shell_ends_the_child(sleeper: GuardedProcess, is_gone, number: signal.Signals):
    os.kill(os.getpgid(sleeper.pid), number)
    eventually(lambda: is_gone(sleeper.pid))


def test_a_killed_shell_does_not_save_the_child(sleeper: GuardedProcess, is_gone):
    os.kill(os.getpgid(sleeper.pid), signal.SIGKILL)
    eventually(lambda: sleeper.exit_code() is not None)
    eventually(lambda: is_gone(sleeper.pid))


def test_a_program_that_is_not_there(tmp_path: Path):
    process = GuardedProcess(["no-such-program"], folder=tmp_path, log=tmp_path / "log")
    process.wait(timeout_s=30)
    assert process.exit_code() == 127
    process.close()


def test_a_folder_that_is_not_there(tmp_path: Path):
    with pytest.raises(SandboxError, match=r"^can't start sleep: No such file or directory: .*nowhere"):
        GuardedProcess(SLEEP, folder=tmp_path / "nowhere", log=tmp_path / "log")


OWNER = """
import sys, time
from pathlib import Path
from model.sandbox.processes import GuardedProcess
folder = Path(sys.argv[1])
process = GuardedProcess(["sleep", "600"], folder=folder, log=folder / "log")
print(process.pid, flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("end", ["SIGKILL", "SIGTERM", "return"])
def test_it_does_not_outlive_its_owner(tmp_path: Path, is_gone, end: str):
    command = [sys.executable, "-c", OWNER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdin is not None
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        assert not is_gone(pid)
        if end == "return":
            owner.stdin.close()
        else:
            owner.send_signal(signal.Signals[end])
    eventually(lambda: is_gone(pid))
