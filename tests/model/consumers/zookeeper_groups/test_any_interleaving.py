"""Members in any interleaving of requests, events, joins and deaths: the group comes to rest, all owned once."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from model.consumers.zookeeper_groups.events_and_commands import LeaveRequested
from model.consumers.zookeeper_groups.member_state import MemberStage
from tests.model.consumers.zookeeper_groups.virtual_group import Host, VirtualGroup

PATIENT = 1_000_000
"""Retries: here timers may fire before the others have done anything."""
WEIGHTS = {"go": 300, "read": 12, "timer": 2, "join": 3, "kill": 0.5, "expire": 0.7, "leave": 0.4, "grow": 0.5}


@settings(max_examples=60, phases=[Phase.generate])
@given(
    seed=st.integers(0, 2**32),
    length=st.integers(0, 1500),
    threads=st.lists(st.integers(1, 3), min_size=2, max_size=5),
    strategy=st.sampled_from(["zk-range", "zk-roundrobin-1.0"]),
)
def test_it_comes_to_rest_with_everything_owned_once(seed: int, length: int, threads: list[int], strategy: str) -> None:
    dice, group = Random(seed), VirtualGroup({"t": 4, "u": 2}, records=20)
    common = {"strategy": strategy, "rebalance_max_retries": PATIENT}
    waiting = [{"name": f"m{number}", "subscription": {"t": n, "u": n}, **common} for number, n in enumerate(threads)]
    group.join(**waiting.pop())
    for _ in range(length):
        play(group, waiting, dice)
        group.check()
    settle(group, dice)
    if not any(host.alive for host in group.hosts):
        group.join("last", subscription={"t": 1, "u": 1}, **common)
        settle(group, dice)
    group.check_at_rest()
    for host in group.hosts:
        host.read(most=100)
    group.check_consumed()


def settle(group: VirtualGroup, dice: Random) -> None:
    """Whoever waits for a session gets one, and all goes on until it rests."""
    group.settle(dice)
    for host in group.hosts:
        if host.alive and host.member.stage is MemberStage.AWAITING_SESSION:
            host.reconnect()
    group.settle(dice)


def play(group: VirtualGroup, waiting: list[dict[str, Any]], dice: Random) -> None:
    """One step, if it is possible now."""
    (what,) = dice.choices(list(WEIGHTS), list(WEIGHTS.values()))
    living = [host for host in group.hosts if host.alive]
    if what == "go":
        doing = group.busy()
        if doing:
            dice.choice(doing)()
    elif what == "join" and waiting:
        group.join(**waiting.pop())
    elif what == "grow":
        group.put_topic("t", max(dice.randint(4, 6), group.partitions("t")), 20)
    elif living:
        harm(what, dice.choice(living), dice)


def harm(what: str, host: Host, dice: Random) -> None:
    """What happens to one member."""
    if what == "timer" and host.timers:
        host.fire(dice.choice(sorted(host.timers)))
    elif what == "read":
        host.read(dice.randint(1, 4))
    elif what == "kill":
        host.kill()
    elif what == "expire" and host.member.stage is MemberStage.AWAITING_SESSION:
        host.reconnect()
    elif what == "expire" and host.member.stage is not MemberStage.NEW:
        host.expire()
    elif what == "leave":
        host.put(LeaveRequested)
