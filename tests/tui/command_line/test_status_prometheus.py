"""`kdrill status --prometheus`: metrics of a cluster, printed or in a file that is written whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from model.cluster.findings import SEVERITY
from tests.demo_tree import DemoTree
from tests.harness.command import failure, kdrill, running
from tests.harness.waiting import eventually
from tests.model.interchange.exposition_grammar import Labels, parsed

DONE, FAILED, FINDINGS = 0, 1, 2


def gauges(text: str) -> dict[str, float]:
    """Name → value, of metrics with no label but the cluster."""
    return {name: next(iter(samples.values())) for name, (_, _, samples) in parsed(text).items() if len(samples) == 1}


def test_a_cluster_in_the_format_of_prometheus(snapshot_file: Path) -> None:
    done = kdrill("status", snapshot_file, "--prometheus")
    assert (done.returncode, done.stderr) == (FINDINGS, "")
    found = gauges(done.stdout)
    assert found["kdrill_up"] == 1
    assert found["kdrill_offline_partitions"] > 0
    kinds = parsed(done.stdout)["kdrill_findings"][2]
    assert {dict(labels)["kind"] for labels in kinds} == SEVERITY.keys()
    assert {dict(labels)["cluster"] for labels in kinds} == {str(snapshot_file)}
    assert max(kinds.values()) > 0


def test_a_hostile_name_breaks_no_line(snapshot_file: Path) -> None:
    name = 'a"\\\n\u202e.json'
    hostile = snapshot_file.rename(snapshot_file.with_name(name))
    done = kdrill("status", hostile.name, "--prometheus", cwd=hostile.parent)
    (labels,) = parsed(done.stdout)["kdrill_up"][2]
    assert labels == cluster(r'a"\\n\u202e.json')


def cluster(name: str) -> Labels:
    return frozenset({("cluster", name)})


def test_of_a_cluster_that_cannot_be_reached_that_is_said(tmp_path: Path) -> None:
    output = tmp_path / "kdrill.prom"
    done = kdrill("status", "zk://127.0.0.1:1", "--connect-timeout", "1", "--prometheus", "-o", output)
    assert failure(done).startswith("zk://127.0.0.1:1: ")
    assert done.returncode == FAILED
    assert gauges(output.read_text()) == {"kdrill_up": 0}


def test_watching_keeps_a_file_whole_for_a_collector(tree: DemoTree, tmp_path: Path) -> None:
    output = tmp_path / "kdrill.prom"
    with running("status", tree.source, "--prometheus", "--watch", "-o", str(output)) as process:
        eventually(output.exists)
        before = gauges(output.read_text())
        tree.cluster.lose_broker(1)
        eventually(lambda: gauges(output.read_text())["kdrill_brokers"] == before["kdrill_brokers"] - 1)
        assert process.poll() is None
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".prom"] == [output.name]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("--prometheus --json", "--json and --prometheus exclude each other"),
        ("--prometheus --watch", "--prometheus with --watch writes a file again and again: say -o FILE"),
    ],
)
def test_options_that_make_no_sense(snapshot_file: Path, words: str, reason: str) -> None:
    done = kdrill("status", snapshot_file, *words.split())
    assert failure(done).startswith(reason)
    assert done.returncode == FINDINGS


def test_a_file_that_cannot_be_written(snapshot_file: Path) -> None:
    output = Path("none") / "kdrill.prom"
    done = kdrill("status", snapshot_file, "--json", "-o", output, cwd=snapshot_file.parent)
    assert failure(done) == f"{output}: cannot be written: {os.strerror(2)}"
    assert done.returncode == FAILED
