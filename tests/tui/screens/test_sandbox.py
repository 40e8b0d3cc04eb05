"""The sandbox's screen: the picture's cursor says what is broken, lists are a key away, only a countdown ticks."""

from __future__ import annotations

import asyncio

import msgspec
from textual.geometry import Offset

from tests.tui.dashboard import kdrill, opened, press, rows, settled, text, until
from tests.tui.screens.still_sandbox import WithKraftSandbox, WithSandbox, WithStillSandbox
from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LiveText
from tui.app.screens.sandbox import PictureOfCluster, Sandbox
from tui.app.widgets.lists import ContentShown
from tui.engine.link import DataLink
from tui.engine.messages import TextAnswer, TextQuery
from tui.engine.queries import NO_SANDBOX, ClusterPicture
from tui.engine.rows import line


class Counting(WithStillSandbox):
    """Counts how often the picture is asked for, and says after how many ms it is another one."""

    def __init__(self, link: DataLink) -> None:
        super().__init__(link)
        self.asked = 0
        self.again_ms = 0

    async def text(self, query: TextQuery) -> TextAnswer:
        answer = await super().text(query)
        if not isinstance(query, ClusterPicture):
            return answer
        self.asked += 1
        return msgspec.structs.replace(answer, again_ms=self.again_ms)


async def test_arrows_and_clicks_choose_what_keys_break(still: str) -> None:
    async with opened(still, size=(120, 40), link=WithSandbox) as pilot:
        await press(pilot, "8")
        screen = kdrill(pilot).screen
        assert isinstance(screen, Sandbox)
        picture = screen.query_one(PictureOfCluster)
        await until(pilot, lambda: screen.chosen == "broker 1")
        for key, chosen in (("l", "broker 2"), ("right", "broker 3"), ("k", "zookeeper 1"), ("j", "broker 2")):
            await press(pilot, key)
            assert screen.chosen == chosen
        await press(pilot, "K")
        await until(pilot, lambda: "Kill(broker=2)" in text(pilot))
        for _ in range(3):
            await press(pilot, "j")
        assert screen.chosen in ("producer", "consumer auditors/member-1")
        spot = next(one for one in picture.spots if one.key == "broker 3")
        await pilot.click(PictureOfCluster, offset=Offset(spot.x + 3, spot.y + 2))
        assert screen.chosen == "broker 3"
        await press(pilot, "E")
        await until(pilot, lambda: "ExpireSession(broker=3)" in text(pilot))


async def test_in_kraft_mode_keys_break_controllers_and_say_what_is_not_there(still: str) -> None:
    async with opened(still, size=(120, 40), link=WithKraftSandbox) as pilot:
        await press(pilot, "8")
        await until(pilot, lambda: "NO QUORUM: nothing is written" in text(pilot))
        screen = kdrill(pilot).screen
        assert isinstance(screen, Sandbox)
        assert "CUT OFF" in text(pilot) and "zookeeper" not in text(pilot).lower()
        screen.query_one(PictureOfCluster).choose("controller 102")
        for key, deed in (
            ("K", "Kill(broker=102)"),
            ("D", "Terminate(broker=102)"),
            ("Z", "Pause(broker=102)"),
            ("X", "CutLink(between=('102', 'controllers'))"),
        ):
            await press(pilot, key)
            await until(pilot, lambda deed=deed: deed in text(pilot))
        screen.query_one(PictureOfCluster).choose("controller 101")
        await press(pilot, "U")
        await until(pilot, lambda: "Start(broker=101)" in text(pilot))
        await press(pilot, "E")
        await until(pilot, lambda: "KRaft has no ZooKeeper sessions: X cuts the broker off" in text(pilot))
        await press(pilot, "F")
        await until(pilot, lambda: "KillController(" in text(pilot))
        await press(pilot, "v")
        await until(pilot, lambda: "b2 - controllers" in text(pilot) and "c101 - c102" in text(pilot))
        await press(pilot, "g", "j", "d")
        await until(pilot, lambda: "kafka-metadata-quorum.sh --bootstrap-controller 127.0.0.1:40102" in text(pilot))


async def test_lists_are_a_key_away_and_have_the_same_cursor(still: str) -> None:
    async with opened(still, size=(120, 40), link=WithSandbox) as pilot:
        await press(pilot, "8")
        await until(pilot, lambda: "session" in text(pilot))
        await press(pilot, "l", "v")
        await until(pilot, lambda: rows(pilot, "sandbox-processes").cursor_key == "broker 2")
        assert "╔═ Processes" in text(pilot) and "Links" in text(pilot) and "Cluster ═" not in text(pilot)
        await press(pilot, "j", "v")
        screen = kdrill(pilot).screen
        assert isinstance(screen, Sandbox) and screen.chosen == "broker 3"
        assert "Cluster ═" in text(pilot) and "Processes" not in text(pilot)
        await press(pilot, "v", "tab", "X")
        await until(pilot, lambda: "HealLink(" in text(pilot))


async def test_it_is_drawn_again_only_while_it_counts(still: str) -> None:
    links: list[Counting] = []

    def counting(link: DataLink) -> Counting:
        links.append(Counting(link))
        return links[0]

    async with opened(still, size=(120, 40), link=counting) as pilot:
        await press(pilot, "8")
        await settled(pilot)
        asked = links[0].asked
        await asyncio.sleep(0.5)
        assert links[0].asked == asked
        links[0].again_ms = 50
        await press(pilot, "l")
        await until(pilot, lambda: links[0].asked > asked + 5)
        await press(pilot, "1")
        await settled(pilot)
        out_of_sight = links[0].asked
        await asyncio.sleep(0.3)
        assert links[0].asked <= out_of_sight + 1


async def test_a_cluster_that_is_no_sandbox_is_drawn_alone(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        await press(pilot, "8")
        await until(pilot, lambda: NO_SANDBOX in text(pilot) and "broker 4" in text(pilot))
        await until(pilot, lambda: "Load and faults" not in text(pilot))
        assert text(pilot).count("faults are disabled") == 1
        await press(pilot, "v", "d")
        await until(pilot, lambda: "endpoints" in text(pilot))


async def test_a_pane_gets_more_room_as_soon_as_it_has_more_to_say(still: str) -> None:
    async with opened(still, size=(120, 40), link=WithStillSandbox) as pilot:
        await press(pilot, "8")
        await settled(pilot)
        frame = kdrill(pilot).screen.query_one("#sandbox-load-frame", Framed)
        pane = kdrill(pilot).screen.query_one("#sandbox-load", LiveText)
        before = frame.outer_size.height

        def has_room() -> bool:
            pane.show([line(f"fault {number}") for number in range(18)])  # until the data process is asked again
            pane.post_message(ContentShown(pane))
            return frame.outer_size.height > before

        await until(pilot, has_room)
