"""Findings about the cluster as a whole: controller, quorum, brokers, balance, elections, unreadable znodes.

Only brokers tell of failed log folders, and of what ZooKeeper does not bear out. A KRaft cluster's findings are about
its voters, and about what keeps its metadata.version where it is.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.check import ClusterCase, Finding, FindingKind, cluster_check, finding
from model.cluster.ids import METADATA_VERSION, metadata_version
from model.cluster.image_parts import NO_QUORUM_LEADER, Quorum
from model.cluster.records import UNTOLD
from model.cluster.texts import MOST, brokers, counted, listed

SKEW_RATIO = 1.25
SKEW_LEAST = 5
"""A broker is skewed when it has this ratio of the mean, and at least this many more."""


NO_BROKERS = FindingKind("no-brokers", "error", "NO BROKERS")
NO_CONTROLLER = FindingKind("no-controller", "error", "CONTROLLER")
CONTROLLER_NOT_LIVE = FindingKind("controller-not-live", "error", "CONTROLLER")
NO_CONTROLLER_EPOCH = FindingKind("no-controller-epoch", "warn", "NO EPOCH")
DEAD_BROKER = FindingKind("dead-broker", "warn", "DOWN")
UNREADABLE = FindingKind("unreadable", "warn", "UNREADABLE")
WITHOUT_ID = FindingKind("topic-without-id", "warn", "NO TOPIC ID")
NON_PREFERRED_LEADER = FindingKind("non-preferred-leader", "info", "off-pref")
LEADER_SKEW = FindingKind("leader-skew", "info", "lead skew")
REPLICA_SKEW = FindingKind("replica-skew", "info", "repl skew")
PREFERRED_ELECTION_PENDING = FindingKind("preferred-election-pending", "info", "election")
NOT_TOLD = FindingKind("untold", "info", "not told")


@cluster_check(NO_BROKERS)
def no_brokers(case: ClusterCase) -> Iterator[Finding]:
    """Nobody is registered."""
    if case.around.brokers_known and not case.around.live:
        is_kraft = case.image.generation == "kraft"
        lost, why = ("is fenced", "heartbeats") if is_kraft else ("has lost its ZooKeeper session", "ZooKeeper session")
        yield finding(
            NO_BROKERS,
            "brokers",
            "no broker serves" if is_kraft else "no broker is registered",
            f"Nothing can be read or written. Every broker is down, or {lost}.",
            f"Start the brokers; see their logs for {why} errors.",
        )


@cluster_check(NO_CONTROLLER, CONTROLLER_NOT_LIVE)
def controller(case: ClusterCase) -> Iterator[Finding]:
    """Nobody has `/controller`, or whoever has it is not registered. KRaft has other rules."""
    controller = case.image.controller
    if case.image.generation == "kraft" or "/controller" in case.image.unreadable:
        return
    if controller.broker is None:
        yield finding(
            NO_CONTROLLER,
            "controller",
            "no broker is the controller",
            "Nobody elects leaders, creates topics or deletes them until a broker wins the election.",
            "If it lasts longer than a ZooKeeper session, see whether any broker can reach ZooKeeper.",
            since_ms=controller.since_ms,
        )
    elif case.around.dead(controller.broker):
        yield finding(
            CONTROLLER_NOT_LIVE,
            "controller",
            f"broker {controller.broker} is the controller and is not registered",
            "Its session may be about to end, or it runs without its registration: decisions may hang.",
            "If it lasts, restart that broker; another one then wins the election.",
            since_ms=controller.since_ms,
        )


@cluster_check(NO_CONTROLLER_EPOCH)
def controller_epoch(case: ClusterCase) -> Iterator[Finding]:
    """`/controller_epoch` is not there."""
    unreadable = "/controller_epoch" in case.image.unreadable or case.image.generation == "kraft"
    if case.image.controller.epoch is None and not unreadable:
        yield finding(
            NO_CONTROLLER_EPOCH,
            "controller",
            "there is no controller epoch",
            "No controller was ever elected here, or /controller_epoch was removed: brokers cannot tell an old "
            "controller from a new one.",
            "On a new cluster, start the brokers. Otherwise find out who removed the znode before restarting anything.",
        )


@cluster_check(DEAD_BROKER)
def dead_brokers(case: ClusterCase) -> Iterator[Finding]:
    """A broker that is not registered, or fenced, and has replicas."""
    tally = case.tally
    for broker in sorted(broker for broker in tally.replicas if case.around.dead(broker)):
        yield finding(
            DEAD_BROKER,
            f"broker {broker}",
            f"{_standing(case.image, broker)}, yet it has {counted(tally.replicas[broker], 'replica')}: "
            f"{tally.missing[broker]:,} out of sync, {tally.leaders[broker]:,} still named leader",
            "Its partitions have one copy fewer, and deletions and reassignments that need it wait.",
            "Start it again. If it will not come back, move its replicas to other brokers.",
        )


def _standing(image: ClusterImage, broker: int) -> str:
    if broker in image.fenced:
        return "registered and fenced"
    is_untold = image.generation == "kraft" and all(one.fenced is None for one in image.brokers.values())
    return "fenced or not registered" if is_untold else "not registered"


@cluster_check(NON_PREFERRED_LEADER)
def off_preferred(case: ClusterCase) -> Iterator[Finding]:
    """A broker that could lead partitions that prefer it, and does not."""
    for broker, count in sorted(case.tally.off_preferred.items()):
        yield finding(
            NON_PREFERRED_LEADER,
            f"broker {broker}",
            f"{count:,} of {counted(case.tally.preferred[broker], 'partition')} that prefer it are led by another, "
            "though it is live and in sync",
            "Leaders are where a failure left them, so load is not where it was planned.",
            "Run a preferred replica election; with auto.leader.rebalance.enable Kafka does it by itself above 10%.",
        )


@cluster_check(LEADER_SKEW)
def leader_skew(case: ClusterCase) -> Iterator[Finding]:
    """A broker that leads far more than the mean, or nothing."""
    return _skew(case, LEADER_SKEW, case.tally.leaders, _LED)


@cluster_check(REPLICA_SKEW)
def replica_skew(case: ClusterCase) -> Iterator[Finding]:
    """A broker that holds far more replicas than the mean, or none."""
    return _skew(case, REPLICA_SKEW, case.tally.replicas, _HELD)


def _skew(case: ClusterCase, kind: FindingKind, counts: Counter[int], what: tuple[str, str]) -> Iterator[Finding]:
    live = sorted(case.around.live)
    mean = sum(counts[broker] for broker in live) / max(1, len(live))
    for broker in live:
        count = counts[broker]
        over = count >= mean * SKEW_RATIO and count >= mean + SKEW_LEAST
        bare = count == 0 and mean >= SKEW_LEAST
        if over or bare:
            yield finding(
                kind,
                f"broker {broker}",
                f"{counted(count, *what)}, the mean is {mean:,.0f}",
                "It carries more than its share." if over else "It carries nothing while the others work.",
                "Plan a rebalance, unless this is meant. A preferred election helps where leaders moved in a failure.",
            )


_LED = ("partition led by it", "partitions led by it")
_HELD = ("replica on it", "replicas on it")


@cluster_check(PREFERRED_ELECTION_PENDING)
def preferred_election(case: ClusterCase) -> Iterator[Finding]:
    """A preferred replica election that was asked for and is not done."""
    asked = case.image.admin.preferred_election
    if asked:
        yield finding(
            PREFERRED_ELECTION_PENDING,
            "/admin/preferred_replica_election",
            f"a preferred replica election waits for {counted(len(asked), 'partition')}: {listed(sorted(asked))}",
            "The controller removes the znode when it is done; until then no other election can be asked for.",
            "If it lasts, see whether there is a controller and whether it is at work.",
        )


def unreadable_findings(image: ClusterImage) -> Iterator[Finding]:
    """One for each znode that could not be used, and one for the rest of many below the same place."""
    places: dict[str, list[str]] = {}
    for path in sorted(image.unreadable):
        if image.unreadable[path] != UNTOLD:
            places.setdefault("/".join(path.split("/")[:3]), []).append(path)
    why = "What it says is missing here; everything else is shown as it is."
    action = "Look at it in the znode tree; check the session's permissions and, where it is too large, who wrote it."
    for place, paths in places.items():
        for path in paths[:MOST]:
            yield finding(UNREADABLE, path, f"cannot be used: {image.unreadable[path]}", why, action)
        if len(paths) > MOST:
            yield finding(UNREADABLE, place, f"{len(paths) - MOST:,} more znodes below cannot be used", why, action)


@cluster_check(UNREADABLE)
def unreadable(case: ClusterCase) -> Iterator[Finding]:
    """A znode that could not be used."""
    return unreadable_findings(case.image)


@cluster_check(NOT_TOLD)
def untold(case: ClusterCase) -> Iterator[Finding]:
    """What this source never tells."""
    paths = [path for path, reason in case.image.unreadable.items() if reason == UNTOLD]
    # Brokers of a cluster with ZooKeeper tell all but this.
    brokers = "" if paths == ["/controller_epoch"] else " or its brokers (kafka://…)"
    if paths:
        yield finding(
            NOT_TOLD,
            "source",
            f"it does not tell {listed(_SAID_OF.get(path, path) for path in sorted(paths))}",
            "Nothing is said of these here, which does not mean that all is well with them.",
            f"Open the cluster's ZooKeeper (zk://…){brokers} to know."
            if case.image.generation != "kraft"
            else "Log in as somebody who has the right DESCRIBE on the cluster."
            if case.image.metadata is None
            else "Open the cluster's brokers (kafka://…) to know."
            if paths == ["/consumers"]
            else "Open the folder of the whole metadata log to know, or the cluster's brokers (kafka://…).",
        )


_SAID_OF = {
    "/brokers/ids/*": "which brokers live and their racks (those that are in sync nowhere are taken for dead)",
    "/brokers/topics/*/partitions/*/state": "leader epochs (0 here)",
    "/consumers": "consumer groups",
    "/controller": "who controls",
    "/controller_epoch": "the controller epoch",
}
"""What an operator calls what lies below a path."""


VIEWS_DIFFER = FindingKind("views-differ", "warn", "MISMATCH")
LOG_DIR_FAILED = FindingKind("log-dir-failed", "warn", "LOG DIR")
REPLICA_OFFLINE = FindingKind("replica-offline", "warn", "REPLICAS")


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


@cluster_check(WITHOUT_ID)
def without_id(case: ClusterCase) -> Iterator[Finding]:
    """A topic without an id in a ZooKeeper where others have one (KAFKA-14190)."""
    image = case.image
    if image.generation == "kraft" or image.provenance.zxid < 0 or len(case.nameless) == len(image.topics):
        return
    for name in sorted(case.nameless - image.admin.delete_topics):
        yield finding(
            WITHOUT_ID,
            name,
            "it has no topic id, and other topics have one: a tool of a release before 2.8 wrote its znode",
            "The next controller gives it another id, and brokers then refuse its partitions: they keep the old one.",
            "Write topic_id back into its znode before the controller changes; partition.metadata in each of its log "
            "folders has it. Then use tools that ask brokers (--bootstrap-server).",
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


NO_QUORUM = FindingKind("quorum", "error", "QUORUM")
VOTER_LAGS = FindingKind("voter-lags", "warn", "VOTER LAGS")
UPGRADE_HELD_BACK = FindingKind("upgrade-held-back", "info", "held back")
UPGRADE_UNFINISHED = FindingKind("upgrade-unfinished", "info", "upgrade")


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
