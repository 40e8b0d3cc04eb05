"""Real changes of a real ZooKeeper, and what becomes of them on the screen."""

import asyncio

from model.sandbox.demo.demo import DemoCluster
from model.sandbox.embedded_zookeeper import start_zookeeper
from model.zookeeper import Create, Delete, SetData
from tests.harness.small_demo import SMALL
from tests.tui.conftest import Cluster
from tests.tui.dashboard import BEGAN_MS, Keys, kdrill, mark, mode, opened, press, rows, settled, text, until
from tui.engine.queries import name_in

SHRINK, EXPAND, LEAVE, MOVE_CONTROLLER = 1, 5, 7, 13
"""Numbers of the demo's steps."""

LEADER_GREEN = "#7ee2a8"


def colours(pilot: Keys) -> set[str]:
    """Those that the screen has below row one."""
    strips = pilot.app.screen._compositor.render_strips()[1:]
    styles = [segment.style for strip in strips for segment in strip if segment.style]
    return {style.color.name for style in styles if style.color}


def threads(pilot: Keys) -> set[str]:
    """Those in sight in the ownership graph; a thread may take more rows than one."""
    return {name for row in rows(pilot, "group").answer.rows if (name := name_in(row.key))}


async def test_an_isr_that_shrinks_is_an_event_and_a_sign_on_the_map(cluster: Cluster) -> None:
    async with opened(cluster.address) as pilot:
        await asyncio.to_thread(cluster.demo.step, SHRINK)
        await until(pilot, lambda: "isr" in " ".join(text(pilot).split("\n")[19:22]))
        subject = rows(pilot, "events").answer.rows[0].cells[2][0][0]
        await press(pilot, "tab", "o")
        assert (mode(pilot), rows(pilot).cursor_key) == ("partitions", subject)
        assert mark(pilot) == "!"
        await asyncio.to_thread(cluster.demo.step, EXPAND)


async def test_a_broker_that_is_lost_is_seen_in_row_one_and_in_its_list(cluster: Cluster) -> None:
    async with opened(cluster.address, size=(160, 40)) as pilot:
        assert "5 up 1 DOWN" in text(pilot)
        await asyncio.to_thread(cluster.demo.lose_broker, 2)
        await until(pilot, lambda: "4 up 2 DOWN" in text(pilot))
        await until(pilot, lambda: rows(pilot, "brokers").answer.rows[1].mark == "X")
        await until(pilot, lambda: "b2 gone" in text(pilot))


async def test_another_controller_is_seen_on_every_screen(cluster: Cluster) -> None:
    async with opened(cluster.address) as pilot:
        await press(pilot, "4")
        await asyncio.to_thread(cluster.demo.step, MOVE_CONTROLLER)
        await until(pilot, lambda: "b6 e8" in text(pilot).split("\n")[0])
        await press(pilot, "1")
        assert rows(pilot, "brokers").answer.rows[-1].mark == "★"


async def test_a_consumer_that_leaves_takes_its_threads_out_of_the_graph(cluster: Cluster) -> None:
    async with opened(cluster.address) as pilot:
        await press(pilot, "4", "j")
        before = threads(pilot)
        await asyncio.to_thread(cluster.demo.step, LEAVE)
        await until(pilot, lambda: len(threads(pilot)) == len(before) - 2)
        assert threads(pilot) < before


async def test_the_cursor_stays_on_its_partition_when_a_topic_appears_before_it(cluster: Cluster) -> None:
    async with opened(cluster.address) as pilot:
        await press(pilot, "3", "G", "k")
        key, place = rows(pilot).cursor_key, rows(pilot).cursor
        cluster.write(
            Create("/brokers/topics/aaa", b'{"version":1,"partitions":{"0":[1],"1":[2]}}'),
            Create("/brokers/topics/aaa/partitions"),
        )
        await until(pilot, lambda: rows(pilot).total == 128)
        assert (rows(pilot).cursor_key, rows(pilot).cursor) == (key, place + 2)


