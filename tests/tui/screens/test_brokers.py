"""Brokers and their controller on the real thing: what is told, where keys lead, what comes of another controller."""

from __future__ import annotations

import asyncio

import pytest

from model.zookeeper import Create, SetData
from tests.tui.conftest import Cluster
from tests.tui.dashboard import kdrill, mode, opened, press, rows, text, type_in, until
from tui.app.screens.overlays import Describe


async def test_it_tells_who_controls_and_what_it_holds(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "b")
        assert mode(pilot) == "controller"
        assert rows(pilot, "brokers").total == 6
        for told in ("broker    b4  kafka-4.example:9092", "epoch     7, one more each time", "data version 1"):
            assert told in text(pilot)
        assert "Online                    124       356" in text(pilot)
        assert "Offline                     1        11" in text(pilot)
        assert rows(pilot, "admin-work").total == 2


async def test_where_there_is_room_the_broker_under_the_cursor_is_told(still: str) -> None:
    async with opened(still, size=(160, 45)) as pilot:
        await press(pilot, "b", "j", "j")
        await until(pilot, lambda: "Broker 3" in text(pilot) and "payload   version 5" in text(pilot))
        assert "listener  PLAINTEXT kafka-3.example:9092, PLAINTEXT" in text(pilot)
        assert "JMX       port 9999" in text(pilot)
        assert "led/pref" in text(pilot) and "30%/29%" in text(pilot)


async def test_every_pane_can_be_reached_in_a_small_terminal(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "b")
        seen: list[str | None] = []
        for _ in range(4):
            focused = kdrill(pilot).screen.focused
            seen.append(focused.id if focused is not None else None)
            await press(pilot, "tab")
        assert seen == ["brokers", "controller", "states", "admin-work"]
        assert rows(pilot).list_name == "brokers"


async def test_keys_on_a_broker(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "b", "j", "d")
        assert isinstance(kdrill(pilot).screen, Describe)
        assert "broker 2" in text(pilot) and "PLAINTEXT://kafka-2.example:9092" in text(pilot)
        await press(pilot, "escape", "o")
        assert (mode(pilot), rows(pilot).cursor_key) == ("znodes", "/brokers/ids/2")
        await press(pilot, "b", "enter")
        assert mode(pilot) == "partitions"
        assert kdrill(pilot).view_state.of("partitions").filter == "broker:2"


async def test_a_death_is_played_with_what_the_controller_would_send(still: str) -> None:
    async with opened(still, size=(160, 45)) as pilot:
        await press(pilot, "b", "K")
        await until(pilot, lambda: mode(pilot) == "drill")
        assert kdrill(pilot).view_state.drill.kill == (1,)
        await until(pilot, lambda: rows(pilot, "drill-timeline").total > 0)
        await until(pilot, lambda: "LeaderAndIsr" in text(pilot))


@pytest.mark.parametrize(
    ("steps", "described", "znode"),
    [
        ((), "clicks-3", "/brokers/topics/clicks"),
        (("j",), "", "/admin/delete_topics/legacy-events"),
    ],
)
async def test_keys_on_work_that_is_not_done(still: str, steps: tuple[str, ...], described: str, znode: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "b", "shift+tab", *steps)
        assert rows(pilot).list_name == "admin-work"
        if described:
            await press(pilot, "enter")
            assert f"partition {described}" in text(pilot)
            await press(pilot, "escape")
        await press(pilot, "o")
        assert (mode(pilot), rows(pilot).cursor_key) == ("znodes", znode)


async def test_work_is_filtered_by_whether_it_goes_on(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "b", "shift+tab", "slash")
        await type_in(pilot, "state:blocked")
        assert [row.key for row in rows(pilot, "admin-work").answer.rows] == ["delete legacy-events"]


async def test_another_controller_is_told_and_counted(cluster: Cluster) -> None:
    async with opened(cluster.address, size=(160, 45)) as pilot:
        await press(pilot, "b")
        assert "not since kdrill began" in text(pilot)
        await asyncio.to_thread(cluster.demo.lose_broker, 4)
        await until(pilot, lambda: "broker    nobody" in text(pilot) and "nobody has taken over yet" in text(pilot))
        elected = b'{"version":1,"brokerid":2,"timestamp":"1700000000000"}'
        won = Create("/controller", elected), SetData("/controller_epoch", b"8")
        await asyncio.to_thread(cluster.write, *won)
        await until(pilot, lambda: "broker    b2  kafka-2" in text(pilot) and "epoch     8" in text(pilot))
        await until(pilot, lambda: "data version 2" in text(pilot) and "1 time since " in text(pilot))
