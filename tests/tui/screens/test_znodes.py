"""The tree: opened, closed, jumped about in, and beside it the znode under the cursor."""

from model.znodes.topics import LeaderIsrAndControllerEpoch
from model.zookeeper import Create, Delete, SetData
from tests.tui.conftest import Cluster
from tests.tui.dashboard import kdrill, mode, opened, press, rows, text, type_in, until


async def test_branches_are_opened_and_closed(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "2")
        closed = text(pilot)
        await press(pilot, "j", "j", "l")
        assert rows(pilot).cursor_key == "/brokers"
        assert "seqid" in text(pilot)
        await press(pilot, "l", "l", "j")
        assert rows(pilot).cursor_key == "/brokers/ids/1"
        await press(pilot, "h")
        assert rows(pilot).cursor_key == "/brokers/ids"
        await press(pilot, "h", "h", "h")
        assert rows(pilot).cursor_key == "/brokers"
        await press(pilot, "g")
        assert text(pilot) == closed


async def test_enter_turns_a_branch(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "2", "j", "j", "enter")
        assert "/brokers" in kdrill(pilot).view_state.of("znodes").opened
        await press(pilot, "enter")
        assert kdrill(pilot).view_state.of("znodes").opened == ()


async def test_the_znode_under_the_cursor_stands_beside_the_tree(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        kdrill(pilot).show_znode("/controller")
        await press(pilot, "2")
        assert '"brokerid": 4' in text(pilot)
        assert "ephemeral, session 0x" in text(pilot) and "(broker 4)" in text(pilot)
        await press(pilot, "v")
        assert '{"version":2' in text(pilot).replace(" ", "") and '"brokerid": 4' not in text(pilot)
        await press(pilot, "k")
        assert "─ /consumers ─" in text(pilot)


async def test_a_jump_opens_what_is_above_and_a_filter_does_not_hide_it(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "2", "slash")
        await type_in(pilot, "admin")
        await press(pilot, "enter", "colon")
        await type_in(pilot, "zk /brokers/topics/payments/partitions/4/state")
        await press(pilot, "enter")
        assert rows(pilot).cursor_key == "/brokers/topics/payments/partitions/4/state"
        assert rows(pilot).row is not None


async def test_the_tree_is_filtered_by_what_is_open(still: str) -> None:
    async with opened(still) as pilot:
        kdrill(pilot).show_znode("/brokers/topics/payments")
        await press(pilot, "2", "slash")
        await type_in(pilot, "/topics/p")
        assert {row.key for row in rows(pilot, "znodes").answer.rows} == {
            "/brokers/topics/page-views",
            "/brokers/topics/payments",
            "/brokers/topics/prices",
        }


async def test_znodes_lead_to_what_they_are_about(still: str) -> None:
    leads = {
        "/brokers/topics/orders/partitions/3/state": ("partitions", "topic:=orders"),
        "/brokers/ids/3": ("partitions", "broker:3"),
        "/config/topics/orders": ("partitions", "topic:=orders"),
    }
    async with opened(still) as pilot:
        for path, (place, filtered) in leads.items():
            kdrill(pilot).show_znode(path)
            await press(pilot, "2", "o")
            assert (mode(pilot), kdrill(pilot).view_state.of("partitions").filter) == (place, filtered)
            assert rows(pilot).total > 0
        kdrill(pilot).show_znode("/consumers/audit-archiver/owners")
        await press(pilot, "2", "o")
        assert (mode(pilot), rows(pilot, "groups").cursor_key) == ("consumers", "audit-archiver")


async def test_a_znode_is_described_alone_and_its_path_and_payload_are_copied(still: str) -> None:
    async with opened(still) as pilot:
        kdrill(pilot).show_znode("/controller_epoch")
        await press(pilot, "2", "y")
        assert kdrill(pilot).clipboard == "/controller_epoch"
        await press(pilot, "Y")
        assert kdrill(pilot).clipboard == "7"
        await press(pilot, "d")
        assert "znode /controller_epoch" in text(pilot).split("\n")[1]


async def test_in_the_text_beside_the_tree_one_searches(still: str) -> None:
    async with opened(still) as pilot:
        kdrill(pilot).show_znode("/brokers/ids/3")
        await press(pilot, "2", "tab", "slash")
        await type_in(pilot, "mzxid")
        await press(pilot, "enter")
        assert "mzxid" in text(pilot)
        assert kdrill(pilot).view_state.of("znodes").filter == "", "the tree is not filtered"
        await press(pilot, "y")
        assert '"rack":"rack-c"' in kdrill(pilot).clipboard.replace(" ", "")


async def test_the_history_shows_what_changed_while_one_looks(cluster: Cluster) -> None:
    path = "/brokers/topics/payments/partitions/4/state"
    async with opened(cluster.address) as pilot:
        kdrill(pilot).show_znode(path)
        await press(pilot, "2", "H")
        assert f"history {path}" in text(pilot).split("\n")[1]
        assert "Values that kdrill saw" in text(pilot)
        cluster.write(SetData(path, state(leader_epoch=90, isr=(1, 2))))
        await until(pilot, lambda: "-> 90" in text(pilot))
        cluster.write(SetData(path, state(leader_epoch=91, isr=(1,))))
        await until(pilot, lambda: "leader_epoch 90 -> 91" in text(pilot))
        assert "isr 1,2 -> 1" in text(pilot)
        assert "The controller of epoch 7 (broker 4) wrote this" in text(pilot)
        await press(pilot, "escape")
        assert rows(pilot).cursor_key == path


async def test_the_history_of_what_goes_and_comes_again_stands_beside_the_tree(cluster: Cluster) -> None:
    path = "/admin/delete_topics/payments"
    async with opened(cluster.address, size=(120, 40)) as pilot:
        cluster.write(Create(path, b"1"))
        kdrill(pilot).show_znode(path)
        await press(pilot, "2", "v", "v")
        await until(pilot, lambda: "created" in text(pilot))
        cluster.write(Delete(path))
        await until(pilot, lambda: "gone, noticed then" in text(pilot))
        cluster.write(Create(path, b"2"))
        await until(pilot, lambda: "created anew" in text(pilot) and "1 -> 2" in text(pilot))


async def test_who_writes_and_who_watches_is_explained_under_the_facts(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        kdrill(pilot).show_znode("/controller")
        await press(pilot, "2")
        shown = " ".join(text(pilot).split())
        assert "who writes it The broker that wins the election." in shown
        assert "who watches it Every broker" in shown


def state(leader_epoch: int, isr: tuple[int, ...]) -> bytes:
    return LeaderIsrAndControllerEpoch(controller_epoch=7, leader=1, leader_epoch=leader_epoch, isr=isr).to_bytes()