async def test_the_cursor_stays_on_its_partition_however_far_it_goes(cluster: Cluster) -> None:
    """Farther than rows are held, to a place that the question before the last key could not ask about."""
    async with opened(cluster.address) as pilot:
        await press(pilot, "3", "G", "k")
        key, place = rows(pilot).cursor_key, rows(pilot).cursor
        many = ", ".join(f'"{number}": [1]' for number in range(200))
        cluster.write(
            Create("/brokers/topics/aaa", f'{{"version": 1, "partitions": {{{many}}}}}'.encode()),
            Create("/brokers/topics/aaa/partitions"),
        )
        await until(pilot, lambda: rows(pilot).total == 326)
        at_hand = rows(pilot)
        assert (at_hand.cursor_key, at_hand.cursor) == (key, place + 200)
        assert at_hand.top <= at_hand.cursor < at_hand.top + at_hand.size.height


async def test_a_znode_that_goes_is_shown_as_gone_with_the_cursor_still_on_it(cluster: Cluster) -> None:
    async with opened(cluster.address) as pilot:
        kdrill(pilot).show_znode("/admin/delete_topics")
        await press(pilot, "2")
        cluster.write(Create("/admin/preferred_replica_election", b'{"version":1,"partitions":[]}'))
        await until(pilot, lambda: "preferred_replica" in text(pilot))
        await press(pilot, "j")
        assert rows(pilot).cursor_key == "/admin/preferred_replica_election"
        cluster.write(Delete("/admin/preferred_replica_election"))
        await until(pilot, lambda: mark(pilot) == "-")
        assert rows(pilot).cursor_key == "/admin/preferred_replica_election"


async def test_the_tree_marks_what_changed(cluster: Cluster) -> None:
    def marks() -> dict[str, str]:
        return {row.key.rpartition("/")[2]: row.mark for row in rows(pilot).answer.rows if row.mark}

    async with opened(cluster.address) as pilot:
        kdrill(pilot).show_znode("/admin/delete_topics")
        await press(pilot, "2")
        await until(pilot, lambda: rows(pilot).cursor_key == "/admin/delete_topics")
        cluster.write(Create("/admin/reassign_partitions", b'{"version":1,"partitions":[]}'))
        await until(pilot, lambda: marks().get("reassign_partitions") == "+")
        cluster.write(SetData("/controller_epoch", b"9"))
        await until(pilot, lambda: marks().get("controller_epoch") == "~")
        cluster.write(Delete("/admin/reassign_partitions"))
        await until(pilot, lambda: marks().get("reassign_partitions") == "-")


async def test_the_znode_beside_the_tree_follows_its_changes(cluster: Cluster) -> None:
    async with opened(cluster.address) as pilot:
        kdrill(pilot).show_znode("/controller_epoch")
        await press(pilot, "2")
        assert "data version    1" in text(pilot)
        cluster.write(SetData("/controller_epoch", b"4711"))
        await until(pilot, lambda: "4711" in text(pilot) and "data version    2" in text(pilot))


async def test_a_payload_that_becomes_unreadable_is_a_finding_and_the_rest_goes_on(cluster: Cluster) -> None:
    async with opened(cluster.address) as pilot:
        findings = int(text(pilot).split("\n")[0].rpartition("|")[2].split()[0])
        cluster.write(SetData("/brokers/topics/orders/partitions/3/state", b'{"version":1,"lea'))
        await until(pilot, lambda: f"{findings + 1} FINDINGS" in text(pilot).split("\n")[0])
        kdrill(pilot).show_partitions("orders-3")
        await press(pilot, "3")
        assert "unread" in text(pilot)


async def test_a_lost_server_fades_every_screen_until_it_is_back() -> None:
    with start_zookeeper() as server, DemoCluster(SMALL, server.address, clock_ms=lambda: BEGAN_MS):
        async with opened(f"{server.address}/kafka") as pilot:
            await press(pilot, "3")
            assert LEADER_GREEN in colours(pilot)
            server.kill()
            await until(pilot, lambda: "STALE" in text(pilot).split("\n")[0] and kdrill(pilot).faded)
            assert LEADER_GREEN not in colours(pilot)
            await press(pilot, "j", "1")
            assert "STALE" in text(pilot).split("\n")[0]
            assert "in ISR" in text(pilot) and "OFFLINE" in text(pilot), "the last known image is kept"
            await press(pilot, "2", "j", "l")
            assert kdrill(pilot).is_running
            await asyncio.to_thread(server.start)
            await until(pilot, lambda: "LIVE" in text(pilot).split("\n")[0] and not kdrill(pilot).faded)
            await press(pilot, "3")
            assert LEADER_GREEN in colours(pilot)
            await settled(pilot)
