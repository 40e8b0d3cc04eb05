"""What only a sandbox knows, in the descriptions of screens 3 and 4: why an ISR shrank, what a group's members say."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.cluster.change import Change
from model.cluster.ids import TopicPartition
from model.cluster.records import GroupSeen, MemberJoined, PartitionClaimed
from model.sandbox.load.members import GroupWatch, MemberReport
from model.sandbox.messages import GroupView, LoadView, SandboxState
from tests.kept_text import assert_kept
from tests.tui.data.asked import router
from tests.tui.data.small_cluster import NOW_MS, moment_of, rows_of, small_image
from tui.engine.consumers.groups import group_text, groups_window
from tui.engine.consumers.ownership import ownership_window
from tui.engine.listing import AnswerMemo
from tui.engine.messages import TextAnswer
from tui.engine.partitions.reasons import partition_text
from tui.engine.queries import GroupList, GroupText, OwnershipList, PartitionTextQuery
from tui.engine.rows import Window

KEPT = Path(__file__).parents[2] / "snapshots"
LEFT = (
    "its leader b1 says: broker 2 is 412 messages behind (replica.lag.max.messages is 100), it leaves the ISR by "
    "replica.lag.max.messages: a burst is enough, it need not be slow"
)


def shown(plain: str, title: str) -> list[str]:
    """The lines of a part, from its title on to the next gap."""
    lines = plain.splitlines()
    start = next(number for number, line in enumerate(lines) if title in line)
    end = next((number for number in range(start, len(lines)) if not lines[number].strip()), len(lines))
    return [line.rstrip() for line in lines[start:end]]


def story() -> list[str]:
    """A member is cut off and reads on, another claims what it had, and a third joins: all stop."""
    watch = GroupWatch("billing")
    for member, owned in (("o1", ("orders-0", "orders-1")), ("o2", ("orders-2",))):
        watch.changed(member, "", reached=True)
        for said in (MemberReport(0, "began", attempt=1), MemberReport(1, "owns", owned)):
            list(watch.hear(member, said))
    told: list[str] = []
    watch.changed("o1", "o1 was cut off from ZooKeeper", reached=False)
    steps = [
        ("o2", MemberReport(5_000, "began", attempt=1)),
        ("o2", MemberReport(5_100, "owns", ("orders-1", "orders-2"))),
        ("o1", MemberReport(9_100, "expired")),
    ]
    told += [text for member, said in steps for text in watch.hear(member, said)]
    watch.changed("o3", "o3 joined", reached=True)
    watch.changed("o1", "o3 joined", reached=True)
    began = [(member, MemberReport(20_000, "began", attempt=1)) for member in ("o1", "o2", "o3")]
    owned = [
        (member, MemberReport(20_300, "owns", (f"orders-{place}",))) for place, member in enumerate(("o1", "o2", "o3"))
    ]
    return told + [text for member, said in began + owned for text in watch.hear(member, said)]


def test_a_groups_members_say_what_zookeeper_does_not_have() -> None:
    changes = [
        Change("sandbox-group", "group billing", text, "warn", NOW_MS + 1000 * number)
        for number, text in enumerate(story())
    ]
    other = Change("sandbox-group", "group other", "not this one", "warn", NOW_MS)
    answer = group_text(moment_of(small_image(), *changes, other), GroupText(key="billing", width=100), 0, AnswerMemo())
    assert_kept(KEPT / "told_by_members.txt", shown(answer.plain, "what its members say"))


def test_the_owners_table_marks_who_reads_what_is_anothers() -> None:
    query = OwnershipList(scope="billing", view="table")
    said = [GroupView(name="billing", read_on={"orders-2": "o1", "payments-0": "o1", "orders-3": "o7"})]
    rows = rows_of(ownership_window(moment_of(small_image()), query, NOW_MS, AnswerMemo(), said=said))
    assert [row.rpartition(" | ")[2] for row in rows if "!" in row.rpartition(" | ")[2]] == [
        "orders 2  payments 0  ! o1 reads, too: orders 2  payments 0",
        "orders 3  ! o7 reads, too: orders 3",
    ]
    rows = rows_of(ownership_window(moment_of(small_image()), query, NOW_MS, AnswerMemo()))
    assert not [row for row in rows if " reads" in row]


@pytest.mark.parametrize(
    ("view", "told"),
    [
        ("graph-partitions", ["orders 2  ! o1 reads it too", "payments 0  ! o1 reads it too"]),
        (
            "graph-topics",
            [
                "X payments 1/3 7  1 unowned  ! o1 reads 1 of them",
                "X orders 3  1 unowned  ! o1 reads 1 of them",
            ],
        ),
    ],
)
def test_the_graph_marks_it_too(view: str, told: list[str]) -> None:
    query = OwnershipList(scope="billing", view=view, width=120, count=60)
    said = [GroupView(name="billing", read_on={"orders-2": "o1", "payments-0": "o1"})]
    rows = rows_of(ownership_window(moment_of(small_image()), query, NOW_MS, AnswerMemo(), said=said))
    assert [cell.strip() for row in rows for cell in row.split(" | ") if " reads" in cell] == told
    rows = rows_of(ownership_window(moment_of(small_image()), query, NOW_MS, AnswerMemo()))
    assert not [row for row in rows if " reads" in row]


def test_the_owners_table_says_who_gave_up() -> None:
    idle = [MemberJoined(group="billing", member=f"billing_o{n}", subscription={"orders": 1}) for n in (8, 9)]
    said = [GroupView(name="billing", given_up=("o9",))]
    query = OwnershipList(scope="billing", view="table", filter="thread:billing_o")
    rows = rows_of(ownership_window(moment_of(small_image(*idle)), query, NOW_MS, AnswerMemo(), said=said))
    assert [row.rpartition(" | ")[2] for row in rows] == [
        "idle: owns nothing",
        "gave up, owns nothing until the next change",
    ]


SPLIT = GroupView(name="billing", owned_twice=("orders-2",), read_on={"orders-2": "o1"})
OUT_OF_TRIES = GroupView(name="billing", given_up=("o9",))


@pytest.mark.parametrize(("said", "state"), [(SPLIT, "split brain"), (OUT_OF_TRIES, "gave up")])
def test_a_group_of_which_only_its_members_know_what_is_wrong(said: GroupView, state: str) -> None:
    """ZooKeeper has at most that its rebalance does not end."""
    image = small_image(GroupSeen(group="audit"))
    moment, here = moment_of(image), [said, GroupView(name="audit")]
    rows = rows_of(groups_window(moment, GroupList(), NOW_MS, AnswerMemo(), said=here))
    assert [row.split(" | ")[:3] for row in rows] == [[" ", "audit", ""], ["X", "billing", state]]
    query = GroupList(filter=f"state:{state.partition(' ')[0]}")
    found = rows_of(groups_window(moment, query, NOW_MS, AnswerMemo(), said=here))
    assert [row.split(" | ")[1] for row in found] == ["billing"]
    plain = group_text(moment, GroupText(key="billing", width=100), NOW_MS, AnswerMemo(), said=here).plain
    assert [line.split(maxsplit=1)[1] for line in plain.splitlines() if line.startswith("state")] == [state]


def test_what_is_wrong_marks_a_group_in_which_each_partition_has_an_owner() -> None:
    records = [
        MemberJoined(group="calm", member="calm_o1", subscription={"payments": 1}),
        *(
            PartitionClaimed(group="calm", partition=TopicPartition("payments", n), owner="calm_o1-0")
            for n in (0, 3, 7)
        ),
    ]
    for said, mark in (((), " "), ([GroupView(name="calm", owned_twice=("payments-0",))], "!")):
        query = GroupList(filter="group:calm")
        rows = rows_of(groups_window(moment_of(small_image(*records)), query, NOW_MS, AnswerMemo(), said=said))
        assert [row.split(" | ")[0] for row in rows] == [mark]


async def test_of_a_live_sandbox_the_table_is_told() -> None:
    told = (GroupView(name="other", read_on={"orders-2": "x"}), GroupView(name="billing", read_on={"orders-2": "o1"}))
    sandbox = SandboxState(load=LoadView(rate=1.0, groups=told))
    answer = await router(sandbox=sandbox).answer(OwnershipList(scope="billing", view="table"))
    assert isinstance(answer, Window)
    assert [row for row in rows_of(answer) if "o1 reads, too: orders 2" in row]
    assert not [row for row in rows_of(answer) if "x reads" in row]


async def test_of_a_live_sandbox_the_group_itself_is_told() -> None:
    sandbox = SandboxState(load=LoadView(rate=1.0, groups=(SPLIT,)))
    answer = await router(sandbox=sandbox).answer(GroupText(key="billing", width=100))
    assert isinstance(answer, TextAnswer)
    assert "split brain" in answer.plain


def test_a_partition_says_why_a_follower_left_its_isr_last() -> None:
    older = Change("sandbox-isr", "payments-3", "an older reason", "warn", NOW_MS - 5_000)
    changes = (older, Change("sandbox-isr", "payments-3", LEFT, "warn", NOW_MS))
    answer = partition_text(moment_of(small_image(), *changes), PartitionTextQuery(key="payments-3", width=100), NOW_MS)
    assert_kept(KEPT / "told_by_leader.txt", shown(answer.plain, "left ISR"))
