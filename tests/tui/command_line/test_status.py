"""`kdrill status`: its exit codes, its one document, and how watching ends."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from model.cluster.image_parts import Quorum, QuorumReplica
from model.cluster.records import GenerationRecognised, QuorumDescribed
from model.cluster.snapshot_file import write_snapshot
from model.sandbox.embedded_zookeeper import ZnodeSession
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from model.zookeeper import Create
from tests.demo_tree import DemoTree, demo_tree
from tests.harness.command import kdrill, running
from tests.model.drills.clusters import cluster, topic
from tests.model.metadata_log.kept import QUORUM

HEALTHY, FINDINGS = 0, 2


def test_a_cluster_with_errors(tree: DemoTree) -> None:
    done = kdrill("status", tree.source)
    assert (done.returncode, done.stderr) == (FINDINGS, "")
    head, *findings = done.stdout.splitlines()
    assert head.startswith(f"{tree.source}: controller b")
    assert findings[0].startswith("X ")
    assert {line[0] for line in findings} <= set("X!~")


def test_a_healthy_cluster(zookeeper: str) -> None:
    address, slash, root = zookeeper.partition("/")
    session = ZnodeSession(address, slash + root)
    broker = b'{"version":1,"host":"h","port":9092,"jmx_port":-1,"timestamp":"1"}'
    controller = b'{"version":1,"brokerid":1,"timestamp":"1"}'
    session.apply([Create(path) for path in ("/brokers", "/brokers/ids", "/brokers/topics")])
    session.apply([Create("/brokers/ids/1", broker, ephemeral=True)])
    session.apply([Create("/controller", controller, ephemeral=True), Create("/controller_epoch", b"1")])
    done = kdrill("status", f"zk://{zookeeper}")
    session.close()
    assert (done.returncode, done.stderr) == (HEALTHY, "")
    assert done.stdout.splitlines() == [
        f"zk://{zookeeper}: controller b1 e1, 1 brokers, 0 topics, 0 partitions",
        "nothing is wrong",
    ]


def test_a_quorum_without_a_majority_is_an_error_though_all_partitions_are_led(tmp_path: Path) -> None:
    quorum = Quorum(-1, 7, 90, tuple(map(QuorumReplica, (1, 2, 3))), silent=(2, 3), unconfirmed=(2, 3))
    kraft = GenerationRecognised(generation="kraft"), QuorumDescribed(quorum=quorum)
    source = tmp_path / "lost.json"
    write_snapshot(source, cluster([1, 2, 3], *topic((1, 2), (1, 2), 1), *kraft, controller=None))
    done = kdrill("status", source)
    assert (done.returncode, done.stderr) == (FINDINGS, "")
    head, *findings = done.stdout.splitlines()
    assert "3 brokers (2, 3 unconfirmed), " in head
    assert [line for line in findings if line.startswith("X ")] == [line for line in findings if "quorum" in line]
    assert "1 of 3 voters answers: nothing can be elected" in done.stdout
    assert json.loads(kdrill("status", source, "--json").stdout)["unconfirmed_brokers"] == [2, 3]


def test_the_document(tree: DemoTree) -> None:
    done = kdrill("status", "--json", tree.source)
    document = json.loads(done.stdout)
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (FINDINGS, "", 1)
    assert document["format"] == "kdrill.status/1"
    assert (document["source"], document["phase"], document["reason"]) == (tree.source, "live", "")
    assert document["verified_ms"] > 0 and document["time_ms"] > 0
    assert document["groups"] > 0
    assert not document.keys() - set(re.findall(r"\w+", kdrill("status", "--help").stdout)) - {"format"}
    assert document["errors"] == sum(finding["severity"] == "error" for finding in document["findings"]) > 0
    assert done.stdout.isascii()


def test_what_a_source_does_not_tell_is_null() -> None:
    document = json.loads(kdrill("status", "--json", QUORUM).stdout)
    assert document["topics"] > 0
    assert document["groups"] is None


def test_a_snapshot(snapshot_file: Path) -> None:
    for options in ([], ["--watch"]):
        done = kdrill("status", "--json", *options, snapshot_file)
        assert json.loads(done.stdout)["phase"] == "snapshot"
        assert done.returncode == FINDINGS


def test_options_may_stand_before_the_command(snapshot_file: Path) -> None:
    done = kdrill("--no-color", "--connect-timeout", "5", "status", "--json", snapshot_file)
    assert json.loads(done.stdout)["phase"] == "snapshot"


def test_a_cluster_by_its_name_and_by_default(tree: DemoTree, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    hosts, _, chroot = tree.source.removeprefix("zk://").partition("/")
    config.write_text(f"default = 'demo'\n[clusters.demo]\nzookeeper = ['{hosts}']\nchroot = '/{chroot}'\n")
    for arguments in (["status", "demo"], ["status"], ["--config", str(config), "status"]):
        done = kdrill(*arguments, environment={"KDRILL_CONFIG": str(config)})
        assert done.stdout.startswith(f"{tree.source}: controller")


def test_watching_prints_a_line_for_every_change(tree: DemoTree) -> None:
    with running("status", "--watch", "--json", tree.source) as process:
        before, after = lines_around(process, tree)
        assert set(before["brokers"]) - set(after["brokers"]) == {1}
        assert process.poll() is None


def test_watching_tells_when_the_server_is_gone_and_back(own_zookeeper: EmbeddedZooKeeper) -> None:
    with (
        demo_tree(f"{own_zookeeper.address}/watched") as tree,
        running("status", "--watch", "--json", tree.source) as process,
    ):
        assert process.stdout is not None
        next(process.stdout)
        own_zookeeper.kill()
        phases = [json.loads(next(process.stdout))["phase"]]
        own_zookeeper.start()
        while phases[-1] != "live":
            phases.append(json.loads(next(process.stdout))["phase"])
        assert phases[0] == "stale"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_watching_quietly(tree: DemoTree, number: signal.Signals, code: int) -> None:
    with running("status", "--watch", "--json", tree.source) as process:
        assert process.stdout is not None
        next(process.stdout)
        process.send_signal(number)
        rest, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (code, "")
        assert all(json.loads(line) for line in rest.splitlines())


def test_a_reader_that_goes_away_ends_watching_quietly_though_nothing_changes(tree: DemoTree) -> None:
    with running("status", "--watch", "--json", tree.source) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        next(process.stdout)
        process.stdout.close()
        assert process.wait(60) == 141
        assert process.stderr.read() == ""


def test_output_into_a_pipe_that_nobody_reads_fails_quietly(snapshot_file: Path) -> None:
    with running("status", "--json", str(snapshot_file)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.wait(60) == 141
        assert process.stderr.read() == ""


def lines_around(process: subprocess.Popen[str], tree: DemoTree) -> tuple[dict[str, Any], dict[str, Any]]:
    """What was printed before and after broker 1 was lost."""
    assert process.stdout is not None
    before = after = json.loads(next(process.stdout))
    tree.cluster.lose_broker(1)
    while after["brokers"] == before["brokers"]:
        after = json.loads(next(process.stdout))
    return before, after
