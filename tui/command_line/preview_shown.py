"""What `kdrill preview` found, for programs and for people. Prints nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from model.cluster.cluster_image import ClusterImage
from model.consumers.assignors.explanations import balance, explain
from model.consumers.assignors.group import AssignorError
from model.consumers.no_groups import no_groups, not_previewed
from spark_tasks.client.once import Outcome
from spark_tasks.previews.document import group_document, preview_document
from spark_tasks.previews.lab import Lab
from spark_tasks.previews.parameters import Parameters
from spark_tasks.previews.result import GroupPreview
from spark_tasks.previews.staging import Staged
from tui.command_line import preview_text as text
from tui.text import plain


@dataclass(frozen=True)
class Wish:
    """What is to be previewed, as the options have it."""

    keys: tuple[str, ...]
    strategies: tuple[str, ...]
    each_leaves: bool
    join: int
    explained: bool
    everything: bool

    @property
    def parameters(self) -> Parameters:
        """The same for the analysis."""
        return Parameters(tuple(dict.fromkeys(self.strategies)), self.each_leaves, self.join, detail=bool(self.keys))


class Shown:
    """The result, as one object or as lines."""

    def __init__(self, image: ClusterImage, staged: Staged, wish: Wish, outcome: Outcome) -> None:
        self._image, self._staged, self._wish, self._outcome = image, staged, wish, outcome
        self._previews: Sequence[GroupPreview] = outcome.result.groups

    def document(self) -> dict[str, Any]:
        """The kdrill.preview/1 object; its values are still to be made builtins."""
        where, outcome = self._image.provenance, self._outcome
        provenance = {
            "source": where.source,
            "zxid": where.zxid,
            "parameters": self._wish.parameters,
            "engine": outcome.engine,
            "seconds": round(outcome.seconds, 6),
        }
        return preview_document(map(self._group_document, self._previews), provenance)

    def _group_document(self, preview: GroupPreview) -> dict[str, Any]:
        document = group_document(preview, self._staged.groups[preview.group])
        lab = Lab(self._staged, preview.group)
        for name, told in document["strategies"].items():
            if told["rebalanced"] is None:
                told["refused"] = _refusal(lab, name)
                continue
            told["differs_from_kafka"] = lab.differs(name)
            if self._wish.explained:
                outcome = lab.outcome(name)
                told["explanation"] = {"balance": balance(outcome), "partitions": explain(outcome)}
        return document

    def lines(self) -> Iterator[str]:
        """Text of at most 80 columns, but for the name of the source."""
        source = plain(self._image.provenance.source)
        if not self._previews:
            others = not_previewed(self._image)
            yield from text.wrapped(f"{source}: {others}") if others else (f"{source}: {no_groups(self._image)}",)
            return
        if len(self._previews) > text.MOST_BLOCKS and not self._wish.everything:
            yield f"{source}: {len(self._previews):,} consumer groups"
            yield from text.summary_lines(self._previews)
            yield "--group NAME shows one of them, --all every one, and so does --json"
        else:
            for preview in self._previews:
                yield from self._group_lines(preview)
                yield ""
        if not self._wish.keys and (others := not_previewed(self._image)):
            yield from text.wrapped(others)
        yield f"{self._outcome.engine}, {self._outcome.seconds:.3f} s"

    def _group_lines(self, preview: GroupPreview) -> Iterator[str]:
        yield from text.group_lines(preview, self._staged.groups[preview.group], self._wish.join)
        lab = Lab(self._staged, preview.group)
        for each in preview.strategies:
            if each.rebalanced is None:
                yield from text.wrapped(f"{each.strategy} refuses: {_refusal(lab, each.strategy)}")
                continue
            differs = lab.differs(each.strategy)
            if differs is not None:
                yield from text.wrapped(f"{each.strategy}: {differs}")
            if self._wish.explained:
                outcome = lab.outcome(each.strategy)
                yield from text.explanation_lines(
                    each.strategy, balance(outcome), explain(outcome), everything=self._wish.everything
                )


def _refusal(lab: Lab, strategy: str) -> str:
    """Why the strategy has no answer for the group."""
    try:
        lab.outcome(strategy)
    except AssignorError as error:
        return str(error)
    raise AssertionError("refused by the kernel, and answered here")
