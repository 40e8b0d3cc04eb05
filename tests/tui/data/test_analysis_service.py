"""The service that works analyses out: kept, several at a time, stopped, and stale when time moves on."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from model.cluster.cluster_image import ClusterImage
from tests.harness.waiting import eventually_async
from tests.model.planning.clusters import cluster
from tui.engine.analysis_service import KEPT, AnalysisService
from tui.engine.jobs import STOPPED
from tui.engine.questions import DeathsQuestion, PlanQuestion, PreviewQuestion, Question, SweepQuestion

IMAGE = cluster({"orders": [(1, 2, 3), (2, 3, 4), (3, 4, 1)], "audit": [(1,)]}, {1: "a", 2: "b", 3: "c", 4: "a"})


class Desk:
    """A desk on an image that can be changed."""

    def __init__(self, image: ClusterImage) -> None:
        self.image = image
        self.news = 0
        self.desk = AnalysisService(lambda: self.image, self._tell)

    def _tell(self) -> None:
        self.news += 1

    async def answered(self, question: Question):
        """Its own answer: while it is worked out, that of the take before is shown, with a note."""
        await eventually_async(lambda: (look := self.desk.look(question)).result is not None and not look.note)
        return self.desk.look(question)


async def test_nobody_waits_and_the_answer_is_kept() -> None:
    desk = Desk(IMAGE)
    first = desk.desk.look(SweepQuestion())
    assert first.result is None and "esc stops it" in first.note
    answer = await desk.answered(SweepQuestion())
    assert desk.news and answer.engine == "in process" and not answer.note
    assert desk.desk.look(SweepQuestion()).result is answer.result
    await desk.desk.close()


async def test_several_questions_are_worked_out_at_a_time() -> None:
    desk = Desk(IMAGE)
    questions = [SweepQuestion(), SweepQuestion("pairs"), SweepQuestion("racks"), PreviewQuestion()]
    for question in questions:
        desk.desk.look(question)
    for question in questions:
        await desk.answered(question)
    await desk.desk.close()


async def test_what_the_cluster_left_behind_is_stale_and_another_take_is_not() -> None:
    desk = Desk(IMAGE)
    answer = await desk.answered(SweepQuestion())
    assert not answer.is_stale(desk.image)
    desk.image = msgspec.structs.replace(desk.image, brokers=dict(list(desk.image.brokers.items())[1:]))
    assert desk.desk.look(SweepQuestion()).is_stale(desk.image)
    meanwhile = desk.desk.look(SweepQuestion(take=1))
    assert meanwhile.result is answer.result  # until there is something newer
    await eventually_async(lambda: not desk.desk.look(SweepQuestion(take=1)).is_stale(desk.image))
    await desk.desk.close()


async def test_which_failures_are_worst_is_remembered_for_a_cluster_and_worked_out_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tui.engine.analysis_service.LEAST_REST_S", 0.0)
    monkeypatch.setattr("tui.engine.analysis_service.REST", 0)
    desk = Desk(IMAGE)
    answer = await desk.answered(DeathsQuestion())
    await eventually_async(lambda: not desk.desk.under_way)
    assert {one.kill for one in answer.result} == {(1,), (2,), (3,), (4,), (1, 4)}  # racks of one are brokers
    assert {one.rack for one in answer.result if len(one.kill) > 1} == {"a"}
    assert desk.desk.look(DeathsQuestion()).result is answer.result and not desk.desk.under_way
    desk.image = msgspec.structs.replace(desk.image, brokers=dict(list(desk.image.brokers.items())[1:]))
    meanwhile = desk.desk.look(DeathsQuestion())
    assert meanwhile.result is answer.result and desk.desk.under_way
    await eventually_async(lambda: not desk.desk.look(DeathsQuestion()).is_stale(desk.image))
    assert {one.kill for one in desk.desk.look(DeathsQuestion()).result} == {(2,), (3,), (4,)}
    await desk.desk.close()


async def test_what_is_worked_out_again_by_itself_rests_in_between() -> None:
    desk = Desk(IMAGE)
    answer = await desk.answered(DeathsQuestion())
    await eventually_async(lambda: not desk.desk.under_way)
    desk.image = msgspec.structs.replace(desk.image, brokers=dict(list(desk.image.brokers.items())[1:]))
    assert desk.desk.look(DeathsQuestion()).result is answer.result and not desk.desk.under_way
    await desk.desk.close()


async def test_what_is_stopped_is_worked_out_only_when_it_is_asked_again() -> None:
    desk = Desk(IMAGE)
    desk.desk.look(SweepQuestion("pairs"))
    stopped = desk.desk.look(SweepQuestion("pairs", stopped=True))
    assert stopped.note == STOPPED and stopped.result is None
    await asyncio.sleep(0)
    assert not desk.news
    await desk.answered(SweepQuestion("pairs"))
    await desk.desk.close()


async def test_no_plan_is_made_before_it_is_asked_for_and_a_refusal_is_a_line() -> None:
    desk = Desk(IMAGE)
    assert desk.desk.look(PlanQuestion()).note == ""
    everybody = PlanQuestion(remove=tuple(desk.image.brokers), asked=True)
    await eventually_async(lambda: "esc" not in desk.desk.look(everybody).note)
    look = desk.desk.look(everybody)
    assert look.result is None and look.note and "defect" not in look.note and "\n" not in look.note
    await desk.desk.close()


async def test_only_the_latest_answers_are_kept() -> None:
    desk = Desk(IMAGE)
    first = (await desk.answered(SweepQuestion())).result
    for take in range(1, KEPT + 2):
        await desk.answered(SweepQuestion(take=take))
    assert desk.desk.look(SweepQuestion()).result is not first
    await desk.desk.close()
