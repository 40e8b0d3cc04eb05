"""Requests that were asked together, and what became of each so far. It sends nothing and waits for nobody.

Everything here happens on the connection's thread, but for the making.
"""

from collections.abc import Callable, Sequence

from kazoo.exceptions import ConnectionLoss, KazooException  # pyright: ignore[reportMissingTypeStubs]

from model.controller.zookeeper import Answer, Code, ZooKeeperRequest
from model.hosts.writing_zookeeper.requests import code_of, decode, encode, opcode

GONE = Answer(Code.SESSION_EXPIRED)
Note = Callable[[ZooKeeperRequest, Answer], None]


class Question:
    """`done` gets all answers once there are all; `lost` is called once the rest needs to be asked again."""

    def __init__(
        self,
        requests: Sequence[ZooKeeperRequest],
        chroot: str,
        note: Note,
        done: Callable[[tuple[Answer, ...]], None],
        lost: Callable[["Question"], None],
    ) -> None:
        self._answers: list[Answer | None] = [None] * len(requests)
        self._note = note
        self._done = done
        self._lost = lost
        self._flying = len(requests)
        self.slots = [Slot(self, place, request, chroot) for place, request in enumerate(requests)]

    def again(self) -> "list[Slot]":
        """The requests that are to be sent once more, in order: their connection was lost, their outcome is unknown."""
        slots = [slot for slot, answer in zip(self.slots, self._answers, strict=True) if answer is None]
        self._flying = len(slots)
        return slots

    def give_up(self) -> None:
        """The session is gone: so are the answers that are still missing."""
        self._done(tuple(GONE if answer is None else answer for answer in self._answers))

    def take(self, place: int, request: ZooKeeperRequest, answer: Answer | None) -> None:
        """One request was answered, or lost (None)."""
        self._flying -= 1
        if answer is not None:
            self._answers[place] = answer
            self._note(request, answer)
        if self._flying:
            return
        answers = tuple(answer for answer in self._answers if answer is not None)
        if len(answers) == len(self._answers):
            self._done(answers)
        else:
            self._lost(self)


class Slot:
    """One request as kazoo's connection sees it: something to serialize, and somebody to tell of a failure."""

    __slots__ = ("_chroot", "_place", "_question", "request", "type")

    def __init__(self, question: Question, place: int, request: ZooKeeperRequest, chroot: str) -> None:
        self._question = question
        self._place = place
        self._chroot = chroot
        self.request = request
        self.type = opcode(request)

    def serialize(self) -> bytes:
        """For kazoo."""
        return encode(self.request, self._chroot)

    def hear(self, error: int, buffer: bytes, offset: int) -> None:
        """The server's answer; raises for garbage."""
        answer = Answer(code_of(error)) if error else decode(self.request, buffer, offset)
        self._question.take(self._place, self.request, answer)

    def set_exception(self, reason: KazooException | ValueError) -> None:
        """For kazoo: there will be no answer on this connection."""
        if isinstance(reason, ConnectionLoss):
            self._question.take(self._place, self.request, None)
        elif isinstance(reason, ValueError):  # a path that cannot be encoded
            self._question.take(self._place, self.request, Answer(Code.OTHER))
        else:
            self._question.take(self._place, self.request, GONE)
