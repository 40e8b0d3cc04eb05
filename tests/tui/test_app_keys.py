"""Keys that lead from screen to screen, and those that hold everywhere, on the real thing."""

import pytest
from textual import events
from textual.command import CommandList
from textual.geometry import Size

from tests.thorough import the_rest_when_asked
from tests.tui.dashboard import (
    Keys,
    assert_page,
    foot,
    kdrill,
    mark,
    mode,
    opened,
    press,
    rows,
    settled,
    text,
    type_in,
    until,
)
from tui.app.screens.overlays import Describe, Help
from tui.engine.actions import MAPS, NUMBERS, SCREENS, holding
from tui.engine.messages import JobsText, Notice
from tui.engine.palette import THEMES


async def test_digits_lead_to_the_screens_and_minus_back(still: str) -> None:
    async with opened(still) as pilot:
        for key, name in zip(NUMBERS, SCREENS, strict=True):
            await press(pilot, key)
            assert mode(pilot) == name
            assert f"[{key}]" in text(pilot).split("\n")[1]
        await press(pilot, "minus")
        assert mode(pilot) == SCREENS[-2]
        await press(pilot, "minus")
        assert mode(pilot) == SCREENS[-1]


async def test_the_mouse_leads_to_the_screens_too(still: str) -> None:
    async with opened(still) as pilot:
        await pilot.click("#tabs", offset=(22, 0))
        await until(pilot, lambda: mode(pilot) == "partitions")


async def test_findings_are_one_key_away_from_anywhere(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "a")
        assert (mode(pilot), rows(pilot).list_name) == ("overview", "findings")
        assert mark(pilot) == "X"


async def test_escape_takes_the_filter_away_and_then_leads_to_the_overview(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "slash")
        await type_in(pilot, "orders")
        await press(pilot, "enter")
        assert rows(pilot).total == 12
        await press(pilot, "escape")
        assert (mode(pilot), rows(pilot).total) == ("partitions", 126)
        await press(pilot, "escape")
        assert mode(pilot) == "overview"
        await press(pilot, "escape")
        assert kdrill(pilot).is_running


async def test_q_goes_back_and_on_the_overview_quits(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "4", "question_mark", "q")
        assert mode(pilot) == "consumers"
        await press(pilot, "q")
        assert mode(pilot) == "overview"
        await pilot.press("q")
        await pilot.pause()
        assert kdrill(pilot).return_value == 0


@pytest.mark.parametrize("key", ["Q", "ctrl+q"])
async def test_capital_q_quits_from_anywhere(still: str, key: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "d")
        await pilot.press(key)
        await pilot.pause()
        assert not kdrill(pilot).is_running or kdrill(pilot)._exit
        assert kdrill(pilot).return_code == 0


async def test_ctrl_c_does_not_end_a_watch_but_says_what_does(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "ctrl+c")
        assert "Q or ctrl+q quits" in text(pilot)
        assert not kdrill(pilot)._exit


