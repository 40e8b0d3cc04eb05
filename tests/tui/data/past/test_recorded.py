"""A recording that is longer than what is held of it: stepped through from end to end, searched, and stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.cluster.cluster_image import ClusterImage
from model.cluster.records import ControllerElected, ControllerEpochChanged
from model.recordings.playback import Stretch
from model.sources.addresses import RecordingName
from model.sources.feed import Moment
from model.sources.file_source import RecordingSource
from model.sources.timeline import Timeline
from tests.model.cluster.build import brokers
from tests.model.recordings.lives import START_MS, life, record
from tui.engine.history.past_service import PastService
from tui.engine.jobs import Jobs
from tui.engine.messages import Direction, TimeAnswer, TimeQuery

COUNT = 31
TOLD = life([
    (0, [*brokers(1), ControllerElected(broker=1), ControllerEpochChanged(epoch=0)]),
    *((20_000_000, [*brokers(2 + n), ControllerEpochChanged(epoch=1 + n)]) for n in range(COUNT - 1)),
])  # fmt: skip
"""One broker more, and another controller epoch, at each of its moments; over a week."""

FEW = Timeline(most_moments=6)
LIVE = Moment(1, TOLD[-1])


def desk_of(folder: Path, at_ms: int | None = None) -> PastService:
    return PastService(source=RecordingSource(RecordingName(folder, at_ms)), nothing=FEW)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    record(folder, TOLD)
    return folder


async def walked(desk: PastService, to: Direction, at: int = 0, text: str = "") -> list[TimeAnswer]:
    """Where steps in one direction lead, until there is no further one; last, why not."""
    answers = [await desk.answer(TimeQuery(to, text, at), LIVE)]
    while answers[-1].seq and len(answers) < 3 * COUNT:
        answers.append(await desk.answer(TimeQuery(to, text, answers[-1].seq), LIVE))
        assert len(desk.timeline.instants) <= FEW.most_moments
    return answers


async def test_it_is_stepped_through_from_end_to_end(recorded: Path) -> None:
    desk = desk_of(recorded)
    back = await walked(desk, "back")
    assert [each.header.brokers_up for each in back[:-1]] == list(range(COUNT - 1, 0, -1))
    assert back[-1].said == "the timeline begins here"
    on = await walked(desk, "mark-after", back[-2].seq)
    assert [each.header.brokers_up for each in on[:-1]] == list(range(2, COUNT + 1))
    assert on[-1].said.startswith("no mark there")
    assert [each.seq for each in on[:-2]] == [each.seq for each in back[-3::-1]], "the same numbers"


async def test_stepping_goes_on_past_the_time_that_was_opened(recorded: Path) -> None:
    middle = COUNT // 2
    desk = desk_of(recorded, TOLD[middle].provenance.time_ms)
    now = await desk.answer(TimeQuery("now"), LIVE)
    on = await walked(desk, "on")
    assert [each.header.brokers_up for each in on[:-1]] == list(range(middle + 2, COUNT + 1))
    assert on[-1].said == "the recording ends here"
    assert (await desk.answer(TimeQuery("now", at=on[-2].seq), LIVE)).seq == now.seq
    back = await desk.answer(TimeQuery("back"), LIVE)
    assert back.header.brokers_up == middle, "from the moment opened, wherever one was before"


@pytest.mark.parametrize(("text", "up"), [("e0", 1), ("e30", 31), ("e29", 30), ("2024-10-04T01:00Z", 1), ("-1d", 26)])
async def test_what_is_not_at_hand_is_searched_for(recorded: Path, text: str, up: int) -> None:
    found = await desk_of(recorded).answer(TimeQuery("time", text), LIVE)
    assert found.header.brokers_up == up, found.said


async def test_what_is_nowhere_is_said(recorded: Path) -> None:
    desk = desk_of(recorded)
    assert (await desk.answer(TimeQuery("time", "e99"), LIVE)).said.startswith("controller epoch 99 was not seen")
    assert (await desk.answer(TimeQuery("mark-before", "leader"), LIVE)).said == "no leader there"
    assert (await desk.answer(TimeQuery("time", "2020-01-01"), LIVE)).said.startswith("the timeline begins at 01:00:00")
    assert (await desk.answer(TimeQuery("mark-before", "weather"), LIVE)).said.startswith("no kind of moment 'weather'")


async def test_two_moments_of_different_stretches_are_compared_and_marked(recorded: Path) -> None:
    desk = desk_of(recorded)
    last = await desk.answer(TimeQuery("now"), LIVE)
    assert await desk.mark("the end", last.seq, LIVE) == f"{last.clock} is marked 'the end'"
    first = await desk.answer(TimeQuery("time", "e0"), LIVE)
    assert (await desk.answer(TimeQuery("other", at=first.seq), LIVE)).seq == last.seq
    assert (await desk.answer(TimeQuery("other", "e7", at=first.seq), LIVE)).header.brokers_up == 8
    assert (await desk.look(first.seq, LIVE))[0].image.brokers.keys() == {1}
    assert desk.called(last.seq) == "the mark 'the end'" and desk.called(first.seq) == "looked at"


class Endless:
    """A recording that is read until somebody stops it."""

    name = "endless"
    folder = ""
    opened_ms = START_MS

    def around(self, at_ms: int, most: int) -> Stretch:
        return Stretch(0, START_MS, 1_000_000, is_first=True, is_last=True)

    def images(self, from_ms: int, to_ms: int) -> Iterator[tuple[int, ClusterImage]]:
        while True:
            yield START_MS, TOLD[0]


async def test_reading_says_how_far_it_is_and_can_be_stopped() -> None:
    news = asyncio.Event()
    loop = asyncio.get_running_loop()
    jobs = Jobs(lambda: loop.call_soon_threadsafe(news.set))
    desk = PastService(jobs=jobs, source=Endless())
    desk.begin(lambda changes: None)
    going = asyncio.create_task(desk.answer(TimeQuery("back"), LIVE))
    await asyncio.wait_for(news.wait(), 60)
    assert jobs.doing.startswith("reading the recording")
    assert jobs.stop() == "stopped: reading the recording"
    assert (await asyncio.wait_for(going, 60)).said == "stopped: what was at hand before still is"
    assert jobs.doing == "" and jobs.stop() == "nothing is under way"


async def test_what_is_damaged_is_said_when_one_wants_to_go_there(tmp_path: Path) -> None:
    record(tmp_path, TOLD)
    desk = desk_of(tmp_path)
    sorted(tmp_path.rglob("*.parquet"))[-2].write_bytes(b"nothing")
    assert "damaged or cut off" in (await desk.answer(TimeQuery("time", "e0"), LIVE)).said
