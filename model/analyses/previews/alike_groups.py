"""Groups whose members all subscribe to the same topics, many at a time: what each strategy makes of them, in arrays.

Most groups are such, and small: one by one, numpy's calls cost more than its work. All of a `Cases` stand one after the
other in arrays of members, partitions and topics, and each strategy has a closed form over them. It decides the same as
`model.consumers.assignors` does for one group, where its rule is told; tests compare the two, member by member.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from model.analyses.previews.changed_group import GroupChange
from model.analyses.previews.figures import FIGURES, UNKNOWN, Table
from model.analyses.previews.result import newcomers
from model.consumers.assignors.from_scratch import ZOOKEEPER_RELEASES, ReleaseDifference, numbered_hashes
from model.consumers.assignors.group import NOBODY, Flags, Ints, spans
from model.consumers.assignors.java_hashing import Hashes, buckets, copied_table, grown_table, string_hashes

StagedArrays = Mapping[str, Ints]
"""See `model.analyses.previews.group_arrays`."""


def are_alike(arrays: StagedArrays) -> Flags:
    """bool[G]: groups with members, partitions and one list of topics, which names each topic once."""
    lengths = {name: np.diff(arrays[f"{name}_starts"]) for name in ("member", "partition", "subscription")}
    first = arrays["subscription_starts"][:-1]
    one = lengths["subscription"] == 1
    named = np.zeros(len(one), dtype=np.int64)
    named[one] = np.diff(arrays["subscription_topic_starts"])[first[one]]
    return one & (lengths["member"] > 0) & (lengths["partition"] > 0) & (named == np.diff(arrays["group_topic_starts"]))


def inhabited(arrays: StagedArrays) -> Ints:
    """int64[G]: consumers that have any member: a thread, if they register in ZooKeeper."""
    starts = arrays["member_starts"]
    groups = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    consumers = arrays["member_consumer"].astype(np.int64)
    return np.bincount(np.unique(groups << 32 | consumers) >> 32, minlength=len(starts) - 1)


class CaseTopics(NamedTuple):
    """Topics that have partitions, case after case."""

    number: Ints  # [T] as over all groups
    case: Ints  # [T]
    counts: Ints  # [T] partitions


@dataclass(frozen=True, eq=False)
class Cases:
    """Groups after changes, N of them. Members and partitions are numbered over all cases, case after case."""

    members: Ints  # [N]
    partitions: Ints  # [N]
    topics: CaseTopics
    ring: Ints  # [M] see `GroupToAssign.ring`
    walk: Ints  # [M] see `Group.walk`
    claims: Ints  # [K] partitions that somebody owns, by who does
    claim_counts: Ints  # [M]
    lag: Ints  # [P] records, UNKNOWN where it is not known
    handed_on: Ints  # [N] partitions that the consumer had which died

    @cached_property
    def member_starts(self) -> Ints:
        return _starts(self.members)

    @cached_property
    def starts(self) -> Ints:
        """int64[N]: the first partition of each case."""
        return _starts(self.partitions)[:-1]

    @cached_property
    def case_of_member(self) -> Ints:
        return np.repeat(np.arange(len(self.members)), self.members)

    @cached_property
    def case_of_partition(self) -> Ints:
        return np.repeat(np.arange(len(self.members)), self.partitions)

    @cached_property
    def topic_of(self) -> Ints:
        """int64[P]: index into `topics`."""
        return np.repeat(np.arange(len(self.topics.counts)), self.topics.counts)

    @cached_property
    def number(self) -> Ints:
        """int64[P]: the partition's number in its topic."""
        return _ranks(self.topics.counts)

    @cached_property
    def claimants(self) -> Ints:
        """int64[K]: who owns each of `claims`."""
        return np.repeat(np.arange(len(self.claim_counts)), self.claim_counts)

    @cached_property
    def before(self) -> Ints:
        """int64[P]: who owns it before, NOBODY where none of those that are still there."""
        owner = np.full(len(self.lag), NOBODY)
        owner[self.claims] = self.claimants
        return owner

    @cached_property
    def knows_lag(self) -> Flags:
        """bool[N]: whether the lag of any partition is known."""
        return np.logical_or.reduceat(self.lag != UNKNOWN, self.starts)

    @cached_property
    def had(self) -> Ints:
        """int64[M]: how many partitions members had, within each case the fewest first."""
        return _sorted(self, self.claim_counts)

    def per_case(self, partitions: Ints) -> Ints:
        """int64[N]: how many of these partitions each case has."""
        return np.bincount(self.case_of_partition[partitions], minlength=len(self.members))


