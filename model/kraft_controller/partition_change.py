"""One partition, one change: who leads it, who is in its ISR and its ELR, and which epochs rise.

Source: `org.apache.kafka.controller.PartitionChangeBuilder`, `org.apache.kafka.metadata.PartitionRegistration`, 3.3 to
4.4. Whether the directory of a replica works (KIP-858) is for whoever says which replicas are acceptable. All depends
on levels: metadata.version is in the metadata log; the release is not, but what nodes support gives it away.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import METADATA_VERSION

ELR_FEATURE: Final = "eligible.leader.replicas.version"
KRAFT_OF_3_3: Final = 7
"""metadata.version 3.3-IV3, the first of a release for production."""
NEWEST: Final = (4, 4)
HIGHEST_LEVELS: Final[Mapping[tuple[int, int], int]] = {
    (3, 3): 7, (3, 4): 8, (3, 5): 11, (3, 6): 14, (3, 7): 19, (3, 8): 20, (3, 9): 21,
    (4, 0): 25, (4, 1): 27, (4, 2): 29, (4, 3): 30, (4, 4): 33,
}  # fmt: skip
"""Release → the highest metadata.version it has (`MetadataVersion`, 4.4)."""
DIRECTORIES_SINCE: Final = 17
"""metadata.version 3.7-IV2."""
CORDONED_SINCE: Final = 30
"""metadata.version 4.3-IV0."""


class Levels(NamedTuple):
    """All that rules depend on."""

    release: tuple[int, int] = NEWEST
    metadata_version: int = HIGHEST_LEVELS[NEWEST]
    elr: bool = False
    """Whether eligible leader replicas (KIP-966) are kept."""
    migrating: bool = False
    """Whether controllers have `zookeeper.metadata.migration.enable` (3.4 to 3.9)."""

    @property
    def shrinking_raises_epoch(self) -> bool:
        """Whether a leader epoch rises when somebody leaves the ISR (until KAFKA-15021, 3.6-IV0)."""
        migrates = self.migrating and (3, 6) <= self.release <= (3, 9) and self.metadata_version >= 8
        return self.metadata_version < 12 or migrates

    @property
    def keeps_directories(self) -> bool:
        """Whether partitions name the directories of their replicas (KIP-858, 3.7-IV2)."""
        return self.metadata_version >= DIRECTORIES_SINCE

    @property
    def knows_cordoned(self) -> bool:
        """Whether log directories may be cordoned (KIP-1066, 4.3-IV0)."""
        return self.metadata_version >= CORDONED_SINCE

    @property
    def registration_cleans_up(self) -> bool:
        """Whether who registers anew is taken out of ISRs, and after an unclean shutdown out of ELRs."""
        return self.release >= (4, 0)


def levels_of(image: ClusterImage) -> Levels:
    """Of a KRaft cluster; where nobody told of features, those of the newest release without ELR."""
    metadata = image.metadata
    if metadata is None or not knows_levels(image):
        return Levels()
    level = metadata.features[METADATA_VERSION]
    controllers = {each.id for each in metadata.controllers} or set(metadata.supported)
    highest = [
        metadata.supported[node][METADATA_VERSION][1]
        for node in controllers & metadata.supported.keys()
        if METADATA_VERSION in metadata.supported[node]
    ]
    release = release_of(max([level, *highest]))
    return Levels(release, level, elr=release >= (4, 0) and metadata.features.get(ELR_FEATURE, 0) > 0)


def knows_levels(image: ClusterImage) -> bool:
    """Whether somebody told of metadata.version: the metadata log does."""
    return image.metadata is not None and METADATA_VERSION in image.metadata.features


def release_of(highest_level: int) -> tuple[int, int]:
    """The first release that has this metadata.version."""
    return next((release for release, level in HIGHEST_LEVELS.items() if level >= highest_level), NEWEST)


NO_LEADER: Final = -1
MIGRATING: Final = "AAAAAAAAAAAAAAAAAAAAAA"
"""Where nobody said which directory it is; the ids 0, 1 and 2 (`DirectoryId`)."""
UNASSIGNED: Final = "AAAAAAAAAAAAAAAAAAAAAQ"
"""Where none is chosen yet."""
LOST: Final = "AAAAAAAAAAAAAAAAAAAAAg"
"""Where it is one that works no more."""
RESERVED: Final = frozenset({UNASSIGNED, LOST, MIGRATING})
Brokers = tuple[int, ...]


class Registration(msgspec.Struct, frozen=True, gc=False):
    """A partition as the metadata log has it."""

    replicas: Brokers
    isr: Brokers
    leader: int
    leader_epoch: int = 0
    partition_epoch: int = 0
    removing: Brokers = ()
    adding: Brokers = ()
    elr: Brokers = ()
    last_known_elr: Brokers = ()
    recovering: bool = False
    """Its leader was elected uncleanly, and has not said yet that it is past that (KIP-704)."""
    directories: tuple[str, ...] = ()
    """Of each replica the id of its directory; empty where nobody tells them."""

    @property
    def is_reassigned(self) -> bool:
        """Whether a reassignment is under way."""
        return bool(self.adding or self.removing)

    def without_elr(self) -> "Registration":
        """The partition after its ELR was cleared."""
        return msgspec.structs.replace(self, elr=(), last_known_elr=(), partition_epoch=self.partition_epoch + 1)

    def directory(self, broker: int) -> str:
        """That of a replica; UNASSIGNED where it is not told, or it is none."""
        at = dict(zip(self.replicas, self.directories, strict=False))
        return at.get(broker, UNASSIGNED)


class PartitionChange(msgspec.Struct, frozen=True, gc=False):
    """What a PartitionChangeRecord sets; None: that stays. Any `leader` raises the leader epoch, also the same one."""

    leader: int | None = None
    isr: Brokers | None = None
    replicas: Brokers | None = None
    removing: Brokers | None = None
    adding: Brokers | None = None
    elr: Brokers | None = None
    last_known_elr: Brokers | None = None
    recovering: bool | None = None
    directories: tuple[str, ...] | None = None


NOTHING: Final = PartitionChange()


class PartitionChangeDecision(NamedTuple):
    """A record, and whether the leader that it elects may lack records that were acknowledged."""

    record: PartitionChange
    unclean: bool
    last_known: bool = False
    """Whether it is elected because it led last, with neither ISR nor ELR left."""


class Election(Enum):
    """Whom a change may elect."""

    ONLINE = "online"
    """A replica that is in sync, and only where nobody leads."""
    PREFERRED = "preferred"
    """The first of the replicas if it is in sync, whoever leads."""
    UNCLEAN = "unclean"
    """As ONLINE, and any active replica if nobody is in sync."""


class RequestedChange(msgspec.Struct, frozen=True):
    """What an event asks of a partition; None: nothing of that."""

    isr: Brokers | None = None
    replicas: Brokers | None = None
    removing: Brokers | None = None
    adding: Brokers | None = None
    recovering: bool | None = None
    stopped_uncleanly: frozenset[int] = frozenset()
    """They may lack records that they acknowledged, and leave the ELR."""
    election: Election = Election.ONLINE
    directories: Mapping[int, str] = {}
    """Where replicas are to lie: those that are new, or that their brokers have moved."""


class Elected(NamedTuple):
    """Who leads, and whether records may be lost by that."""

    leader: int
    unclean: bool = False
    last_known: bool = False


def applied(state: Registration, change: PartitionChange) -> Registration:
    """The partition after the record."""
    fields = {name: value for name in change.__struct_fields__ if (value := getattr(change, name)) is not None}
    return msgspec.structs.replace(
        state,
        **fields,
        leader_epoch=state.leader_epoch + (change.leader is not None),
        partition_epoch=state.partition_epoch + 1,
    )


def change_of(
    state: Registration, asked: RequestedChange, levels: Levels, acceptable: Callable[[int], bool], min_isr: int
) -> PartitionChangeDecision | None:
    """What the controller writes; None: nothing. `acceptable`: who may lead; `min_isr` is the effective one."""
    target = _completed(_Target.of(state, asked), levels)
    target = target._replace(elr=_eligible(state, target, asked, levels, min_isr))
    elected = _elect(state, target, asked.election, levels, acceptable)
    leader, isr, recovering = None, None, asked.recovering
    if elected.leader != state.leader:
        leader = elected.leader
        if elected.unclean:
            isr = (leader,)
            target = target._replace(isr=isr, elr=())
            if not state.recovering:
                recovering = True
        elif leader in target.elr:
            target = target._replace(isr=(leader,), elr=tuple(each for each in target.elr if each != leader))
    if leader is None and set(state.replicas) - set(target.replicas):
        leader = state.leader
    if not levels.elr:
        target = target._replace(elr=())
    if isr is None and target.isr != state.isr and (target.isr or levels.elr):
        isr = target.isr
    if leader is None and _shrinks(state, target, isr, levels):
        leader = state.leader
    record = PartitionChange(
        leader=leader,
        isr=isr,
        replicas=_new(target.replicas, state.replicas),
        removing=_new(target.removing, state.removing),
        adding=_new(target.adding, state.adding),
        elr=_new(target.elr, state.elr),
        last_known_elr=_last_known(state, leader, isr, levels),
        recovering=None if recovering == state.recovering else recovering,
        directories=_directories(state, target.replicas, asked, levels),
    )
    if record == NOTHING:
        return None
    is_new = elected.leader != state.leader
    return PartitionChangeDecision(record, elected.unclean and is_new, elected.last_known and is_new)


class _Target(NamedTuple):
    """What the partition is to become, but for its leader."""

    isr: Brokers
    replicas: Brokers
    removing: Brokers
    adding: Brokers
    elr: Brokers

    @classmethod
    def of(cls, state: Registration, asked: RequestedChange) -> "_Target":
        return cls(
            state.isr if asked.isr is None else asked.isr,
            state.replicas if asked.replicas is None else asked.replicas,
            state.removing if asked.removing is None else asked.removing,
            state.adding if asked.adding is None else asked.adding,
            state.elr,
        )


def _completed(target: _Target, levels: Levels) -> _Target:
    """A reassignment ends as soon as those who come in are in sync; KAFKA-15665 asks it of all who stay."""
    if not (target.adding or target.removing):
        return target
    isr = tuple(each for each in target.isr if each not in target.removing)
    replicas = tuple(each for each in target.replicas if each not in target.removing)
    are_in = set(target.adding) <= set(isr)
    if (3, 8) <= levels.release < (4, 3):
        is_done = set(replicas) <= set(isr)
    elif levels.release >= (4, 3) and len(target.adding) < len(target.removing):
        is_done = are_in and set(replicas) <= set(isr)
    else:
        is_done = are_in
    if not (isr and replicas and is_done):
        return target
    return _Target(isr, replicas, (), (), target.elr)


def _eligible(state: Registration, target: _Target, asked: RequestedChange, levels: Levels, min_isr: int) -> Brokers:
    """Who has left an ISR that is too small, and is as good as in it (KIP-966)."""
    if not levels.elr:
        return state.elr  # what is left of it may still elect
    if len(target.isr) >= min_isr:
        return ()
    gone = {*target.isr, *asked.stopped_uncleanly}
    return tuple(each for each in _in_hash_order((*state.elr, *state.isr)) if each not in gone)


def _in_hash_order(brokers: Iterable[int]) -> Sequence[int]:
    """As Java's HashSet tells them, in whose order they are written."""
    some = tuple(dict.fromkeys(brokers))
    slots = 16
    while len(some) > slots * 3 // 4:
        slots *= 2
    return sorted(some, key=lambda each: (each ^ each >> 16) % slots)


