"""Members of ZooKeeper groups: what their logs say, and what is made of it for the feed; scenarios of such groups."""

from pathlib import Path

import pytest

from model.sandbox.load.members import GroupWatch, MemberReport, OldMember, OwnMember
from model.sandbox.scenario import SHIPPED, read_scenario

OLD_LOG = """\
2026-11-26 06:22:44,845 INFO [legacy_o2], begin rebalancing consumer legacy_o2 try #0
2026-11-26 06:22:44,938 INFO [legacy_o2], Releasing partition ownership
2026-11-26 06:22:44,950 INFO [legacy_o2], waiting for the partition ownership to be deleted: 3
2026-11-26 06:22:46,960 INFO [legacy_o2], begin rebalancing consumer legacy_o2 try #1
2026-11-26 06:22:47,007 INFO [legacy_o2], Consumer legacy_o2 selected partitions : orders:0: fetched offset = 203: \
consumed offset = 203,pay.ments_x:11: fetched offset = 202: consumed offset = 202
2026-11-26 06:22:48,000 ERROR [legacy_o2], error during syncedRebalance
kafka.common.ConsumerRebalanceFailedException: legacy_o2 can't rebalance after 4 retries
2026-11-26 06:22:49,000 INFO [legacy_o2], ZK expired; release old broker parition ownership; re-register consumer x
"""
"""Of a real 0.8.2.2 consumer, shortened."""
OWN_LOG = """\
{"happening":"rebalance-began","why":"it joins","attempt":1,"at_ms":5}
{"happening":"conflict","partition":["orders",3],"thread":"reports_x-0","owner":"reports_y-0","at_ms":6}
{"happening":"claimed","partitions":[["orders",0,"reports_x-0"],["orders",1,"reports_x-0"]],"at_ms":7}
{"happening":"consumed","total":12,"at_ms":8}
{"happening":"rebalance-ended","succeeded":false,"attempts":4,"took_ms":1,"owned":0,"gained":[],"lost":[],"at_ms":9}
no JSON
"""


def heard(
    kind: type[OldMember | OwnMember], log: str, folder: Path
) -> tuple[OldMember | OwnMember, list[MemberReport]]:
    """What a member that "runs" is understood to say; its process is the only thing that is not there."""
    member = kind("legacy", "o2", ["orders"], folder, 6_000)
    member.log.write_text(log)
    member.status = "joining"
    return member, member.look()


def test_the_log_of_an_old_consumer_is_understood(tmp_path: Path) -> None:
    _, said = heard(OldMember, OLD_LOG, tmp_path)
    assert [(one.kind, one.partitions, one.attempt) for one in said[:-1]] == [
        ("began", (), 1),
        ("waits", ("3",), 0),
        ("began", (), 2),
        ("owns", ("orders-0", "pay.ments_x-11"), 0),
        ("gave-up", (), 4),
        ("expired", (), 0),
    ]
    assert said[3].at_ms - said[0].at_ms == 2_162
    assert said[4].at_ms - said[0].at_ms == 3_155  # the time of the line above the exception
    assert said[-1].kind == "ended"


def test_the_lines_of_our_consumer_are_understood(tmp_path: Path) -> None:
    member, said = heard(OwnMember, OWN_LOG, tmp_path)
    assert [(one.at_ms, one.kind, one.partitions, one.attempt) for one in said[:-1]] == [
        (5, "began", (), 1),
        (6, "waits", ("orders-3",), 0),
        (7, "owns", ("orders-0", "orders-1"), 0),
        (9, "gave-up", (), 4),
    ]
    assert member.consumed == 12


def told(watch: GroupWatch, *said: tuple[str, MemberReport]) -> list[str]:
    return [text for member, one in said for text in watch.hear(member, one)]


def two_members() -> GroupWatch:
    """o1 has orders-0 and orders-1, o2 orders-2."""
    watch = GroupWatch("legacy")
    for member, owned in (("o1", ("orders-0", "orders-1")), ("o2", ("orders-2",))):
        watch.changed(member, "", reached=True)
        assert not told(watch, (member, MemberReport(0, "began", attempt=1)))
        told(watch, (member, MemberReport(1, "owns", owned)))
    return watch


def test_one_change_makes_all_claim_anew() -> None:
    watch = two_members()
    watch.changed("o3", "o3 joined", reached=True)
    assert watch.rebalanced == ()
    began = [(member, MemberReport(100, "began", attempt=1)) for member in ("o1", "o2", "o3")]
    first = told(
        watch,
        *began,
        ("o1", MemberReport(300, "owns", ("orders-0",))),
        ("o3", MemberReport(400, "owns", ("orders-2",))),
    )
    assert not first
    assert not watch.is_rebalanced
    assert told(watch, ("o2", MemberReport(800, "owns", ("orders-1",)))) == [
        "for one change (o3 joined) all 3 members that hear of changes stopped reading and claimed anew, within 0.7 s"
    ]
    assert watch.is_rebalanced


def test_a_member_that_is_cut_off_reads_what_is_anothers() -> None:
    watch = two_members()
    watch.changed("o1", "o1 was cut off from ZooKeeper", reached=False)
    assert told(
        watch,
        ("o2", MemberReport(5_000, "began", attempt=1)),
        ("o2", MemberReport(5_100, "owns", ("orders-1", "orders-2"))),
    ) == [
        "orders 1 read by two: o2 owns it in ZooKeeper, and o1, which does not hear that its session is over, reads on"
    ]
    assert watch.owned_twice == ("orders-1",)
    assert watch.read_on == {"orders-1": "o1"}
    watch.changed("o1", "o1 reaches ZooKeeper again", reached=True)
    assert told(watch, ("o1", MemberReport(9_100, "expired"))) == [
        "o1 stopped reading after 4.0 s of reading what o2 reads, too",
        "o1 hears that its session has expired: what it owned may belong to others",
    ]
    assert watch.owned_twice == ()
    assert watch.read_on == {}


def test_a_rebalance_that_fails_for_good_says_whom_it_waited_for() -> None:
    watch = two_members()
    watch.changed("o1", "", reached=False)
    said = told(
        watch,
        ("o2", MemberReport(10, "began", attempt=1)),
        ("o2", MemberReport(20, "waits", ("1",))),
        ("o2", MemberReport(30, "began", attempt=2)),
        ("o2", MemberReport(40, "gave-up", attempt=2)),
    )
    assert said == [
        "o2 tries for the second time: partition 1 is owned by o1 still",
        "o2 gave up after 2 tries: partition 1 is owned by o1 still; it reads nothing until the next change",
    ]
    assert watch.given_up == ("o2",)
    assert told(watch, ("o2", MemberReport(50, "ended"))) == ["the process of o2 ended by itself"]
    assert watch.given_up == ("o2",)
    watch.killed("o2")
    assert watch.given_up == ()


@pytest.mark.parametrize("file", sorted(SHIPPED.glob("*.toml")), ids=lambda file: file.stem)
def test_scenarios_that_come_with_kdrill_are_played_by_name(file: Path) -> None:
    scenario = read_scenario(Path(file.stem))
    assert scenario.name
    assert scenario == read_scenario(file)
    deeds = [step.what for step in scenario.steps]
    assert any(getattr(deed, "broker", None) == "leader of orders-0" for deed in deeds)  # one dies in each