def cases_of(arrays: StagedArrays, groups: Ints, changes: Sequence[GroupChange]) -> Cases:
    """Groups that are alike, by number, each after the change beside it, which leaves it a member."""
    leaves, joins = (np.array(column, dtype=np.int64) for column in zip(*changes, strict=True))
    at, case = _taken(arrays["member_starts"], groups)
    stays = arrays["member_consumer"][at] != leaves[case]
    kept = np.bincount(case[stays], minlength=len(groups))
    members = kept + joins
    there = (np.cumsum(stays) - 1 + (np.cumsum(joins) - joins)[case])[stays]  # places of those that stay
    new = spans(_starts(members)[:-1] + kept, joins)
    hashes, claim_counts = np.empty(int(members.sum()), dtype=np.uint32), np.zeros(int(members.sum()), dtype=np.int64)
    hashes[there] = arrays["member_hashes"][at[stays]].astype(np.uint32)
    hashes[new] = string_hashes(newcomers(int(joins.max())))[_ranks(joins)]
    claim_counts[there] = arrays["claim_counts"][at[stays]]
    place = np.empty(len(at), dtype=np.int64)
    place[stays] = there
    in_line = _starts(np.diff(arrays["member_starts"])[groups])[case] + arrays["member_ring"][at]
    ring = np.empty(len(hashes), dtype=np.int64)
    ring[there], ring[new] = place[in_line[stays[in_line]]], new
    read, _ = _taken(arrays["partition_starts"], groups)
    partitions = np.diff(arrays["partition_starts"])[groups]
    claimed, claimed_of = _taken(arrays["claim_starts"], groups)
    is_kept = np.repeat(stays, arrays["claim_counts"][at])
    return Cases(
        members=members,
        partitions=partitions,
        topics=_topics(arrays, groups),
        ring=ring,
        walk=_walk(hashes, np.repeat(np.arange(len(groups)), members), _tables(members, grown_table)),
        claims=(_starts(partitions)[claimed_of] + arrays["claims"][claimed])[is_kept],
        claim_counts=claim_counts,
        lag=arrays["lag"][read],
        handed_on=np.bincount(claimed_of[~is_kept], minlength=len(groups)),
    )


def _topics(arrays: StagedArrays, groups: Ints) -> CaseTopics:
    read, case = _taken(arrays["group_topic_starts"], groups)
    number = arrays["group_topics"][read]
    counts = arrays["topic_partitions"][number].astype(np.int64)
    return CaseTopics(number[counts > 0], case[counts > 0], counts[counts > 0])


def _taken(starts: Ints, groups: Ints) -> tuple[Ints, Ints]:
    """Places of all that these groups have in a list where each begins at `starts`, and of which case each is."""
    counts = np.diff(starts)[groups]
    return spans(starts[groups], counts), np.repeat(np.arange(len(groups)), counts)


def _starts(lengths: Ints) -> Ints:
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))


def _ranks(lengths: Ints) -> Ints:
    """0, 1, 2 … of each run."""
    return spans(np.zeros(len(lengths), dtype=np.int64), lengths)


def _tables(sizes: Ints, table: Callable[[int], int]) -> Ints:
    """How many buckets each of these numbers of entries makes."""
    different, which = np.unique(sizes, return_inverse=True)
    return np.array([table(size) for size in different.tolist()], dtype=np.int64)[which]


def _walk(hashes: Hashes, case: Ints, tables: Ints) -> Ints:
    """The order in which Java walks a table for each case; `hashes` as entries were put in, `tables` by case."""
    most = int(tables.max())
    return np.argsort(case * most + (buckets(hashes, most) & tables[case] - 1), kind="stable")


def _sorted(cases: Cases, counts: Ints) -> Ints:
    """int64[M]: numbers of members, in order within each case."""
    width = int(counts.max()) + 1
    return np.sort(cases.case_of_member * width + counts) % width


def _round(cases: Cases, line: Ints) -> Ints:
    """int64[P]: the partitions of each case around the members in `line`."""
    turn = _ranks(cases.partitions) % cases.members[cases.case_of_partition]
    return line[cases.member_starts[cases.case_of_partition] + turn]


