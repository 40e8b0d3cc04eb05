"""`kdrill record`: a live cluster becomes a SOURCE for later, however the recorder ends."""

from __future__ import annotations

import signal
from pathlib import Path
from subprocess import Popen

import pytest

from model.cluster.snapshot_file import read_snapshot
from model.recordings.folder import said, the_cluster_in
from model.recordings.playback import image_at
from tests.demo_tree import DemoTree
from tests.harness.command import failure, kdrill, running
from tests.harness.waiting import eventually
from tests.zookeeper.followed import facts, loaded

CLUSTER = "cluster=kdrill-demo-cluster-00"


def begun(recorder: Popen[str]) -> str:
    """Waits until it records; the line that says so."""
    assert recorder.stderr is not None
    return recorder.stderr.readline()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_end_it_closes_the_recording(tree: DemoTree, tmp_path: Path, number: signal.Signals) -> None:
    with running("record", tree.source, "-o", str(tmp_path)) as recorder:
        assert begun(recorder) == f"recording {tree.source} into {tmp_path}/{CLUSTER}; Ctrl-C stops it\n"
        recorder.send_signal(number)
        out, said = recorder.communicate()
        assert (recorder.returncode, out) == (0, "")
    assert said == f"{tmp_path}/{CLUSTER}: 0 moments recorded\n"
    assert facts(image_at(the_cluster_in(tmp_path))) == loaded(tree.source.removeprefix("zk://"))


def test_killed_it_leaves_what_it_had_written(tree: DemoTree, tmp_path: Path) -> None:
    with running("record", tree.source, "-o", str(tmp_path)) as recorder:
        begun(recorder)
        assert list(the_cluster_in(tmp_path).sets()), "it says that it records before anything is written"
        for number in range(6):
            tree.cluster.step(number)
        truth = loaded(tree.source.removeprefix("zk://"))
        eventually(lambda: facts(image_at(the_cluster_in(tmp_path))) == truth)
        recorder.kill()
        recorder.wait()
    assert facts(image_at(the_cluster_in(tmp_path))) == truth
    assert not [path for path in tmp_path.rglob("*.part") if path.suffix == ".parquet"]
    status = kdrill("status", tmp_path)
    assert status.returncode == 2
    assert "dead-letters: 1 of 6 partitions offline" in status.stdout
    again = kdrill("record", tree.source, "-o", tmp_path, "--for", "10ms")
    assert again.returncode == 0
    assert len(list(the_cluster_in(tmp_path).sets())) == 2
    seen = kdrill("history", tmp_path)
    assert seen.returncode == 0
    assert ", 1 gap" in seen.stdout


def test_a_moment_is_opened_by_its_time(tree: DemoTree, tmp_path: Path) -> None:
    options = ("--for", "1s", "--every", "500ms", "--as", "a/b")
    assert kdrill("record", *options, tree.source, "-o", tmp_path).returncode == 0
    cluster = the_cluster_in(tmp_path)
    assert cluster.name == "a/b"
    source = f"{tmp_path}@{said(next(cluster.sets()).from_ms + 1)}"
    done = kdrill("snapshot", source, "-o", tmp_path / "then.json")
    assert done.returncode == 0, done.stderr
    assert facts(read_snapshot(tmp_path / "then.json")) == facts(image_at(cluster))
    assert failure(kdrill("status", f"{tmp_path}@2020-01-01")).startswith(f"{cluster.path}: recorded from ")


def test_where_nothing_will_change_there_is_nothing_to_record(snapshot_file: Path, tmp_path: Path) -> None:
    done = kdrill("record", snapshot_file, "-o", tmp_path / "new")
    assert failure(done).endswith("this never changes: record a live cluster")
    assert done.returncode == 1
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        ("record zk://a", 2, "Missing option '-o' / '--output'"),
        ("record -o x", 2, "SOURCE is missing: which cluster?"),
        ("record zk://a -o x --for soon", 2, "'soon' is not a duration: write 30s, 10m, 2h or 7d"),
        ("status .@noon", 1, "'noon' is no time: write .@2026-11-20T12:03:58Z"),
    ],
)
def test_bad_input_is_told_in_one_line(tmp_path: Path, arguments: str, code: int, reason: str) -> None:
    done = kdrill(*arguments.split(), cwd=tmp_path)
    assert reason in failure(done)
    assert done.returncode == code
