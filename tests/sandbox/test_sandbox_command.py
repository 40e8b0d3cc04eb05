"""`kdrill sandbox --headless` as a process: its one line, its ends, and what it leaves behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.source_tree import ROOT
from tests.conformance.our_view import both_know, snapshot_of
from tests.harness.command import kdrill, running
from tests.harness.sandbox import ONE_BROKER, ready_line
from tests.harness.waiting import eventually
from tui.cli import main


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--port", "65535"), "kdrill: --port 65535: 1 to 65533 are possible\n"),
        (("--set", "x"), "kdrill: --set 'x': write KEY=VALUE; see kdrill sandbox --help\n"),
        (("--scenario", "nowhere.toml"), "kdrill: nowhere.toml: No such file or directory\n"),
        (("--dir", "/dev/null/lab"), "kdrill: can't use /dev/null/lab: Not a directory. Choose a folder you may"),
        (
            ("--mode", "kraft", "--zookeepers", "3"),
            "kdrill: --zookeepers means nothing in KRaft mode: the controllers have the metadata: --controllers\n",
        ),
        (
            ("--mode", "kraft", "--load", "--old-consumers", "2"),
            "kdrill: --old-consumers means nothing in KRaft mode: consumers of Kafka 0.8 find each other in ",
        ),
        (
            ("--controllers", "5"),
            "kdrill: --controllers means nothing in ZooKeeper mode: a broker is the controller: --zookeepers\n",
        ),
        (
            ("--mode", "kraft", "--set", "inter.broker.protocol.version=2.3"),
            "kdrill: inter.broker.protocol.version means nothing in KRaft mode: ",
        ),
        (
            ("--mode", "kraft", "--scenario", "split-brain"),
            "kdrill: 'two members read one partition' is for ZooKeeper alone: step 1, owned-once, ",
        ),
        ((), "kdrill: no working Java at /bin/false (KDRILL_JAVA). Install Java 17 or newer"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    arguments: tuple[str, ...], complaint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    if not arguments:  # with a wrong argument nothing is begun, whatever Java there is
        monkeypatch.setenv("KDRILL_JAVA", "/bin/false")
    with pytest.raises(SystemExit) as ended:
        main(["sandbox", "--headless", *arguments])
    said = capsys.readouterr()
    assert ended.value.code in (1, 2)
    assert said.err.startswith(complaint)
    assert said.err.count("\n") == 1
    assert not said.out


@pytest.fixture
def start() -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Starts the command with a pipe as standard input."""
    with ExitStack() as ends:

        def start(*arguments: str, stdin: int = subprocess.PIPE, **more: Any) -> "subprocess.Popen[str]":
            words = ("sandbox", "--headless", *ONE_BROKER, *arguments)
            return ends.enter_context(running(*words, stdin=stdin, **more))

        yield start


def test_killed_it_leaves_nothing_behind(start, is_gone):
    process = start()
    ready = ready_line(process)
    assert ready["pids"].keys() == {"zookeeper-1", "broker-1"}
    assert not any(map(is_gone, ready["pids"].values()))
    process.kill()
    eventually(lambda: all(map(is_gone, ready["pids"].values())))
    eventually(lambda: not Path(ready["dir"]).exists())


def test_a_kept_folder_is_gone_on_with(start, tmp_path: Path):
    folder = tmp_path / "lab"
    first = start("--dir", str(folder), "--keep")
    ready_line(first)
    first.send_signal(signal.SIGTERM)
    assert first.wait(60) == 0
    assert (folder / "broker-1" / "logs" / "topic-1-0").is_dir()
    (cluster_id,) = {
        line for line in (folder / "broker-1/logs/meta.properties").read_text().split() if "cluster" in line
    }

    second = start("--dir", str(folder), "--keep")
    ready_line(second)
    assert cluster_id in (folder / "broker-1/logs/meta.properties").read_text()
    assert second.stdin is not None
    second.stdin.close()
    assert second.wait(60) == 0


def test_one_that_is_to_end_before_it_serves_says_why_and_fails(start):
    process = start()
    assert process.stdin is not None and process.stderr is not None
    process.stdin.close()
    assert process.wait(60) == 1
    assert process.stdout.read() == ""
    (last,) = [line for line in process.stderr.read().splitlines() if line.startswith("kdrill: ")]
    assert last == (
        "kdrill: the sandbox ended before it served: standard input is a pipe whose other end is closed; "
        "use </dev/null to keep it running"
    )


def test_without_a_pipe_as_standard_input_it_serves_until_a_signal_but_no_ignored_one(start):
    process = start(stdin=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    is_used_at_once(process, ready_line(process)["bootstrap"])
    process.send_signal(signal.SIGHUP)  # which nohup has ignored
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0


def is_used_at_once(process: "subprocess.Popen[str]", bootstrap: str) -> None:
    """It says how on standard error; what it says to Python's users works, and so does what the guide says."""
    assert process.stderr is not None
    said: dict[str, str] = {}
    while "console" not in said:
        line = process.stderr.readline()
        assert line
        said |= [line.split(maxsplit=1)] if line[0].isalpha() else []
    assert said.keys() == {"python", "java", "kcat", "console"}
    assert all(bootstrap in line for line in said.values())
    guide = (ROOT / "tui/guides/sandbox.md").read_text()
    (shown,) = [line for line in guide.splitlines() if line.startswith("python3 ")]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for line in (said["python"], shown.replace("orders", "topic-1")):
        done = subprocess.run(
            ["bash", "-c", line],
            env={**os.environ, "PATH": path, "B": bootstrap},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stdout == "0\n", done.stderr  # nothing is left to be delivered


def test_its_brokers_tell_what_its_zookeeper_tells_and_do_what_they_are_asked(start):
    ready = ready_line(start("--brokers", "2", "--racks", "2"))
    brokers = f"kafka://{ready['bootstrap']}"
    words = ("create", "--topic", "asked-for", "--partitions", "2", "--replication-factor", "2")
    done = kdrill("topics", brokers, *words, "--allow-writes", "--yes")
    assert done.returncode == 0, done.stderr

    def seen(source: str) -> dict[str, Any]:
        facts = both_know(snapshot_of(source))
        # Brokers tell the one listener they were asked at, and not its name.
        return facts | {"brokers": [(broker, rack) for broker, rack, _ in facts["brokers"]]}

    def equal() -> bool:
        one, other = seen(f"zk://{ready['zookeeper']}"), seen(brokers)
        return one == other and {"topic-1", "asked-for"} <= one["topics"].keys()

    eventually(equal)
