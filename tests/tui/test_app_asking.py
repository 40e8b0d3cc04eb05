"""What the screens ask of the data process: what is in sight, once for each piece of news. And what fails."""

import asyncio
from collections import Counter
from collections.abc import Callable

from model.zookeeper import SetData
from tests.tui.conftest import Cluster
from tests.tui.dashboard import foot, kdrill, mode, opened, press, rows, settled, text, until
from tui.engine.link import DataLink, DataLost, OnPulse
from tui.engine.messages import ActionRequest, ListQuery, Pulse, TextAnswer, TextQuery, TimeAnswer, TimeQuery
from tui.engine.rows import Window


class Overheard:
    """A link that counts what is asked and what is told, and loses or holds back answers when told to."""

    def __init__(self, link: DataLink) -> None:
        self._link = link
        self.asked: Counter[str] = Counter()
        self.pulses: list[Pulse] = []
        self.tell: OnPulse
        self.loses: str = ""
        self.lets_through = asyncio.Event()
        self.lets_through.set()

    async def open(self, on_pulse: OnPulse) -> None:
        def hear(pulse: Pulse) -> None:
            self.pulses.append(pulse)
            on_pulse(pulse)

        self.tell = hear
        await self._link.open(hear)

    async def rows(self, query: ListQuery) -> Window:
        await self._overhear(query.name)
        return await self._link.rows(query)

    async def text(self, query: TextQuery) -> TextAnswer:
        await self._overhear(query.name)
        return await self._link.text(query)

    async def wish(self, wish: ActionRequest) -> str:
        await self._overhear(type(wish).__name__)
        return await self._link.wish(wish)

    async def moment(self, query: TimeQuery) -> TimeAnswer:
        return await self._link.moment(query)

    async def close(self) -> None:
        await self._link.close()

    async def _overhear(self, name: str) -> None:
        self.asked[name] += 1
        await self.lets_through.wait()
        if name == self.loses:
            raise DataLost(f"the page {name} fell over")


def overhearing() -> tuple[list[Overheard], Callable[[DataLink], DataLink]]:
    links: list[Overheard] = []

    def wrap(link: DataLink) -> DataLink:
        links.append(Overheard(link))
        return links[0]

    return links, wrap


async def test_a_piece_of_news_is_asked_about_once_by_each_pane_in_sight(cluster: Cluster) -> None:
    links, wrap = overhearing()
    async with opened(cluster.address, link=wrap) as pilot:
        await press(pilot, "2", "3", "4", "1")
        link = links[0]
        link.asked.clear()
        told = len(link.pulses)
        cluster.write(SetData("/brokers/topics/orders/partitions/3/state", b"{}"))
        await until(pilot, lambda: "16 FINDINGS" in text(pilot))
        await settled(pilot)
        news = len(link.pulses) - told
        assert link.asked.keys() == {"overview", "findings", "brokers", "events"}
        assert all(count <= news for count in link.asked.values())


async def test_what_is_out_of_sight_asks_nothing(cluster: Cluster) -> None:
    links, wrap = overhearing()
    async with opened(cluster.address, link=wrap) as pilot:
        for keys, asking in (
            (("f",), {"brokers"}),
            (("f", "v"), {"overview", "findings", "plot", "events"}),
            (("v", "question_mark"), set[str]()),
            (("escape", "d"), {"broker"}),
            (("escape", "3"), {"partitions", "partition"}),
            (("4",), {"groups", "group"}),
        ):
            await press(pilot, *keys)
            link = links[0]
            link.asked.clear()
            told = len(link.pulses)
            cluster.write(SetData("/brokers/topics/orders/partitions/3/state", b"{}"))
            await until(pilot, lambda link=link, told=told: any(not each.steady for each in link.pulses[told:]))
            await settled(pilot)
            assert set(link.asked) == asking


async def test_a_question_that_fails_is_a_note_and_the_next_answer_takes_it_away(still: str) -> None:
    links, wrap = overhearing()
    async with opened(still, link=wrap) as pilot:
        links[0].loses = "events"
        await press(pilot, "r")
        assert "the page events fell over" in text(pilot)
        assert "in ISR" in text(pilot) and "DOWN   " in text(pilot), "the other panes are none the worse"
        links[0].loses = "overview"
        await press(pilot, "r")
        assert "the page overview fell over" in text(pilot) and "page events" not in text(pilot)
        links[0].loses = ""
        await press(pilot, "r")
        assert "fell over" not in text(pilot) and "1 offline" in text(pilot)


async def test_no_key_waits_for_an_answer(still: str) -> None:
    links, wrap = overhearing()
    async with opened(still, link=wrap) as pilot:
        links[0].lets_through.clear()
        for key in ("3", "j", "s", "slash", "x", "enter", "d", "escape", "2", "j", "4", "v", "1", "v", "f", "r", "T"):
            await pilot.press(key)
        assert mode(pilot) == "overview"
        await pilot.press("f", "v", "j", "j")
        assert rows(pilot).cursor == 2
        links[0].lets_through.set()
        await settled(pilot)
        assert rows(pilot).cursor_key == "3"


async def test_answers_that_come_late_are_not_shown_for_another_group(still: str) -> None:
    links, wrap = overhearing()
    async with opened(still, link=wrap) as pilot:
        await press(pilot, "4")
        links[0].lets_through.clear()
        await pilot.press("j", "k", "j")
        links[0].lets_through.set()
        await settled(pilot)
        assert "Ownership of billing" in text(pilot)
        assert "no owner" in text(pilot)


async def test_going_quickly_from_screen_to_screen_leaves_each_with_its_own_rows(still: str) -> None:
    async with opened(still) as pilot:
        for _ in range(5):
            await pilot.press("1", "2", "3", "4", "minus", "a")
        for key, name, total in (
            ("1", "brokers", 6),
            ("2", "znodes", 13),
            ("3", "partitions", 126),
            ("4", "groups", 2),
        ):
            await press(pilot, key)
            assert rows(pilot, name).total == total


async def test_a_source_that_cannot_be_had_ends_the_program_with_the_reason(still: str) -> None:
    links, wrap = overhearing()
    async with opened(still, link=wrap) as pilot:
        kdrill(pilot)._hear(Pulse(9, kdrill(pilot).facts, fatal="zk://nowhere: no answer"))
        await pilot.pause()
        assert kdrill(pilot).fatal == "zk://nowhere: no answer"
        assert kdrill(pilot).return_code == 1
    assert links


async def test_a_jump_to_what_is_not_there_is_said(still: str) -> None:
    async with opened(still) as pilot:
        kdrill(pilot).show_znode("/no/such")
        await press(pilot, "r")
        assert "there is no /no/such" in foot(pilot)
        kdrill(pilot).show_group("nobody")
        await press(pilot, "r")
        assert "there is no nobody" in foot(pilot)


async def test_a_pulse_that_arrives_while_the_app_closes_finds_no_screen_and_harms_nothing(cluster: Cluster) -> None:
    links, wrap = overhearing()
    async with opened(cluster.address, link=wrap) as pilot:
        app = kdrill(pilot)
    assert not app.screen_stack
    links[0].tell(links[0].pulses[-1])