def _elect(
    state: Registration, target: _Target, election: Election, levels: Levels, acceptable: Callable[[int], bool]
) -> Elected:
    def is_valid(broker: int) -> bool:
        in_sync = target.isr or target.elr
        return broker in in_sync and acceptable(broker)

    first = target.replicas[:1] if election is Election.PREFERRED else ()
    for broker in (*first, state.leader, *target.replicas):
        if is_valid(broker):
            return Elected(broker)
    if (last := _last_leader(state, target, levels, acceptable)) is not None:
        return Elected(last, unclean=True, last_known=True)
    if election is Election.UNCLEAN:
        for broker in target.replicas:
            if acceptable(broker):
                return Elected(broker, unclean=True)
    return Elected(NO_LEADER)


def _last_leader(state: Registration, target: _Target, levels: Levels, acceptable: Callable[[int], bool]) -> int | None:
    """Who led last, where nobody else can: what it lacks, all others lack. 4.0 does not ask whether it lives."""
    if not levels.elr or target.isr or target.elr or len(state.last_known_elr) != 1:
        return None
    (last,) = state.last_known_elr
    return last if levels.release < (4, 1) or acceptable(last) else None


def _shrinks(state: Registration, target: _Target, isr: Brokers | None, levels: Levels) -> bool:
    """Whether the leader epoch rises because somebody leaves the ISR; until 3.5 also where the ISR is not written."""
    if levels.release <= (3, 5):
        return bool(set(state.isr) - set(target.isr))
    return levels.shrinking_raises_epoch and isr is not None and bool(set(state.isr) - set(isr))


def _last_known(state: Registration, leader: int | None, isr: Brokers | None, levels: Levels) -> Brokers | None:
    if not levels.elr:
        return None
    known, is_lost = state.last_known_elr, leader == NO_LEADER
    if levels.release >= (4, 2):
        if is_lost:
            return None if known else (state.leader,)
        return () if known and leader is not None else None
    if isr == () and known != (state.leader,):
        return (state.leader,)
    is_led = (leader is not None and not is_lost) or (state.leader != NO_LEADER and not is_lost)
    return () if known and is_led else None


def _directories(
    state: Registration, replicas: Brokers, asked: RequestedChange, levels: Levels
) -> tuple[str, ...] | None:
    if not (state.directories and levels.keeps_directories):
        return None
    known = dict(zip(state.replicas, state.directories, strict=True)) | dict(asked.directories)
    found = tuple(known.get(broker, UNASSIGNED) for broker in replicas)
    return None if found == state.directories else found


def _new(target: Brokers, now: Brokers) -> Brokers | None:
    return None if target == now else target
