"""Reading and writing partition states under their versions: what elections, ISR changes and epoch bumps share.

Source: `KafkaZkClient.updateLeaderAndIsr`, `PartitionStateMachine.doElectLeaderForPartitions` (3.9). A write names the
version that was read; if somebody wrote in between (BADVERSION), that partition is read and decided again.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from model.cluster.ids import TopicPartition
from model.controller.context import ControllerContext
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.steps.fencing import fence
from model.controller.topics import Leadership
from model.controller.zookeeper import Answer, Code, Read, SetData, Write, ZooKeeperRequest
from model.znodes.partition_state import RECOVERING, LeaderIsrAndControllerEpoch, decode_partition_state
from model.znodes.paths import partition_state_path
from model.znodes.reasons import UnusablePayloadError


class StatesRead(NamedTuple):
    """What state znodes hold, and the partitions that have none a controller may go by, with the reason."""

    states: dict[TopicPartition, Leadership]
    missing: dict[TopicPartition, str]


class StatesWritten(NamedTuple):
    """What became of conditional writes: done with the new version, to be decided again, or failed."""

    done: dict[TopicPartition, Leadership]
    conflicts: tuple[TopicPartition, ...]
    failed: tuple[TopicPartition, ...]


def reads(partitions: Iterable[TopicPartition], *, watch: bool = False) -> tuple[Read, ...]:
    """The requests to read these partitions' states."""
    return tuple(Read(partition_state_path(name.topic, name.partition), watch) for name in partitions)


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
    if not answer.ok:
        return None
    try:
        found = decode_partition_state(answer.data)
    except UnusablePayloadError:
        return None
    recovering = found.leader_recovery_state == RECOVERING
    state = LeaderAndIsr(found.leader, found.leader_epoch, found.isr, recovering, answer.version)
    return Leadership(state, found.controller_epoch)
