"""`kdrill preview`: what a rebalance would do is printed, for people and programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import CLASSIC, SHARE, GroupImage, Member
from model.cluster.snapshot_file import write_snapshot
from tests.demo_tree import DemoTree
from tests.harness.command import Done, failure, kdrill
from tests.spark.previews.groups import cluster
from tests.spark.previews.many_groups import many_groups

FAILED, USAGE = 1, 2


def document(done: Done) -> dict[str, Any]:
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    return json.loads(done.stdout)


def table(done: Done) -> list[str]:
    """The lines printed, which fit 80 columns, with runs of blanks as one."""
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80
    return [" ".join(line.split()) for line in done.stdout.splitlines()]


def saved(path: Path, image: ClusterImage) -> Path:
    write_snapshot(path, image, ())
    return path


@pytest.fixture
def payments(tmp_path: Path) -> Path:
    """A snapshot of one classic group: a has half of eight partitions, b the other, and c nothing."""
    owners = {TopicPartition("paid", number): "ab"[number // 4] for number in range(8)}
    members = {name: Member({"paid": 1}) for name in "abc"}
    ends = {each: 10 + each.partition for each in owners}
    group = GroupImage(
        "payments", members, owners, dict.fromkeys(owners, 10), CLASSIC, "Stable", "consumer", "cooperative-sticky", 1
    )
    return saved(tmp_path / "payments.json", cluster({"paid": 8}, [group], ends))


def test_people_see_every_strategy_side_by_side(payments: Path) -> None:
    lines = table(kdrill("preview", payments, "--each-leaves", "--join", "1"))
    start = lines.index("partitions idle lag moves at least")
    assert " ".join(lines[:start]) == (
        "payments: classic group, Stable, uses cooperative-sticky now; 3 consumers, 1 topic, 8 partitions, lag 28"
    )
    assert lines[start + 1 : start + 8] == [
        "now 0-4 1 0-22",
        "range 2-3 0 3-13 3 2",
        "roundrobin 2-3 0 7-12 4 2",
        "sticky 2-3 0 3-15 2 2",
        "* cooperative-sticky 2-3 0 3-15 2 2",
        "uniform 2-3 0 3-15 2 2",
        "server-range 2-3 0 3-13 3 2",
    ]
    joined, died = lines.index("if 1 consumer joined:"), lines.index("if one consumer failed, at worst:")
    assert lines[joined + 3] == "sticky 2 0 1-10 4 4"
    assert lines[died + 1 : died + 3] == ["range 4 0 6-22 4 0", "a, which has 4 partitions"]
    assert lines[died + 13] == "cooperative-sticky takes two rebalances: 2 partitions wait for the second"
    assert lines[-1].startswith("in process, 0.")


def test_programs_read_one_object(payments: Path) -> None:
    told = document(
        kdrill(
            "preview", payments, "--group", "payments", "--strategy", "sticky", "--each-leaves", "--explain", "--json"
        )
    )
    assert told["format"] == "kdrill.preview/1"
    assert told["provenance"].keys() == {"source", "zxid", "parameters", "engine", "seconds"}
    assert told["provenance"]["parameters"] == {
        "strategies": ["sticky"], "each_leaves": True, "join": 0, "detail": True,
    }  # fmt: skip
    (group,) = told["groups"]
    assert {key: group[key] for key in ("group", "kind", "state", "uses", "consumers", "partitions", "lag")} == {
        "group": "payments",
        "kind": "classic",
        "state": "Stable",
        "uses": "cooperative-sticky",
        "consumers": 3,
        "partitions": 8,
        "lag": 28,
    }
    assert group["now"]["shares"]["a"] == {"partitions": 4, "lag": 6}
    sticky = group["strategies"]["sticky"]
    assert (sticky["rebalanced"]["moves"], sticky["rebalanced"]["spread"]) == (2, 1)
    assert [leave["consumer"] for leave in sticky["leaves"]] == ["a", "b", "c"]
    assert sticky["worst_leave"]["consumer"] == "a"
    reasons = {row["partition"]: row for row in sticky["explanation"]["partitions"]}
    assert len(reasons) == 8
    assert [row["partition"] for row in reasons.values() if row["before"] != row["member"]] == [3, 7]
    assert reasons[0]["why"] == "a owned it and keeps it; the share is 2 or 3."


def test_reasons_are_told_for_what_moves_first(payments: Path) -> None:
    lines = table(kdrill("preview", payments, "--group", "payments", "--strategy", "range", "--explain"))
    told = " ".join(lines)
    assert "range: Partitions per member: 2 have 3, 1 has 2. 3 of 8 owned before move" in told
    assert lines.index("paid-3: a → b") < lines.index("paid-0: stays with a")


def test_names_that_are_close_are_offered(payments: Path) -> None:
    done = kdrill("preview", payments, "--group", "payment")
    assert done.returncode == USAGE
    assert failure(done) == "no group 'payment': did you mean payments?; see kdrill preview --help"
    assert "did you mean sticky or " in failure(kdrill("preview", payments, "--strategy", "stiky"))
    assert "--explain takes --group" in failure(kdrill("preview", payments, "--explain"))


def test_a_cluster_without_groups_says_so(tmp_path: Path) -> None:
    empty = saved(tmp_path / "empty.json", cluster({"t": 1}, []))
    assert table(kdrill("preview", empty.name, cwd=tmp_path)) == ["empty.json: no consumer groups"]
    assert document(kdrill("preview", empty, "--json"))["groups"] == []
    assert "no group 'g': no consumer groups" in failure(kdrill("preview", empty, "--group", "g"))


def test_groups_that_no_strategy_deals_to_are_named_and_left_out(tmp_path: Path) -> None:
    sharers = GroupImage("sharers", {"a": Member({"t": 1}, reads=(TopicPartition("t", 0),))}, kind=SHARE)
    others = [sharers, GroupImage("apps", kind="streams", state="Stable")]
    alone, among = (
        saved(tmp_path / f"{name}.json", cluster({"t": 1}, groups))
        for name, groups in (("alone", others), ("among", [*others, GroupImage("g", {}, kind=CLASSIC)]))
    )
    left_out = "not previewed: apps (streams), sharers (share); strategies here apply to groups"
    assert " ".join(table(kdrill("preview", alone.name, cwd=tmp_path))).split(": ", 1)[1].startswith(left_out)
    lines = table(kdrill("preview", among.name, cwd=tmp_path))
    assert left_out in " ".join(lines)
    assert [line for line in lines if " group, " in line or "group;" in line] == [lines[0]]
    assert [one["group"] for one in document(kdrill("preview", among, "--json"))["groups"]] == ["g"]
    refused = kdrill("preview", among, "--group", "sharers")
    assert (refused.returncode, "'sharers' is a share group: strategies here" in failure(refused)) == (USAGE, True)


def test_groups_of_a_live_zookeeper_are_previewed(tree: DemoTree) -> None:
    lines = table(kdrill("preview", tree.source, "--strategy", "range", "--strategy", "sticky"))
    assert any(line.startswith("billing: zookeeper group; ") for line in lines)
    assert sum(line.startswith("zk-range ") for line in lines) == sum(line.startswith("sticky ") for line in lines) == 2


def test_a_refusal_says_why(tmp_path: Path) -> None:
    members = {"x": Member({"t": 1}), "y": Member({"t": 1, "u": 1})}
    image = cluster({"t": 2, "u": 2}, [GroupImage("odd\x1b[31m", members)])
    lines = table(kdrill("preview", saved(tmp_path / "odd.json", image), "--strategy", "roundrobin"))
    assert lines[0].startswith(r"odd\x1b[31m: zookeeper group; ")
    assert "zk-roundrobin refuses this group" in lines
    assert "zk-roundrobin refuses: topics t and u are not consumed by the same threads" in " ".join(lines)


def test_where_kafka_would_do_something_else_it_is_told(tmp_path: Path) -> None:
    members = {"a": Member({}), "b": Member({"t": 1})}
    image = cluster({"t": 4}, [GroupImage("odd", members, kind=CLASSIC, state="Stable")])
    path = saved(tmp_path / "odd.json", image)
    (group,) = document(kdrill("preview", path, "--json"))["groups"]
    told = {name: found["differs_from_kafka"] for name, found in group["strategies"].items()}
    sentence = (
        "Kafka 3.9.1 has a bug here and gives partitions to a of topics not subscribed to: t-0, t-2: "
        "it takes subscriptions for equal that are not"
    )
    assert told == {
        "range": None,
        "roundrobin": None,
        "sticky": sentence,
        "cooperative-sticky": sentence,
        "uniform": None,
        "server-range": None,
    }
    assert f"sticky: {sentence}" in " ".join(table(kdrill("preview", path)))


def test_many_groups_are_summed_up(tmp_path: Path) -> None:
    many = saved(tmp_path / "many.json.zst", many_groups(40))
    lines = table(kdrill("preview", many.name, cwd=tmp_path))
    assert lines[0] == "many.json.zst: 40 consumer groups"
    assert lines[1] == "groups refused idle spread moves at least lag"
    assert [line.split()[0] for line in lines[2:6]] == ["now", "range", "roundrobin", "sticky"]
    told = document(kdrill("preview", many, "--json"))
    assert len(told["groups"]) == 40
    moves = sum(
        (group["strategies"].get("range", {}).get("rebalanced") or {"moves": 0})["moves"] for group in told["groups"]
    )
    totals = {one["strategy"]: one for one in told["estate"]["strategies"]}
    assert totals["range"]["rebalanced"]["moves"] == moves > totals["sticky"]["rebalanced"]["moves"]
    assert told["estate"]["now"]["groups"] == 40


def test_a_summary_tells_every_change_and_the_worst_cases(payments: Path) -> None:
    lines = table(kdrill("preview", payments.name, "--summary", "--each-leaves", "--join", "1", cwd=payments.parent))
    assert lines[0] == "payments.json: 1 consumer group"
    assert lines[1:6] == [
        "groups refused idle spread moves at least lag",
        "now 1 1 4 22",
        "range 1 0 0 1 3 2 13",
        "a consumer fails 1 0 0 8 4 22",
        "1 joins 1 0 0 6 4 13",
    ]
    assert "worst cases: partitions left without an owner, or moved needlessly" in lines
    assert any(line.endswith("payments, range, server-range") for line in lines)
