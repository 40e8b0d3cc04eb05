"""A cluster whose every text is out to harm a terminal: nothing of it reaches one as more than visible letters."""

import asyncio
import json
import re
import unicodedata
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest
from textual.events import Paste

from model.sandbox.messages import LoadView, OpenFault, SandboxState
from model.zookeeper import Create, Delete, SetData, Write
from tests.thorough import the_rest_when_asked
from tests.tui.conftest import Cluster
from tests.tui.dashboard import NOW_MS, Keys, foot, kdrill, mode, opened, press, rows, settled, text, until
from tests.tui.data.logs.log_folders import write_log
from tests.tui.hostile import HOSTILE
from tests.tui.screen_text import screen_codes
from tests.tui.screens.pages import PAGES, Page, has, walk
from tests.tui.screens.still_sandbox import CUT, WithStillSandbox, process
from tui.app.screens.live_screen import LiveScreen
from tui.app.screens.overlays import Describe
from tui.engine.actions import SCREENS

CODES = re.compile(r"\x1b\[[0-9;]*m")
"""What the app itself sends: colours, and nothing else."""


def allowed_in_names(each: str) -> str:
    """ZooKeeper refuses controls, surrogates (Java's, too) and private characters in paths; a slash is a step."""
    refused = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\U0010ffff/]")
    return refused.sub("", each).strip() or "empty"


NAMES = [f"{number}{allowed_in_names(each)}" for number, each in enumerate(HOSTILE)] + ["long" + "x" * 300]
TEXTS = [each.encode("utf-8", "replace").decode() for each in HOSTILE] + ["long " * 2_000]


def writes() -> list[Write]:
    """Topics, groups, configs, a broker and payloads with such names and texts."""
    found: list[Write] = []
    for name, said in zip(NAMES, TEXTS, strict=True):
        found += [
            Create(f"/brokers/topics/{name}", b'{"version":1,"partitions":{"0":[1]}}'),
            Create(f"/config/topics/{name}", json.dumps({"version": 1, "config": {said: said}}).encode()),
            Create(f"/consumers/{name}"),
            Create(f"/consumers/{name}/owners"),
            Create(f"/consumers/{name}/owners/{name}"),
            Create(f"/consumers/{name}/owners/{name}/0", said.encode()),
            Create(f"/admin/{name}", said.encode()),
        ]
    for number, said in enumerate(TEXTS, start=100):
        broker = {"version": 5, "host": said, "port": 1, "rack": said, "endpoints": [f"PLAINTEXT://{said}:9"]}
        found.append(Create(f"/brokers/ids/{number}", json.dumps(broker).encode()))
    return [*found, SetData("/cluster/id", json.dumps({"version": "1", "id": "\x1b[31m[bold]\u202e"}).encode())]


def assert_harmless(pilot: Keys) -> None:
    """Every cell of the screen is a visible character, and each line is as wide as the terminal."""
    strips = pilot.app.screen._compositor.render_strips()
    assert {strip.cell_length for strip in strips} == {pilot.app.size.width}
    for character in set(CODES.sub("", screen_codes(pilot.app)).replace("\n", "")):
        assert character.isprintable() and unicodedata.category(character)[0] not in "CM", ascii(character)
        assert character not in "\u115f\u3164\u2800\u00a0\u3000"


@pytest.mark.parametrize("size", the_rest_when_asked([(80, 24), (180, 50)]))
async def test_a_hostile_cluster_is_looked_at_from_all_sides(cluster: Cluster, size: tuple[int, int]) -> None:
    cluster.write(*writes())
    async with opened(cluster.address, size=size) as pilot:
        app = kdrill(pilot)
        for key in (
            "1",
            "d",
            "escape",
            "a",
            "d",
            "escape",
            "tab",
            "3",
            "d",
            "escape",
            "v",
            "4",
            "enter",
            "v",
            "d",
            "escape",
        ):
            await press(pilot, key)
            assert_harmless(pilot)
        for name in NAMES if size[0] == 80 else NAMES[::4]:
            app.show_partitions(f"topic:={name}")
            await press(pilot, "3", "g")
            assert_harmless(pilot)
            app.show_group(name)
            await press(pilot, "4")
            assert_harmless(pilot)
            for path in (f"/admin/{name}", f"/config/topics/{name}"):
                app.show_znode(path)
                await press(pilot, "2")
                assert rows(pilot).cursor_key == path
                assert_harmless(pilot)
            await press(pilot, "v", "d")
            assert_harmless(pilot)
            await press(pilot, "escape", "v")
        assert "Error" not in text(pilot)


