"""Row one keeps its contract at every width, and never takes old data for live."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from textual.app import ComposeResult

from tests.tui.hostile import HOSTILE
from tests.tui.screen_text import assert_screen, screen_lines
from tui.app.theme import ThemedApp
from tui.app.widgets.header import PHASES, HeaderLine, Stance, header_line, next_change_ms
from tui.engine.messages import HeaderFacts
from tui.engine.text import cells, plain

NOW_MS = 1_700_000_000_000
FACTS = HeaderFacts(
    cluster="prod-eu1",
    source="zk://zk1:2181/kafka",
    phase="live",
    image_time_ms=NOW_MS - 2_000,
    zookeeper="zk1:2181 3.9.5 standalone",
    generation="2.x",
    controller=4,
    controller_epoch=118,
    brokers_up=5,
    brokers_down=1,
    errors=1,
    warnings=1,
)


FOLLOWING = Stance()


def words(facts: HeaderFacts, width: int, stance: Stance = FOLLOWING, later_ms: int = 0) -> str:
    line = header_line(facts, stance, now_ms=NOW_MS + later_ms, stale_after_ms=15_000, width=width)
    return "".join(text for text, _ in line)


def changed(**changes: object) -> HeaderFacts:
    return structs.replace(FACTS, **changes)


def test_brokers_say_how_often_they_are_asked_and_what_they_did_not_answer() -> None:
    polled = changed(source="kafka://b1:9092", zookeeper="", poll_ms=5_000)
    assert words(polled, 200).startswith(" prod-eu1  READ-ONLY | LIVE polls 5 s | Kafka ok | controller b4 e118 | ")
    assert "LIVE polls 5 s, 9s old" in words(polled, 200, later_ms=7_000)
    assert "STALE" not in words(polled, 200, later_ms=17_000)
    assert "STALE" in words(polled, 200, later_ms=19_000)
    why = structs.replace(polled, polled="CLUSTER_ACTION is missing")
    assert "| LIVE polls 5 s (CLUSTER_ACTION is missing) |" in words(why, 200)
    assert "| LIVE polls 5 s (CLUSTER_ACTION …) |" in words(why, 110)
    assert "| LIVE polls 5 s |" in words(why, 90)
    silent = structs.replace(polled, reason="broker 2: no response")
    assert "| Kafka PARTLY: broker 2: no response |" in words(silent, 200)
    assert "| Kafka PARTLY |" in words(silent, 100)


def test_the_contract_at_80_columns() -> None:
    assert words(FACTS, 80) == " prod-eu1  READ-ONLY | LIVE 2s old | ZK ok | controller b4 e118 | 2 FINDINGS"


def test_less_is_said_on_less_room() -> None:
    assert words(FACTS, 60) == " prod-eu1  RO | LIVE 2s | ZK ok | b4 e118 | 2 FINDINGS"
    assert words(FACTS, 40) == " prod-eu1  RO | LIVE 2s | 2 FINDINGS"
    assert words(FACTS, 300) == (
        " prod-eu1  READ-ONLY | LIVE 2s old | ZK ok zk1:2181 3.9.5 standalone | controller b4 e118"
        " | brokers 5 up 1 DOWN | Kafka 2.x | zk://zk1:2181/kafka | 2 FINDINGS"
    )


@pytest.mark.parametrize("width", [60, 80, 300])
def test_a_broken_link_is_told_in_words_at_every_width(width: int) -> None:
    said = words(changed(phase="stale", reason="connection lost"), width)
    assert "!! STALE 2s" in said
    assert "ZK LOST" in said
    assert "LIVE" not in said


def test_as_much_of_a_reason_is_told_as_there_is_room_for() -> None:
    reason = "zk1:2181: the answer is garbled: 2000000000 names announced"
    stale = changed(phase="stale", reason=reason)
    assert f"STALE 2s old: {reason} !!" in words(stale, 300)
    assert "STALE 2s old: zk1:2181: the answer is… !! | ZK LOST |" in words(stale, 120)
    assert "!! STALE 2s | ZK LOST" in words(stale, 60)
    never = changed(phase="connecting", image_time_ms=0, controller=None, reason=reason)
    assert f"!! NOT CONNECTED: {reason} !! | ZK connecting" in words(never, 300)
    assert "!! NOT CONNECTED: zk1:2181: the answer is gar… !! | ZK connecting" in words(never, 110)


def test_live_is_not_believed_for_ever() -> None:
    assert "LIVE 15s old" in words(FACTS, 80, later_ms=13_000)
    assert "!! STALE 1m old" in words(FACTS, 80, later_ms=60_000)
    assert "LIVE" not in words(FACTS, 80, later_ms=60_000)
    assert "SNAPSHOT 7h old" in words(changed(phase="snapshot"), 80, later_ms=7 * 3_600_000)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"phase": "loading", "progress": (3_000, 10_000)}, "LOADING 3,000 of 10,000"),
        ({"phase": "connecting", "image_time_ms": 0, "controller": None}, "CONNECTING | ZK connecting"),
        (
            {"phase": "connecting", "image_time_ms": 0, "controller": None, "reason": "no route to host"},
            "!! NOT CONNECTED !! | ZK connecting",
        ),
        ({"phase": "denied"}, "!! DENIED 2s old !! | ZK DENIED"),
        ({"kind": "DEMO"}, "DEMO LIVE 2s old"),
        ({"controller": None}, "NO CONTROLLER"),
        ({"controller": None, "quorum": "1 of 3 voters answers"}, "NO QUORUM"),
        ({"errors": 0, "warnings": 0}, "0 FINDINGS"),
        ({"errors": 1, "warnings": 0}, "1 FINDING"),
        ({"cluster": "", "source": "zk://a:1"}, " zk://a:1  READ-ONLY"),
    ],
)
def test_states_are_said_in_words(changes: dict[str, object], said: str) -> None:
    assert said in words(changed(**changes), 80)


def test_a_quorum_that_cannot_elect_and_brokers_that_nobody_confirms_are_told() -> None:
    lost = changed(controller=None, quorum="1 of 3 voters answers", brokers_up=1, brokers_down=0, brokers_unconfirmed=2)
    assert "| NO QUORUM: 1 of 3 voters answers | brokers 1 up 2 unconfirmed |" in words(lost, 300)
    assert "brokers 1 up 2 unconfirmed 1 DOWN" in words(structs.replace(lost, brokers_down=1), 300)


def test_of_a_controller_that_the_source_does_not_tell_nothing_is_said() -> None:
    assert "CONTROLLER" not in words(changed(controller=None, is_controller_told=False), 80).upper()


def test_what_the_operator_chose_is_said() -> None:
    paused = Stance(mode="PAUSED", detail="at 12:03:58, 12 new")
    assert "PAUSED at 12:03:58, 12 new" in words(FACTS, 80, paused)
    assert "PAUSED" in words(FACTS, 60, paused)
    assert "STALE" in words(changed(phase="stale"), 60, paused)
    assert "ARMED 9m" in words(FACTS, 60, Stance(access="ARMED 9m"))


def test_no_findings_are_counted_before_anything_was_loaded() -> None:
    assert "FINDINGS" not in words(changed(phase="loading", errors=0, warnings=0), 80)


@given(
    st.builds(
        HeaderFacts,
        cluster=st.text(max_size=30),
        source=st.text(max_size=30),
        phase=st.sampled_from([*PHASES, "?"]),
        reason=st.text(max_size=60),
        image_time_ms=st.integers(0, NOW_MS),
        zookeeper=st.text(max_size=30),
        generation=st.sampled_from(("unknown", "0.8", "3.x")),
        controller=st.none() | st.integers(0, 2**31),
        controller_epoch=st.none() | st.integers(0, 2**31),
        brokers_up=st.integers(0, 9_999),
        brokers_down=st.integers(0, 9_999),
        errors=st.integers(0, 9_999),
        warnings=st.integers(0, 9_999),
    ),
    st.integers(60, 300),
)
def test_mode_and_alerts_are_said_whatever_the_facts(facts: HeaderFacts, width: int) -> None:
    said = words(facts, width)
    assert cells(plain(said)) <= width
    stale = facts.phase in ("stale", "denied", "closed") or (
        facts.phase == "live" and 0 < facts.image_time_ms < NOW_MS - 15_000
    )
    assert ("!! " in said.replace(facts.cluster, "", 1)) >= stale
    assert f" | {facts.errors + facts.warnings}" in said or facts.errors + facts.warnings == 0


class HeaderApp(ThemedApp[None]):
    def __init__(self, theme: str = "dark") -> None:
        super().__init__(theme=theme)
        self.now_ms = NOW_MS

    def compose(self) -> ComposeResult:
        yield HeaderLine(now_ms=lambda: self.now_ms)

    @property
    def header(self) -> HeaderLine:
        return self.query_one(HeaderLine)


@pytest.mark.parametrize("width", [60, 80, 300])
async def test_the_line_is_drawn(width: int) -> None:
    app = HeaderApp()
    async with app.run_test(size=(width, 2)) as pilot:
        app.header.show(FACTS)
        await pilot.pause()
        assert_screen(app, f"header_{width}")


async def test_the_age_counts_on_when_nothing_comes_any_more() -> None:
    app = HeaderApp()
    async with app.run_test(size=(80, 2)) as pilot:
        app.header.show(FACTS)
        app.now_ms += 5_000
        app.header.tick()
        await pilot.pause()
        assert "LIVE 7s old" in screen_lines(app)[0]
        assert not app.header.is_stale
        app.now_ms += 60_000
        app.header.tick()
        await pilot.pause()
        assert "!! STALE 1m old" in screen_lines(app)[0]
        assert app.header.is_stale


async def test_stale_is_unmistakable_without_colour() -> None:
    app = HeaderApp(theme="mono")
    async with app.run_test(size=(80, 2)) as pilot:
        app.header.show(changed(phase="stale"))
        await pilot.pause()
        strip = app.screen._compositor.render_strips()[0]
        assert all(segment.style and segment.style.reverse for segment in strip)
        app.header.show(FACTS)
        await pilot.pause()
        strip = app.screen._compositor.render_strips()[0]
        assert not all(segment.style and segment.style.reverse for segment in strip)


async def test_the_header_keeps_its_colours_while_the_screen_is_faded() -> None:
    app = HeaderApp()
    async with app.run_test(size=(80, 2)) as pilot:
        app.header.show(changed(phase="stale"))
        await pilot.pause()
        before = list(app.screen._compositor.render_strips()[0])
        app.faded = True
        await pilot.pause()
        assert list(app.screen._compositor.render_strips()[0]) == before


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("width", [1, 20, 60, 300])
async def test_hostile_text_is_shown_and_not_obeyed(text: str, width: int) -> None:
    app = HeaderApp()
    async with app.run_test(size=(width, 2)) as pilot:
        app.header.show(changed(cluster=text, source=text, zookeeper=text, generation=text, reason=text, phase="live"))
        app.header.stand(Stance(access=text, mode=text, detail=text))
        await pilot.pause()
        strip = app.screen._compositor.render_strips()[0]
        assert strip.text.isprintable()
        assert cells(strip.text) == width


@given(
    st.sampled_from(list(PHASES)),
    st.integers(0, 200_000),
    st.sampled_from((0, 8_000)),
    st.sampled_from((0, 5_000)),
    st.integers(0, 999),
)
def test_row_one_says_the_same_until_it_is_looked_at_again(
    phase: str, age_ms: int, rests_ms: int, poll_ms: int, part: int
) -> None:
    facts = changed(phase=phase, image_time_ms=NOW_MS - age_ms, rests_ms=rests_ms, poll_ms=poll_ms)
    after_ms = next_change_ms(facts, NOW_MS)
    assert after_ms is not None
    assert words(facts, 80) == words(facts, 80, later_ms=after_ms * part // 1_000)
    assert next_change_ms(changed(image_time_ms=0), NOW_MS) is None


async def test_it_wakes_by_itself_when_a_source_falls_silent() -> None:
    app = HeaderApp()
    async with app.run_test(size=(80, 2)) as pilot:
        app.header.show(changed(image_time_ms=NOW_MS - 9_950, rests_ms=8_000))
        await pilot.pause()
        assert "LIVE 0s old" in screen_lines(app)[0]
        app.now_ms += 60
        async with asyncio.timeout(60):
            while "LIVE 10s old" not in screen_lines(app)[0]:
                await pilot.pause(0.02)
