"""Findings about a KRaft cluster's controllers: its quorum, and what keeps its metadata.version where it is."""

from collections.abc import Iterator, Mapping

from model.cluster.findings.check import ClusterCase, Finding, Kind, cluster_check, finding
from model.cluster.ids import METADATA_VERSION, metadata_version
from model.cluster.image_parts import NO_QUORUM_LEADER, Quorum
from model.cluster.texts import brokers, counted, listed

NO_QUORUM = Kind("quorum", "error")
VOTER_LAGS = Kind("voter-lags", "warn")
UPGRADE_HELD_BACK = Kind("upgrade-held-back", "info")
UPGRADE_UNFINISHED = Kind("upgrade-unfinished", "info")


@cluster_check(NO_QUORUM)
def no_quorum(case: ClusterCase) -> Iterator[Finding]:
    """No controller is active, or no majority follows it."""
    quorum = case.image.quorum
    if quorum is None or quorum.is_led:
        return
    missing = [voter.id for voter in quorum.voters if voter.id not in quorum.present]
    unsure = f", and whether {brokers(quorum.unconfirmed)} lives" if quorum.unconfirmed else ""
    yield finding(
        NO_QUORUM,
        "quorum",
        f"{turnout(quorum)}: nothing can be elected",
        "No leader is elected, no dead broker is noticed, no topic is made and no ISR changes. What brokers tell is "
        f"what they heard last: who leads{unsure} may be wrong.",
        f"Start {_controllers(missing)} again; if they run, see whether they reach each other. Their listeners may "
        "be closed to this machine."
        if missing
        else "If it lasts longer than an election, see the logs of the controllers, and whether they reach each other.",
    )


def turnout(quorum: Quorum) -> str:
    """`1 of 3 voters answers`, of a quorum that nobody leads, or too few follow."""
    present = len(quorum.present)
    of = f"{present} of {counted(len(quorum.voters), 'voter')}"
    if quorum.leader != NO_QUORUM_LEADER:
        return f"{of} {'keeps' if present == 1 else 'keep'} up with the metadata log"
    if not quorum.voters:
        return "no broker reaches an active controller"
    answer = f"{of} {'answers' if present == 1 else 'answer'}"
    return answer if present < quorum.majority else f"{answer}, and none of them is the active controller"


def _controllers(ids: list[int]) -> str:
    return f"controller{'s' * (len(ids) > 1)} {listed(ids)}"


@cluster_check(VOTER_LAGS)
def late_voters(case: ClusterCase) -> Iterator[Finding]:
    """A voter of the metadata quorum that lags, or is silent."""
    quorum = case.image.quorum
    if quorum is None or not quorum.is_led:
        return
    spare = len(quorum.present) - quorum.majority
    more = f"{spare} more may" if spare > 0 else "no other may"
    for voter in quorum.late_voters():
        lag = f" lags by {counted(voter.lag_records, 'record')}" if voter.lag_records > 0 else " has fallen silent"
        yield finding(
            VOTER_LAGS,
            f"controller {voter.id}",
            f"a voter of the metadata quorum that{lag}: of {len(quorum.voters)}, {more} be lost",
            "It counts as lost where a majority must confirm metadata, and cannot take over in time.",
            "See whether that controller runs, and whether it reaches the leader.",
            since_ms=max(voter.caught_up_ms, 0),
        )


@cluster_check(UPGRADE_HELD_BACK, UPGRADE_UNFINISHED)
def metadata_versions(case: ClusterCase) -> Iterator[Finding]:
    """metadata.version could be higher, or could be but for some nodes, fenced ones among them.

    Every registered node has to support a level (`FeatureControlManager`, 4.0).
    """
    metadata = case.image.metadata
    highest: Mapping[int, int] = {} if metadata is None else _highest(metadata.supported)
    level = 0 if metadata is None else metadata.features.get(METADATA_VERSION, 0)
    if not level or not highest:
        return
    most, least = max(highest.values()), min(highest.values())
    if least > level:
        yield finding(
            UPGRADE_UNFINISHED,
            METADATA_VERSION,
            f"it is {metadata_version(level)}, and every node supports {metadata_version(least)}",
            "What later releases bring stays off until it is raised, and going back to older software is easy until "
            "then.",
            "Once nobody wants to go back: kafka-features upgrade.",
        )
    if most > least:
        late = sorted(node for node, supports in highest.items() if supports == least)
        fenced = [node for node in late if node in case.image.fenced]
        yield finding(
            UPGRADE_HELD_BACK,
            METADATA_VERSION,
            f"{_nodes(late)} {'supports' if len(late) == 1 else 'support'} no more than {metadata_version(least)}, "
            f"others {metadata_version(most)}" + (f"; {brokers(fenced)} fenced" if fenced else ""),
            "It cannot be raised beyond what every registered node supports, whether that node runs or not.",
            f"Upgrade {_nodes(late)}"
            + (", or unregister those that are gone for good: kafka-cluster unregister." if fenced else "."),
        )


def _highest(supported: Mapping[int, Mapping[str, tuple[int, int]]]) -> Mapping[int, int]:
    """Node → the highest metadata.version that it supports."""
    return {node: levels[METADATA_VERSION][1] for node, levels in supported.items() if METADATA_VERSION in levels}


def _nodes(ids: list[int]) -> str:
    return f"node{'s' * (len(ids) > 1)} {listed(ids)}"
