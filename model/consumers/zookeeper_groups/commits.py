"""Which offsets are written to ZooKeeper, and how. It does not say when.

Source: `ZookeeperConsumerConnector.commitOffsets`, `commitOffsetToZooKeeper` (0.8.2, 1.1): a znode is written only if
the offset differs from the last one read or written here.
"""

from collections.abc import Mapping

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups.commands import AskZooKeeper
from model.consumers.zookeeper_groups.decision import MemberDecision, aside, replace
from model.consumers.zookeeper_groups.happenings import OffsetsCommitted
from model.consumers.zookeeper_groups.member_state import MemberState
from model.consumers.zookeeper_groups.stages import Stage
from model.controller.zookeeper import Answer, Code, Create, SetData, ZooKeeperRequest
from model.znodes.consumers import ConsumerOffset
from model.znodes.paths import offset_path


def uncommitted(member: MemberState) -> Mapping[TopicPartition, int]:
    """Offsets of owned partitions that ZooKeeper does not have yet."""
    return {
        read: offset
        for read, offset in member.consumed.items()
        if offset >= 0 and read in member.owned and member.committed.get(read) != offset
    }


def due(member: MemberState) -> Mapping[TopicPartition, int]:
    """What is committed without being asked for."""
    return uncommitted(member) if member.settings.auto_commit_enable else {}


def commit_requests(member: MemberState, offsets: Mapping[TopicPartition, int]) -> tuple[ZooKeeperRequest, ...]:
    """Writes, one SetData each. A znode that is not known to be there is made first, and so are its parents."""
    group = member.settings.group_id
    new = sorted(offsets.keys() - member.committed.keys())
    directories = [f"/consumers/{group}", f"/consumers/{group}/offsets"] if new else []
    directories += dict.fromkeys(f"/consumers/{group}/offsets/{read.topic}" for read in new)
    made = [Create(offset_path(group, *read), ConsumerOffset(offsets[read]).to_bytes()) for read in new]
    written = [
        SetData(offset_path(group, *read), ConsumerOffset(offset).to_bytes()) for read, offset in offsets.items()
    ]
    return (*map(Create, directories), *made, *written)


def commit_aside(member: MemberState, offsets: Mapping[TopicPartition, int]) -> MemberDecision:
    """Commit beside whatever goes on."""
    if not offsets:
        return MemberDecision(member)
    return aside(member, Stage.SIDE_COMMIT, *commit_requests(member, offsets), offsets=offsets)


def committed(member: MemberState, asked: AskZooKeeper, answers: tuple[Answer, ...]) -> MemberDecision:
    """Remember what ZooKeeper has, and which znodes somebody has removed. What failed is tried again next time."""
    pairs = zip(asked.requests, answers, strict=True)
    codes = [answer.code for request, answer in pairs if isinstance(request, SetData)]
    known, done = dict(member.committed), list[tuple[str, int, int]]()
    for (read, offset), code in zip(asked.offsets.items(), codes, strict=True):
        if code is Code.OK:
            known[read] = offset
            done.append((read.topic, read.partition, offset))
        elif code is Code.NO_NODE:
            known.pop(read, None)
    told = (OffsetsCommitted(tuple(done)),) if done else ()
    return MemberDecision(replace(member, committed=known), (), told)