@pytest.mark.parametrize("size", the_rest_when_asked([(80, 24), (160, 48)]))
async def test_no_page_of_any_screen_does_harm(cluster: Cluster, tmp_path: Path, size: tuple[int, int]) -> None:
    cluster.write(*writes())
    for name in (r"\x1b[31m[bold]", "[@click=app.quit]x\u202e", "\x1b]0;owned\x07"):
        write_log(tmp_path / f"{name}-0", batches=3)
    sandbox = partial(WithStillSandbox, state=hostile_sandbox())
    async with opened(cluster.address, size=size, link=sandbox) as pilot:
        kdrill(pilot).run_command(f"logs {tmp_path}")
        before = kdrill(pilot).changes
        await asyncio.to_thread(cluster.write, *(Delete(f"/consumers/{name}/owners/{name}/0") for name in NAMES))
        await until(pilot, lambda: kdrill(pilot).changes > before)
        seen = set[str]()
        async for page in walk(pilot, {**PAGES, "lab": Page(("5", has("lab-strategies")))}):
            seen.add(mode(pilot))
            assert_harmless(pilot)
            if isinstance(kdrill(pilot).screen, LiveScreen):
                await press(pilot, "d")
                assert_harmless(pilot)
                await press(pilot, "escape" if isinstance(kdrill(pilot).screen, Describe) else "r")
                if page in ("overview", "partition_list", "events", "logs"):
                    await exported_without_harm(pilot, tmp_path / page)
        assert seen == set(SCREENS)


def hostile_sandbox() -> SandboxState:
    """As it may stand after an error: what a process said last is its own text."""
    told = [process(f"consumer g{text[:40]}/m", "consumer", "crashed", detail=text, address=text) for text in TEXTS]
    broken = [OpenFault(number=1, at_ms=NOW_MS, fault=CUT, text=text, repair=None) for text in TEXTS]
    return SandboxState(processes=tuple(told), faults=tuple(broken), load=LoadView(rate=1.0, error=TEXTS[5]))


async def exported_without_harm(pilot: Keys, path: Path) -> None:
    """As text, picture, JSON and CSV: whoever prints such a file to a terminal is not harmed either."""
    for form in ("txt", "svg", "json", "csv"):
        file = path.with_suffix(f".{form}")
        kdrill(pilot).export(str(file))
        await until(pilot, file.exists)
        await settled(pilot)
        for character in set(file.read_text()) - {"\n"}:
            assert unicodedata.category(character) not in ("Cc", "Cf", "Cs"), (file.name, ascii(character))
    picture = ElementTree.parse(path.with_suffix(".svg")).getroot()
    assert {each.tag.rpartition("}")[2] for each in picture.iter()}.isdisjoint(
        {"script", "a", "image", "foreignObject"}
    )
    assert not [name for each in picture.iter() for name in each.attrib if name.startswith("on") or "href" in name]
    json.loads(path.with_suffix(".json").read_text())


async def test_hostile_text_can_be_pasted_and_filtered_by(still: str) -> None:
    async with opened(still) as pilot:
        for said in TEXTS:
            await press(pilot, "3", "slash")
            app = kdrill(pilot)
            app.screen.query_one("#prompt").post_message(Paste(said))
            await press(pilot, "x")
            assert_harmless(pilot)
            await press(pilot, "enter")
            assert_harmless(pilot)
            await press(pilot, "escape")


async def test_a_hostile_command_is_quoted_in_the_last_line(still: str) -> None:
    async with opened(still) as pilot:
        kdrill(pilot).run_command("\x1b[31m[bold]\u202e")
        await press(pilot, "r")
        assert_harmless(pilot)
        assert r"no command '\x1b[31m[bold]\u202e'" in foot(pilot)


async def test_a_cluster_that_is_all_hostile_goes_away_again(cluster: Cluster) -> None:
    cluster.write(*writes())
    async with opened(cluster.address) as pilot:
        await press(pilot, "3")
        before = rows(pilot).total
        cluster.write(*(Delete(f"/brokers/topics/{name}") for name in NAMES))
        await press(pilot, "2", "3", "r")
        while rows(pilot).total != before - len(NAMES):
            await pilot.pause()
        assert_harmless(pilot)
