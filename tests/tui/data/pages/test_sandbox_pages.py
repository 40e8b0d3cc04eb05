"""The sandbox's lists and texts: every state has a sign, and what is broken is told with its way back."""

from pathlib import Path

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups.events_and_commands import ClaimConflicted, GroupRead, RebalanceBegan
from model.sandbox.faults import CutLink, ExpireSession, HealLink
from model.sandbox.messages import LinkView, LoadView, OpenFault, ProcessView, SandboxState, uses
from tests.tui.data.asked import list_query, router, rows_shown, text_shown
from tui.engine.messages import TextAnswer
from tui.engine.queries import LinkList, ProcessText, SandboxText
from tui.engine.router import NO_SANDBOX
from tui.engine.rows import Row, Window

NOW_MS = 1_700_000_060_000


def words(row: Row) -> list[str]:
    return ["".join(text for text, _ in cell) for cell in row.cells]


def state(log: str = "") -> SandboxState:
    fault = CutLink(("2", "zookeeper"))
    return SandboxState(
        processes=(
            ProcessView(name="zookeeper 1", kind="zookeeper", status="running", pid=11, since_ms=NOW_MS - 60_000),
            ProcessView(name="broker 1", kind="broker", status="killed", since_ms=NOW_MS - 5_000, log=log, detail="r1"),
            ProcessView(name="broker 2", kind="broker", status="paused", pid=12, address="127.0.0.1:40012"),
        ),
        links=(
            LinkView(between=("2", "zookeeper"), status="cut"),
            LinkView(between=("1", "2"), status="slow", delay_ms=200.0),
            LinkView(between=("1", "clients")),
        ),
        faults=(
            OpenFault(number=1, at_ms=NOW_MS - 9_000, fault=ExpireSession(1), text="session ended", repair=None),
            OpenFault(number=2, at_ms=NOW_MS - 3_000, fault=fault, text="cut off", repair=HealLink(fault.between)),
        ),
        load=LoadView(rate=20.0, acknowledged=1_234, acknowledged_per_s=19.6, lost=3, error="NOT_ENOUGH_REPLICAS"),
    )


def shown(name: str, text: str = "") -> Window:
    return rows_shown(state(), list_query(name, filter=text), NOW_MS)


def test_processes_have_a_mark_for_each_state() -> None:
    window = shown("sandbox-processes")
    assert [(row.key, row.mark, words(row)[1]) for row in window.rows] == [
        ("zookeeper 1", "", "running"),
        ("broker 1", "X", "killed"),
        ("broker 2", "~", "paused"),
    ]
    assert words(window.rows[0])[2:4] == ["1m", "11"]
    assert words(window.rows[2])[4] == "127.0.0.1:40012"


def test_processes_can_be_filtered_by_state() -> None:
    assert [row.key for row in shown("sandbox-processes", "state:paused").rows] == ["broker 2"]


def test_links_tell_who_cannot_talk_to_whom() -> None:
    assert [(row.key, row.mark, words(row)) for row in shown("sandbox-links").rows] == [
        ("2|zookeeper", "X", ["b2 - zookeeper", "cut"]),
        ("1|2", "~", ["b1 - b2", "slow 200 ms"]),
        ("1|clients", "", ["b1 - clients", "open"]),
    ]


def test_what_is_broken_stands_with_the_newest_first_and_what_cannot_be_undone() -> None:
    text = text_shown(state(), SandboxText(width=70), NOW_MS).plain
    assert "1,234 acknowledged, 20 of 20 a second" in text
    assert "3 acknowledged records known to be lost" in text
    assert text.index("3s ago    cut off") < text.index("9s ago    session ended; cannot be undone")


def test_a_process_is_told_with_the_end_of_its_log(tmp_path: Path) -> None:
    log = tmp_path / "broker-1.log"
    log.write_text("".join(f"line {number}\n" for number in range(1_000)))
    text = text_shown(state(str(log)), ProcessText(key="broker 1"), NOW_MS).plain
    assert "line 999" in text and "line 800" in text and "line 799" not in text
    assert "killed" in text


def test_a_broker_says_how_clients_use_it() -> None:
    broker = ProcessView(name="broker 1", kind="broker", status="running", address="127.0.0.1:29091")
    other = ProcessView(name="producer", kind="producer", status="running")
    told = SandboxState(processes=(broker, other))
    lines = text_shown(told, ProcessText(key="broker 1", width=200), NOW_MS).plain.splitlines()
    for client, use in uses("127.0.0.1:29091", "TOPIC").items():
        assert [line.split(maxsplit=1)[1] for line in lines if line.startswith(f"{client} ")] == [use]
    assert "kcat" not in text_shown(told, ProcessText(key="producer", width=200), NOW_MS).plain


def test_a_log_that_is_not_there_is_no_failure() -> None:
    assert "killed" in text_shown(state("/none"), ProcessText(key="broker 1"), NOW_MS).plain


async def test_a_cluster_that_is_no_sandbox_says_so() -> None:
    window, text = await router().answer(LinkList()), await router().answer(SandboxText(width=200))
    assert isinstance(window, Window) and window.note == NO_SANDBOX
    assert isinstance(text, TextAnswer) and "kdrill sandbox" in text.plain


def test_a_zookeeper_consumer_is_told_as_its_own_view_with_its_conflicts(tmp_path: Path) -> None:
    log = tmp_path / "consumer.log"
    told = (
        RebalanceBegan(why="a member left", attempt=1),
        GroupRead(members=("g_a", "g_b"), partitions={"orders": 6}),
        ClaimConflicted(partition=TopicPartition("orders", 3), thread="g_a-0", owner="g_c-0"),
    )
    lines = [msgspec.json.encode({**msgspec.to_builtins(one), "at_ms": NOW_MS + n}) for n, one in enumerate(told)]
    consumed = b'{"at_ms":1,"happening":"consumed","total":9}\n' * 1_000
    log.write_bytes(b"not JSON\n" + b"\n".join(lines) + b"\n" + consumed)
    process = ProcessView(name="consumer g/z1", kind="consumer", status="running", log=str(log))
    query = ProcessText(key=process.name, width=100)
    text = text_shown(SandboxState(processes=(process,)), query, NOW_MS).plain
    assert "sees      members g_a, g_b" in text and "orders (6)" in text
    assert "1 claims found another owner" in text
    assert text.index("g_a-0 cannot have orders-3: it belongs to g_c-0.") < text.index("attempt 1: a member left.")
