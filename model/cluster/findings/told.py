"""Findings from what only brokers tell: failed log folders, the quorum, and what ZooKeeper does not bear out."""

from collections.abc import Iterator

from model.cluster.findings.cases import ClusterCase
from model.cluster.findings.check import cluster_check
from model.cluster.findings.finding import Finding, Kind, finding
from model.cluster.quorum import NOBODY, Quorum
from model.cluster.words import MOST, brokers, counted, listed

NO_QUORUM = Kind("quorum", "error")
VIEWS_DIFFER = Kind("views-differ", "warn")
VOTER_LAGS = Kind("voter-lags", "warn")
LOG_DIR_FAILED = Kind("log-dir-failed", "warn")
REPLICA_OFFLINE = Kind("replica-offline", "warn")


@cluster_check(VIEWS_DIFFER)
def differences(case: ClusterCase) -> Iterator[Finding]:
    """What a broker tells otherwise than ZooKeeper."""
    every = sorted(case.image.differences.items())
    why = "Clients ask brokers: they are sent where this broker says, not where ZooKeeper has it."
    action = "See whether that broker hears of its controller; if this lasts, restart it."
    for subject, said in every[:MOST]:
        yield finding(VIEWS_DIFFER, subject, said, why, action)
    if len(every) > MOST:
        more = counted(len(every) - MOST, "more difference")
        yield finding(VIEWS_DIFFER, "brokers", f"{more} between what they tell and ZooKeeper", why, action)


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
    if quorum.leader != NOBODY:
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


@cluster_check(LOG_DIR_FAILED)
def failed_log_dirs(case: ClusterCase) -> Iterator[Finding]:
    """A log folder that its broker cannot use."""
    for broker, folders in sorted(case.image.log_dirs.items()):
        for folder in folders:
            if folder.error:
                yield finding(
                    LOG_DIR_FAILED,
                    f"broker {broker}",
                    f"its log folder {folder.path} is not usable: {folder.error}",
                    "The replicas in it are offline, though the broker lives.",
                    "See the disk and the broker's log; the broker takes the folder up again only when it starts.",
                )


@cluster_check(REPLICA_OFFLINE)
def offline_replicas(case: ClusterCase) -> Iterator[Finding]:
    """A replica that cannot be used on a broker that lives."""
    by_broker: dict[int, list[str]] = {}
    for name, ids in sorted(case.image.offline_replicas.items()):
        for broker in ids:
            by_broker.setdefault(broker, []).append(str(name))
    for broker, names in sorted(by_broker.items()):
        yield finding(
            REPLICA_OFFLINE,
            f"broker {broker}",
            f"it lives, and {counted(len(names), 'replica')} on it cannot be used: {listed(names)}",
            "They have one copy fewer than it seems: their log folder failed, or was not there at its start.",
            "See the broker's log for the folder, and its disk.",
        )