def _range(cases: Cases, line: Ints) -> Ints:
    """int64[P]: each topic's partitions in runs that differ by one at most, the first ones longer."""
    least, longer = np.divmod(cases.topics.counts, cases.members[cases.topics.case])
    of, number = cases.topic_of, cases.number
    split = (longer * (least + 1))[of]
    run = np.where(number < split, number // (least + 1)[of], longer[of] + (number - split) // np.maximum(least, 1)[of])
    return line[cases.member_starts[cases.case_of_partition] + run]


def _rounded_up(cases: Cases) -> Ints:
    """int64[P]: each topic's partitions in runs as long as the longest has to be."""
    length = -(-cases.topics.counts // cases.members[cases.topics.case])
    return cases.member_starts[cases.case_of_partition] + cases.number // length[cases.topic_of]


def _hashed_round(cases: Cases, arrays: StagedArrays, release: ReleaseDifference) -> Ints:
    """int64[P]: round-robin in the order of the hashes of partitions' names."""
    before, between, after = release.text
    written = arrays["topic_name_bytes"]
    units = _starts((written & 0xC0 != 0x80).astype(np.int64) + (written >= 0xF0))[
        arrays["topic_name_starts"]
    ]  # of UTF-16
    length = np.diff(units)[cases.topics.number].astype(np.uint32)
    codes = arrays["topic_hashes"][cases.topics.number].astype(np.uint32)
    for place, sign in enumerate(before):
        codes += np.uint32(ord(sign)) * np.uint32(31) ** (length + np.uint32(len(before) - 1 - place))
    for sign in between:
        codes = codes * np.uint32(31) + np.uint32(ord(sign))
    hashes = numbered_hashes(codes[cases.topic_of], cases.number, after)
    owner = np.empty(len(hashes), dtype=np.int64)
    owner[np.lexsort((hashes.view(np.int32), cases.case_of_partition))] = _round(cases, _by_id(cases))
    return owner


def _by_id(cases: Cases) -> Ints:
    return np.arange(len(cases.ring))


def _sticky(cases: Cases) -> tuple[Ints, Ints]:
    """int64[P]: owners by the sticky assignors; int64[N]: partitions that change hands while their owner has them."""
    case, counts = cases.case_of_member, cases.claim_counts
    least, longer = np.divmod(cases.partitions, cases.members)
    full = counts[cases.walk] > least[case]
    nth = np.cumsum(full, dtype=np.int64)
    nth -= np.concatenate(([0], nth))[cases.member_starts[:-1]][case]
    full &= nth <= longer[case]
    quotas = least[case]
    quotas[cases.walk[full]] += 1
    longer -= np.bincount(case[full], minlength=len(longer))
    surplus, surplus_of = _surplus(cases, quotas)
    owner = cases.before.copy()
    owner[surplus] = NOBODY
    free = np.flatnonzero(owner == NOBODY)
    owner[free] = _filled(cases, np.minimum(counts, quotas), least, longer)
    return owner, cases.per_case(surplus[owner[surplus] != surplus_of])


def _surplus(cases: Cases, quotas: Ints) -> tuple[Ints, Ints]:
    """Partitions over the quota, of each member the last in order of number and topic; and whose they were."""
    over = (cases.claim_counts > quotas)[cases.claimants]
    partitions, owners = cases.claims[over], cases.claimants[over]
    order = np.lexsort((partitions, cases.number[partitions], owners))  # topics are in the order of partitions
    rank = _ranks(np.where(cases.claim_counts > quotas, cases.claim_counts, 0))
    beyond = order[rank >= quotas[owners]]
    return partitions[beyond], owners[beyond]


def _filled(cases: Cases, kept: Ints, least: Ints, longer: Ints) -> Ints:
    """Who gets each of the free partitions: members under the quota in rounds, then one more for as many as `longer`
    says: those that were at it by id, then those that reach it, the soonest first."""
    case = cases.case_of_member
    missing = np.maximum(least[case] - kept, 0)
    rounds = int(missing.max()) + 1
    turn = case * 2 * rounds
    more = np.flatnonzero((longer > 0)[case] & (kept <= least[case]))
    more = more[np.argsort((turn + missing)[more], kind="stable")]
    rank = _ranks(np.bincount(case[more], minlength=len(longer)))
    more = more[rank < longer[case[more]]]
    in_rounds = np.repeat(_by_id(cases), missing)
    turns = np.concatenate((turn[in_rounds] + _ranks(missing), (turn + rounds + missing)[more]))
    return np.concatenate((in_rounds, more))[np.argsort(turns, kind="stable")]


def _uniform(cases: Cases, arrays: StagedArrays) -> Ints:
    """int64[P]: owners by the group coordinator's uniform assignor."""
    case, walk = cases.case_of_member, cases.walk
    least, longer = np.divmod(cases.partitions, cases.members)
    quotas = least[case]
    quotas[walk] += _ranks(cases.members) < longer[case]
    kept = np.minimum(cases.claim_counts, quotas)
    place = np.empty(len(walk), dtype=np.int64)
    place[walk] = _by_id(cases)
    beyond = _ranks(cases.claim_counts) >= kept[cases.claimants]
    revoked = cases.claims[beyond]
    revoked = revoked[np.argsort(place[cases.claimants[beyond]], kind="stable")]
    topics = _topic_walk(cases, arrays["topic_id_hashes"])
    free = spans((np.cumsum(cases.topics.counts) - cases.topics.counts)[topics], cases.topics.counts[topics])
    free = np.concatenate((free[cases.before[free] == NOBODY], revoked))
    owner = cases.before.copy()
    free = free[np.argsort(cases.case_of_partition[free], kind="stable")]
    owner[free] = np.repeat(walk, (quotas - kept)[walk])
    return owner


def _topic_walk(cases: Cases, id_hashes: Ints) -> Ints:
    """Topics of each case as a HashSet is walked that was copied from one of their ids."""
    hashes = id_hashes[cases.topics.number].astype(np.uint32)
    sizes = np.bincount(cases.topics.case, minlength=len(cases.members))
    once = _walk(hashes, cases.topics.case, _tables(sizes, grown_table))
    return once[_walk(hashes[once], cases.topics.case, _tables(sizes, copied_table))]


Dealt = tuple[Ints, Ints | None]
"""Owners, and how many partitions wait for a second round, where any may."""
Deal = Callable[[Cases, StagedArrays], Dealt]

DEALS: Mapping[str, Deal] = {
    "range": lambda cases, _: (_range(cases, cases.ring), None),
    "roundrobin": lambda cases, _: (_round(cases, cases.ring), None),
    "cooperative-sticky": lambda cases, _: _sticky(cases),
    "sticky": lambda cases, _: (_sticky(cases)[0], None),
    "uniform": lambda cases, arrays: (_uniform(cases, arrays), None),
    "server-range": lambda cases, _: (_range(cases, cases.ring), None),
    "zk-range": lambda cases, _: (_range(cases, _by_id(cases)), None),
    "ceil": lambda cases, _: (_rounded_up(cases), None),
    **{
        name: lambda cases, arrays, release=release: (_hashed_round(cases, arrays, release), None)
        for name, release in ZOOKEEPER_RELEASES.items()
    },
}
"""Strategies that can be worked out like this, by name."""

_SAME: Mapping[str, str] = {"sticky": "cooperative-sticky", "server-range": "range"}
"""Strategies with the same targets."""


@dataclass(frozen=True, eq=False)
class AlikeShares:
    """What comes of one strategy: figures of each case, and what each member gets, lag UNKNOWN where none is known."""

    figures: Table  # [N, FIGURES]
    partitions: Ints  # [M]
    lag: Ints  # [M]


def all_dealt(cases: Cases, arrays: StagedArrays, strategies: Sequence[str]) -> list[AlikeShares]:
    """What each strategy comes to."""
    found: dict[str, AlikeShares] = {}
    for name in sorted(strategies, key=_SAME.__contains__):
        same = found.get(_SAME.get(name, ""))
        found[name] = _of(cases, *DEALS[name](cases, arrays)) if same is None else _without_waits(same)
    return [found[name] for name in strategies]


def _without_waits(same: AlikeShares) -> AlikeShares:
    figures = same.figures.copy()
    figures[:, 8] = 0
    return AlikeShares(figures, same.partitions, same.lag)


def _of(cases: Cases, target: Ints, waits: Ints | None) -> AlikeShares:
    shared = _shared(cases, target)
    figures, before = shared.figures, cases.before
    figures[:, 6] = cases.per_case(np.flatnonzero((before != NOBODY) & (before != target)))
    fewer = np.maximum(cases.had - _sorted(cases, shared.partitions), 0)
    figures[:, 7] = np.add.reduceat(fewer, cases.member_starts[:-1])
    figures[:, 8] = 0 if waits is None else waits
    return shared


def at_present_alike(cases: Cases) -> AlikeShares:
    """How things are before any rebalance."""
    return _shared(cases, cases.before)


def _shared(cases: Cases, owner: Ints) -> AlikeShares:
    """How even it is; nothing moves."""
    width, first = len(cases.ring) + 1, cases.member_starts[:-1]
    counts = np.bincount(owner + 1, minlength=width)[1:]
    known, knows = np.maximum(cases.lag, 0), cases.knows_lag
    lag = np.bincount(owner + 1, known, width)[1:].astype(np.int64)
    lag[~knows[cases.case_of_member]] = UNKNOWN
    figures = np.zeros((len(cases.members), FIGURES), dtype=np.int64)
    figures[:, 0] = cases.members
    figures[:, 1] = np.add.reduceat(counts == 0, first, dtype=np.int64)
    figures[:, 2], figures[:, 3] = np.minimum.reduceat(counts, first), np.maximum.reduceat(counts, first)
    figures[:, 4], figures[:, 5] = np.minimum.reduceat(lag, first), np.maximum.reduceat(lag, first)
    figures[:, 9] = cases.partitions - np.add.reduceat(counts, first)
    return AlikeShares(figures, counts, lag)