async def test_themes_come_round_and_change_no_letter(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3")
        before = text(pilot)
        seen = [kdrill(pilot).theme]
        for _ in THEMES[1:]:
            await press(pilot, "T")
            seen.append(kdrill(pilot).theme)
            assert text(pilot) == before
        assert seen == list(THEMES)
        await press(pilot, "T")
        assert kdrill(pilot).theme == THEMES[0]


async def test_help_shows_the_keys_of_the_screen_below_and_closes_with_the_same_key(still: str) -> None:
    async with opened(still, size=(80, 100)) as pilot:
        for key, name in zip(NUMBERS, SCREENS, strict=True):
            await press(pilot, key, "question_mark")
            assert isinstance(kdrill(pilot).screen, Help)
            shown = text(pilot)
            for action in holding(name):
                assert f"{action.sign.ljust(11)}{action.label.ljust(13)}{action.help}" in shown
            assert ("show the next brokers" in shown) == (name in MAPS)
            await press(pilot, "q")
            assert mode(pilot) == name


async def test_f1_is_help_too(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "f1")
        assert isinstance(kdrill(pilot).screen, Help)


async def test_a_text_is_searched_in_an_overlay(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "question_mark", "slash")
        await type_in(pilot, "fg returns")
        await press(pilot, "enter")
        assert "back to the shell" in text(pilot)
        await press(pilot, "escape")
        assert isinstance(kdrill(pilot).screen, Help), "the first escape takes the search away"
        await press(pilot, "escape")
        assert mode(pilot) == "overview" and not isinstance(kdrill(pilot).screen, Help)


async def test_a_command_is_carried_out(still: str) -> None:
    async with opened(still) as pilot:
        for line, name in (
            ("zk /brokers/ids/3", "znodes"),
            ("topic payments", "partitions"),
            ("group billing", "consumers"),
        ):
            await press(pilot, "colon")
            await type_in(pilot, line)
            await press(pilot, "enter")
            assert mode(pilot) == name
        assert rows(pilot, "groups").cursor_key == "billing"
        await press(pilot, "2")
        assert rows(pilot).cursor_key == "/brokers/ids/3"
        await press(pilot, "3")
        assert rows(pilot).total == 12


async def test_tab_finishes_a_command(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "colon")
        await type_in(pilot, "part")
        await press(pilot, "tab")
        assert ":partitions" in text(pilot)
        await press(pilot, "enter")
        assert mode(pilot) == "partitions"


async def test_what_is_no_command_is_said_in_the_last_line(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "colon")
        await type_in(pilot, "drop orders")
        await press(pilot, "enter")
        assert "no command 'drop': try zk, topic" in foot(pilot)
        assert mode(pilot) == "overview"


async def test_capital_letters_can_be_typed(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "slash")
        await type_in(pilot, "QsT")
        assert "/QsT" in foot(pilot)
        assert not kdrill(pilot)._exit


async def test_the_palette_stays_where_there_is_no_room_for_its_list(still: str) -> None:
    async with opened(still, size=(30, 4)) as pilot:
        await press(pilot, "ctrl+p")
        await until(pilot, lambda: pilot.app.screen.query_one(CommandList).option_count)
        for key in ("pagedown", "pageup", "down", "escape"):
            await press(pilot, key)


async def test_the_palette_offers_what_holds_here_and_does_it(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3")
        await pilot.press("ctrl+p")
        await type_in(pilot, "partition view")
        await pilot.press("escape")
        await settled(pilot)
        offered = [command.title for command in kdrill(pilot).get_system_commands(kdrill(pilot).screen)]
        assert offered == [
            f"{each.label}  {each.sign}" for each in holding("partitions") if each.id != "command_palette"
        ]
        view = next(each for each in kdrill(pilot).get_system_commands(kdrill(pilot).screen) if each.title == "view  v")
        view.callback()
        await settled(pilot)
        assert kdrill(pilot).view_state.of("partitions").view == "list"


async def test_f_shows_one_pane_alone_and_gives_the_others_back(still: str) -> None:
    async with opened(still) as pilot:
        before = text(pilot)
        await press(pilot, "f")
        assert "Brokers" in text(pilot) and "Findings" not in text(pilot)
        await press(pilot, "tab")
        assert "Events" in text(pilot) and "Brokers" not in text(pilot)
        await press(pilot, "shift+tab", "f")
        assert text(pilot) == before


async def test_an_overlay_keeps_row_one_and_goes_on_asking(still: str) -> None:
    async with opened(still) as pilot:
        header = text(pilot).split("\n")[0]
        await press(pilot, "d")
        assert isinstance(kdrill(pilot).screen, Describe)
        assert text(pilot).split("\n")[0] == header


@pytest.mark.parametrize(
    "size", the_rest_when_asked([(60, 16), (80, 24), (160, 45), (120, 30), (300, 80), (80, 60), (200, 16)], 3)
)
async def test_every_pane_is_reached_by_tab_in_any_size(still: str, size: tuple[int, int]) -> None:
    async with opened(still, size=size) as pilot:
        map_panes = 3 if size >= (120, 40) and size[1] >= 40 else 2
        for key, count in (
            ("1", 5 if size[1] >= 50 else 4),
            ("2", 2),
            ("3", map_panes),
            ("4", 3 if size[0] >= 160 else 2),
        ):
            await press(pilot, key)
            reached = set[str | None]()
            for _ in range(6):
                await press(pilot, "tab")
                focused = kdrill(pilot).screen.focused
                assert focused is not None and focused.is_on_screen and focused.size.area > 0
                reached.add(focused.id)
            assert len(reached) == count


async def test_the_page_of_a_terminal_made_larger_comes_back(still: str) -> None:
    async with opened(still) as pilot:
        for size in ((50, 12), (20, 5), (1, 1), (300, 80), (59, 16), (60, 15), (80, 24)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            assert ("kdrill needs 60 columns" in " ".join(text(pilot).split())) == (
                size[0] < 60 or size[1] < 16
            ) or size[1] < 10
        assert_page(pilot, "screens/80x24/overview")


async def test_a_size_that_is_no_longer_true_is_not_laid_out(still: str) -> None:
    """Two sizes under way at once used to be laid out in turn for ever."""
    async with opened(still) as pilot:
        app = kdrill(pilot)
        for columns in (200, 60, 120):
            app.screen.post_message(events.Resize(Size(columns, 30), Size(columns, 30)))
        await settled(pilot)
        assert app.screen.query_one("#tabs").outer_size.width == app.size.width == 80


async def test_a_note_finds_what_is_seen_while_a_page_is_put_together(still: str) -> None:
    """A comparison comes when its answer does, and something may be said just then."""
    async with opened(still) as pilot:
        kdrill(pilot).describe(JobsText(key="all"), "")
        assert not pilot.app.screen.is_mounted
        kdrill(pilot).run_command("there is none")
        await press(pilot, "escape")
        assert "no command 'there'" in foot(pilot)


async def test_a_key_that_can_do_nothing_is_not_offered_and_says_why(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "8", "K")
        above, keys = foot(pilot).split("\n")
        assert "not a sandbox: start one with `kdrill sandbox`" in above
        assert keys.startswith(" ?help") and keys.rstrip().endswith("q back") and "K kill" not in keys
        app = kdrill(pilot)
        app.take_notice(Notice(app.last_notice.number + 1, "X 12:03:58 orders: offline"))
        offered = {command.title: command.help for command in app.get_system_commands(app.screen)}
        assert offered["kill  K"] == "not now: not a sandbox: start one with `kdrill sandbox`"
        assert offered["last notice"] == "X 12:03:58 orders: offline"


@pytest.mark.parametrize("name", SCREENS)
async def test_the_footer_has_seven_keys_at_most(still: str, name: str) -> None:
    async with opened(still, size=(200, 40)) as pilot:
        kdrill(pilot).show_screen(name)
        await until(pilot, lambda: mode(pilot) == name)
        page = kdrill(pilot).page
        assert page is not None
        keys = page.keys()
        assert 3 <= len(keys) <= 7 and (keys[0][1], keys[-1][1]) == ("help", "back")


async def test_tab_goes_where_the_eye_goes_next(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        seen: list[tuple[int, int]] = []
        while (place := focused_at(pilot)) not in seen:
            seen.append(place)
            await press(pilot, "tab")
        first = seen.index(min(seen))
        assert len(seen) > 2 and [*seen[first:], *seen[:first]] == sorted(seen)


def focused_at(pilot: Keys) -> tuple[int, int]:
    """Line and column of the pane that has the focus."""
    focused = kdrill(pilot).screen.focused
    assert focused is not None
    return focused.region.y, focused.region.x


async def test_what_is_over_takes_the_place_of_its_notice(still: str) -> None:
    async with opened(still) as pilot:
        app, number = kdrill(pilot), kdrill(pilot).last_notice.number + 1
        app.take_notice(Notice(number, "X 12:03:58 controller: no broker is the controller"))
        await settled(pilot)
        assert "no broker is the controller" in foot(pilot)
        app.take_notice(Notice(number, "12:03:58 controller: resolved after 0.1 s (nobody)"))
        await settled(pilot)
        assert "resolved after 0.1 s" in foot(pilot) and "X 12:03:58" not in foot(pilot)
