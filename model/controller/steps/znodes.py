"""Znodes as steps use them: writes that only the newest controller can make, deletions, and partition states.

Partition states are read and written under their versions. A write names the version that was read; if somebody wrote
in between (BADVERSION), that partition is read and decided again.

Source: `KafkaZkClient.updateLeaderAndIsr`, `deleteRecursive`, `PartitionStateMachine.doElectLeaderForPartitions`
(3.9).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from model.cluster.ids import TopicPartition
from model.controller.context import ControllerContext, Step, StepOutcome
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.topics import Leadership
from model.znodes.paths import CONTROLLER_EPOCH, partition_state_path
from model.znodes.payload import UnusablePayloadError
from model.znodes.topics import RECOVERING, LeaderIsrAndControllerEpoch, decode_partition_state
from model.zookeeper import (
    Answer,
    Check,
    Code,
    Delete,
    GetChildren,
    GetData,
    Multi,
    SetData,
    Write,
    ZooKeeperRequest,
)


def fenced(write: Write, epoch_version: int) -> Multi:
    """A write that only takes place while this is still the newest controller (KAFKA-6082, 2.1)."""
    return Multi((Check(CONTROLLER_EPOCH, epoch_version), write))


def unfenced(request: ZooKeeperRequest, answer: Answer) -> Answer:
    """The write's own answer if the request is a fenced one; FENCED if another controller came after this."""
    if not isinstance(request, Multi) or not answer.parts:
        return answer
    first = request.parts[0]
    if not isinstance(first, Check) or first.path != CONTROLLER_EPOCH:
        return answer
    return answer.parts[1] if answer.parts[0].ok else Answer(Code.FENCED)


def fence(context: ControllerContext, writes: Iterable[Write]) -> tuple[ZooKeeperRequest, ...]:
    """Each write in a transaction of its own with the check of the controller epoch, as Kafka does from 2.1 on.

    Before, only the version of what is overwritten guarded a write, where it had one.
    """
    if not context.settings.forms.fenced:
        return tuple(writes)
    return tuple(fenced(write, context.epoch_version) for write in writes)


class DeleteZnodes(Step, frozen=True):
    """Delete these; what is gone already is gone."""

    paths: tuple[str, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=fence(context, map(Delete, self.paths)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        return StepOutcome(context)


class DeleteTree(Step, frozen=True):
    """Delete a znode and all below it, children before parents (`KafkaZkClient.deleteRecursive`).

    It is listed level by level, each in one question; `found` are the levels so far, parents before children.
    """

    path: str
    found: tuple[str, ...] = ()
    level: tuple[str, ...] | None = None

    def begin(self, context: ControllerContext) -> StepOutcome:
        level = (self.path,) if self.level is None else self.level
        return StepOutcome(context, ask=tuple(map(GetChildren, level)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        level = (self.path,) if self.level is None else self.level
        below = tuple(f"{path}/{name}" for path, answer in zip(level, answers, strict=True) for name in answer.names)
        found = self.found + level
        if below:
            return StepOutcome(context, then=(DeleteTree(self.path, found, below),))
        return StepOutcome(context, then=(DeleteZnodes(tuple(sorted(found, key=_post_order))),))


def _post_order(path: str) -> tuple[tuple[bool, str], ...]:
    """Sorts every znode behind all that is below it, and siblings by name."""
    return (*((False, name) for name in path.split("/")), (True, ""))


class StatesRead(NamedTuple):
    """What state znodes hold, and the partitions that have none a controller may go by, with the reason."""

    states: dict[TopicPartition, Leadership]
    missing: dict[TopicPartition, str]


class StatesWritten(NamedTuple):
    """What became of conditional writes: done with the new version, to be decided again, or failed."""

    done: dict[TopicPartition, Leadership]
    conflicts: tuple[TopicPartition, ...]
    failed: tuple[TopicPartition, ...]


def reads(partitions: Iterable[TopicPartition], *, watch: bool = False) -> tuple[GetData, ...]:
    """The requests to read these partitions' states."""
    return tuple(GetData(partition_state_path(name.topic, name.partition), watch) for name in partitions)


def states_read(
    partitions: Sequence[TopicPartition], answers: Sequence[Answer], newest_epoch: int | None = None
) -> StatesRead:
    """The answers to `reads`. A state that a newer controller than `newest_epoch` wrote is left alone."""
    read = StatesRead({}, {})
    for name, answer in zip(partitions, answers, strict=True):
        leadership = _leadership(answer)
        if leadership is None:
            read.missing[name] = "it has no readable state"
        elif newest_epoch is not None and leadership.controller_epoch > newest_epoch:
            read.missing[name] = f"controller epoch {leadership.controller_epoch} wrote it, a newer one"
        else:
            read.states[name] = leadership
    return read


def sets(context: ControllerContext, states: Mapping[TopicPartition, LeaderAndIsr]) -> tuple[ZooKeeperRequest, ...]:
    """The requests to write these states, each on condition of the version it was derived from."""
    return fence(context, (_set(context, name, state) for name, state in states.items()))


def states_written(
    context: ControllerContext, states: Mapping[TopicPartition, LeaderAndIsr], answers: Sequence[Answer]
) -> StatesWritten:
    """The answers to `sets`."""
    done: dict[TopicPartition, Leadership] = {}
    conflicts: list[TopicPartition] = []
    failed: list[TopicPartition] = []
    for (name, state), answer in zip(states.items(), answers, strict=True):
        if answer.ok:
            written = msgspec.structs.replace(state, partition_epoch=answer.version)
            done[name] = Leadership(written, context.epoch)
        else:
            (conflicts if answer.code is Code.BAD_VERSION else failed).append(name)
    return StatesWritten(done, tuple(conflicts), tuple(failed))


def encode_state(context: ControllerContext, state: LeaderAndIsr) -> bytes:
    """The payload of a state znode, under this controller's epoch."""
    return LeaderIsrAndControllerEpoch(
        controller_epoch=context.epoch,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=state.isr,
        leader_recovery_state=RECOVERING if state.recovering else 0,
    ).to_bytes()


def _set(context: ControllerContext, name: TopicPartition, state: LeaderAndIsr) -> Write:
    path = partition_state_path(name.topic, name.partition)
    return SetData(path, encode_state(context, state), state.partition_epoch)


def _leadership(answer: Answer) -> Leadership | None:
    """None where there is no state, too: such an answer has no data."""
    try:
        found = decode_partition_state(answer.data)
    except UnusablePayloadError:
        return None
    recovering = found.leader_recovery_state == RECOVERING
    state = LeaderAndIsr(found.leader, found.leader_epoch, found.isr, recovering, answer.version)
    return Leadership(state, found.controller_epoch)
