"""Deleting znodes, fenced: single ones and whole trees. It does not know what they mean."""

from model.controller.context import ControllerContext
from model.controller.step import Outcome, Step
from model.controller.steps.fencing import fence
from model.controller.zookeeper import Answer, Children, Delete


class DeleteZnodes(Step, frozen=True):
    """Delete these; what is gone already is gone."""

    paths: tuple[str, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=fence(context, map(Delete, self.paths)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        return Outcome(context)


class DeleteTree(Step, frozen=True):
    """Delete a znode and all below it, children before parents (`KafkaZkClient.deleteRecursive`).

    It is listed level by level, each in one question; `found` are the levels so far, parents before children.
    """

    path: str
    found: tuple[str, ...] = ()
    level: tuple[str, ...] | None = None

    def begin(self, context: ControllerContext) -> Outcome:
        level = (self.path,) if self.level is None else self.level
        return Outcome(context, ask=tuple(map(Children, level)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        level = (self.path,) if self.level is None else self.level
        below = tuple(f"{path}/{name}" for path, answer in zip(level, answers, strict=True) for name in answer.names)
        found = self.found + level
        if below:
            return Outcome(context, then=(DeleteTree(self.path, found, below),))
        return Outcome(context, then=(DeleteZnodes(tuple(sorted(found, key=_post_order))),))


def _post_order(path: str) -> tuple[tuple[bool, str], ...]:
    """Sorts every znode behind all that is below it, and siblings by name."""
    return (*((False, name) for name in path.split("/")), (True, ""))
