"""The last part of an attempt: owner znodes are made, and if one belongs to another all are taken back.

Source: `ZKRebalancerListener.reflectPartitionOwnershipDecision`, `ZkUtils.createEphemeralPathExpectConflict` (0.8.2,
1.1). The owner znode is the only arbiter between members that saw different groups. Kafka reads offsets before it
claims: an owner that commits and lets go in between makes it consume again what is committed. Here they are read after.
"""

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups.attempts import attempts_of, end, fail, noted
from model.consumers.zookeeper_groups.commands import CallBack, Position, StartFetching
from model.consumers.zookeeper_groups.decision import MemberDecision, ask, replace
from model.consumers.zookeeper_groups.happenings import ClaimConflicted, PartitionsClaimed
from model.consumers.zookeeper_groups.member_state import Conflict, MemberState
from model.consumers.zookeeper_groups.stages import Stage
from model.controller.zookeeper import Answer, Code, Create, Delete, Read
from model.znodes.consumers import PartitionOwner, decode_offset
from model.znodes.paths import offset_path, owner_path
from model.znodes.reasons import UnusablePayloadError

NO_OFFSET = -1


def claim(member: MemberState, at_ms: int) -> MemberDecision:
    """Own what this member works out to be its own."""
    claims = attempts_of(member).claims
    return _claim(noted(member, open=tuple(claims))) if claims else _succeed(member, at_ms)


def _claim(member: MemberState) -> MemberDecision:
    attempts, group = attempts_of(member), member.settings.group_id
    directories: list[str] = []
    if attempts.parents_made:
        directories += [f"/consumers/{group}", f"/consumers/{group}/owners"]
        directories += dict.fromkeys(f"/consumers/{group}/owners/{read.topic}" for read in attempts.open)
    claims = [
        Create(owner_path(group, *read), PartitionOwner(attempts.claims[read]).to_bytes(), ephemeral=True)
        for read in attempts.open
    ]
    return ask(member, Stage.CLAIMING, *map(Create, directories), *claims)


def claims_answered(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """Directories that are missing are made, then the rest is claimed; what exists is looked at."""
    attempts = attempts_of(member)
    codes = {read: a.code for read, a in zip(attempts.open, answers[-len(attempts.open) :], strict=True)}
    granted = attempts.granted.union(read for read, code in codes.items() if code is Code.OK)
    left = tuple(read for read, code in codes.items() if code is not Code.OK)
    noting = noted(member, granted=granted, open=left)
    if not left:
        return _read_offsets(noting)
    if Code.NO_NODE in codes.values() and not attempts.parents_made:
        return _claim(noted(noting, parents_made=True))
    group = member.settings.group_id
    return ask(noting, Stage.CHECKING_CLAIMS, *(Read(owner_path(group, *read)) for read in left))


def conflicts_looked_at(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """A claim of its own, whose answer was lost, counts as granted; one conflict is enough to fail."""
    attempts = attempts_of(member)
    conflicts = tuple(
        Conflict(read, attempts.claims[read], answer.data.decode(errors="replace"))
        for read, answer in zip(attempts.open, answers, strict=True)
        if answer.data != PartitionOwner(attempts.claims[read]).to_bytes()
    )
    taken = {conflict.partition for conflict in conflicts}
    granted = attempts.granted.union(read for read in attempts.open if read not in taken)
    noting = noted(member, granted=granted, open=(), conflicts=attempts.conflicts + conflicts)
    if not conflicts:
        return _read_offsets(noting)
    told = tuple(ClaimConflicted(each.partition, each.thread, each.owner) for each in conflicts)
    return MemberDecision(noting, (), told).then(lambda m: _undo(m, "partitions still belong to others"))


def _read_offsets(member: MemberState) -> MemberDecision:
    group = member.settings.group_id
    return ask(member, Stage.READING_OFFSETS, *(Read(offset_path(group, *read)) for read in attempts_of(member).claims))


def offsets_read(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """A partition that nobody has committed starts where the reset policy says."""
    offsets: dict[TopicPartition, int] = {}
    for read, answer in zip(attempts_of(member).claims, answers, strict=True):
        try:
            if answer.ok or answer.code is Code.NO_NODE:
                offsets[read] = decode_offset(answer.data).offset if answer.ok else NO_OFFSET
            else:
                return _undo(member, "offsets could not be read")
        except UnusablePayloadError as error:
            return _undo(member, f"the offset of {read} {error}")
    return _succeed(noted(member, offsets=offsets), at_ms)


def _undo(member: MemberState, why: str) -> MemberDecision:
    attempts, group = attempts_of(member), member.settings.group_id
    undo = [Delete(owner_path(group, *read)) for read in sorted(attempts.granted)]
    return ask(noted(member, doomed=why), Stage.UNDOING_CLAIMS, *undo)


def claims_undone(member: MemberState, answers: tuple[Answer, ...], at_ms: int) -> MemberDecision:
    """Others let go later, if they saw the same: try again then."""
    return fail(member, attempts_of(member).doomed, at_ms)


def _succeed(member: MemberState, at_ms: int) -> MemberDecision:
    attempts = attempts_of(member)
    claims = attempts.claims
    known = {read: offset for read, offset in attempts.offsets.items() if offset != NO_OFFSET}
    owning = replace(member, owned=claims, consumed=attempts.offsets, committed=known)
    told = PartitionsClaimed(tuple((read.topic, read.partition, thread) for read, thread in sorted(claims.items())))
    owned = MemberDecision(owning, (), (told,) if claims else ())
    if not member.settings.call_back or member.view is None:
        return owned.then(lambda m: start(m, at_ms))
    waiting, owners = Stage.CALLING_BEFORE_START, member.view.owners
    return owned.then(lambda m: MemberDecision(replace(m, stage=waiting), (CallBack("start", owners),)))


def start(member: MemberState, at_ms: int) -> MemberDecision:
    """Consume what is owned, from where it was left."""
    positions = {read: Position(thread, member.consumed[read]) for read, thread in member.owned.items()}
    fetching = (StartFetching(positions),) if positions else ()
    started = MemberDecision(replace(member, fetching=member.owned), fetching)
    return started.then(lambda m: end(m, at_ms, succeeded=True))
