"""Findings from what only brokers tell: failed log folders, the quorum, and what ZooKeeper does not bear out."""

from collections.abc import Iterator

from model.cluster.findings.cases import ClusterCase
from model.cluster.findings.check import cluster_check
from model.cluster.findings.finding import Finding, Kind, finding
from model.cluster.words import MOST, counted, listed

LATE_VOTER_MS = 5_000
"""A voter of the quorum lags that was up to date so long before another one was: below, offsets differ all the time."""


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


@cluster_check(VOTER_LAGS)
def late_voters(case: ClusterCase) -> Iterator[Finding]:
    """A voter of the metadata quorum that lags."""
    for voter in case.image.quorum.late_voters(LATE_VOTER_MS) if case.image.quorum else ():
        yield finding(
            VOTER_LAGS,
            f"controller {voter.id}",
            f"a voter of the metadata quorum that lags by {counted(voter.lag_records, 'record')}",
            "It counts as lost where a majority must confirm metadata, and cannot take over in time.",
            "See whether that controller runs, and whether it reaches the leader.",
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
    for name, brokers in sorted(case.image.offline_replicas.items()):
        for broker in brokers:
            by_broker.setdefault(broker, []).append(str(name))
    for broker, names in sorted(by_broker.items()):
        yield finding(
            REPLICA_OFFLINE,
            f"broker {broker}",
            f"it lives, and {counted(len(names), 'replica')} on it cannot be used: {listed(names)}",
            "They have one copy fewer than it seems: their log folder failed, or was not there at its start.",
            "See the broker's log for the folder, and its disk.",
        )
