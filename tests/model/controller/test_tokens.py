"""Delegation tokens end by the controller's clock, and only where there are any."""

from __future__ import annotations

import pytest

from model.hosts.memory_zookeeper.tree import read
from model.znodes.configs import DelegationToken
from model.znodes.paths import token_path
from model.zookeeper import Create, GetChildren, GetData
from tests.harness.virtual_cluster import AT_ONCE, VirtualCluster

NOW_MS = AT_ONCE.start_ms
DAY_MS = 86_400_000
HOUR_MS = 3_600_000
CHANGES = "/delegation_token/token_changes"
TIMER = "delete-expired-tokens"


def cluster_with(*tokens: DelegationToken, enabled: bool = True) -> VirtualCluster:
    cluster = VirtualCluster(token_auth_enabled=enabled, auto_leader_rebalance_enable=False)
    for path in ("/delegation_token", "/delegation_token/tokens", CHANGES):
        cluster.write(Create(path))
    for each in tokens:
        cluster.write(Create(token_path(each.token_id), each.to_bytes()))
    cluster.start(0)
    return cluster


def token(name: str, expiry_ms: int, most_ms: int = 7 * DAY_MS) -> DelegationToken:
    return DelegationToken(
        issue_timestamp_ms=NOW_MS,
        token_id=name,
        owner="User:alice",
        expiry_timestamp_ms=NOW_MS + expiry_ms,
        max_timestamp_ms=NOW_MS + most_ms,
        version=1,
    )


def tokens(cluster: VirtualCluster) -> tuple[str, ...]:
    return names(cluster, "/delegation_token/tokens")


def names(cluster: VirtualCluster, path: str) -> tuple[str, ...]:
    found = read(cluster.world.zookeeper.tree, GetChildren(path))
    assert found.ok
    return found.names


def notices(cluster: VirtualCluster) -> list[bytes]:
    found = [read(cluster.world.zookeeper.tree, GetData(f"{CHANGES}/{name}")) for name in names(cluster, CHANGES)]
    return [znode.data for znode in found if znode.ok]


def test_a_new_controller_deletes_what_is_over_and_notifies_of_it() -> None:
    cluster = cluster_with(token("a", -DAY_MS), token("b", DAY_MS), token("c", DAY_MS, -1))
    assert tokens(cluster) == ("b",)
    assert notices(cluster) == [b"a", b"c"]
    assert names(cluster, CHANGES) == ("token_change_0000000000", "token_change_0000000001")
    assert cluster.nodes[0].timers == {TIMER: HOUR_MS}


def test_it_looks_again_after_the_interval() -> None:
    cluster = cluster_with(token("a", HOUR_MS // 2))
    assert tokens(cluster) == ("a",)
    cluster.world.run_until(HOUR_MS + 1_000)
    assert (tokens(cluster), notices(cluster)) == ((), [b"a"])
    cluster.write(Create(token_path("b"), token("b", 0).to_bytes()))
    cluster.world.run_until(2 * HOUR_MS + 1_000)
    assert (tokens(cluster), notices(cluster)) == ((), [b"a", b"b"])


@pytest.mark.parametrize("payload", [b"", b"{", b'{"version":9}'])
def test_what_cannot_be_read_stays(payload: bytes) -> None:
    cluster = cluster_with(token("b", -1))
    cluster.write(Create(token_path("a"), payload))
    cluster.world.run_until(HOUR_MS + 1_000)
    assert tokens(cluster) == ("a",)


def test_without_tokens_there_is_nothing_to_look_for() -> None:
    cluster = cluster_with(token("a", -DAY_MS), enabled=False)
    assert tokens(cluster) == ("a",)
    assert cluster.nodes[0].timers == {}


def test_whoever_resigns_does_not_look_any_more() -> None:
    cluster = cluster_with()
    cluster.start(1)
    cluster.expire(0)
    assert {broker: node.timers for broker, node in cluster.nodes.items()} == {0: {}, 1: {TIMER: HOUR_MS}}
