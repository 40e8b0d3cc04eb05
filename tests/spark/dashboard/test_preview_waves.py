"""All groups at once for the screens: in waves, until they are all there or somebody stops it."""

from __future__ import annotations

import re

import msgspec

from model.analyses.analysis import run_here
from model.analyses.previews.group_arrays import stage
from model.analyses.previews.kernel import PREVIEWS, waves
from model.analyses.previews.result import PreviewParameters, PreviewResult
from tests.harness.waiting import eventually_async
from tests.spark.previews.many_groups import many_groups
from tui.engine.analysis_service import AnalysisService
from tui.engine.jobs import STOPPED, AnalysisAnswer
from tui.engine.lab.pages import lab_text
from tui.engine.queries import LabText
from tui.engine.questions import PreviewQuestion

IMAGE = many_groups(600)
ASKED = PreviewQuestion()
PARAMETERS = PreviewParameters(each_leaves=True, join=1)


def test_waves_are_whole_groups_and_come_to_the_same() -> None:
    arrays = stage(many_groups(60)).arrays
    parts = [*waves(arrays, PARAMETERS, lambda: 100_000.0)]
    assert len(parts) > 3 and parts[-1].left == 0
    found = [run_here(PREVIEWS, arrays, part.parameters).groups for part in parts]
    assert PreviewResult(tuple(one for groups in found for one in groups)) == run_here(PREVIEWS, arrays, PARAMETERS)


async def partly(analyses: AnalysisService) -> AnalysisAnswer:
    """The first groups."""
    await eventually_async(lambda: analyses.look(ASKED).result is not None)
    return analyses.look(ASKED)


async def test_groups_grow_and_those_that_were_there_stay_when_it_is_stopped() -> None:
    seen: list[AnalysisAnswer] = []

    def look_on() -> None:
        if not seen and (look := analyses.look(ASKED)).is_partial:
            seen.append(look)
            seen.append(analyses.look(msgspec.structs.replace(ASKED, stopped=True)))

    analyses = AnalysisService(lambda: IMAGE, look_on)
    analyses.look(ASKED)
    await eventually_async(lambda: bool(seen) and not analyses.under_way)
    so_far, stopped = seen
    (staged, groups), (_, kept) = so_far.result, stopped.result
    assert re.fullmatch(r"[\d,]+ of 600 groups, about [\d.,]+ (s|min) left; esc stops it", so_far.note)
    assert 0 < len(groups.groups) < len(staged.groups) and kept is groups
    assert (stopped.note, stopped.is_partial) == (STOPPED, True)
    said = lab_text(stopped, LabText(question=ASKED, key="", width=60))
    assert f"{len(groups.groups)} of 600 groups" in "\n".join("".join(text for text, _ in each) for each in said.lines)
    assert groups.groups == run_here(PREVIEWS, staged.arrays, PARAMETERS).groups[: len(groups.groups)]
    await analyses.close()
