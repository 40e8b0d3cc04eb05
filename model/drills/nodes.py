"""Who is meant by words: the active controller, a majority of the voters, a rack's machines, a log folder of a broker.

Voters that are added or removed before a drill begins are here, too. Sources: KIP-853 (voters come and go one by one),
KIP-858 (brokers with several log folders on KRaft).
"""

from collections.abc import Iterable, Sequence

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.image_parts import NO_QUORUM_LEADER, Quorum, QuorumReplica
from model.cluster.texts import brokers, listed
from model.drills.scenario import Act, Deed, Folder, Scenario, ScenarioError
from model.drills.voters import is_kraft
from model.kraft_controller.partition_change import levels_of

ACTIVE, MAJORITY = "active", "majority"
"""Words for controllers."""


def controllers_named(image: ClusterImage, word: str) -> tuple[int, ...]:
    """The voters that `active`, `majority` or ids mean. Raises ScenarioError."""
    quorum = image.quorum
    if not is_kraft(image):
        if word == ACTIVE and image.controller.broker is not None:
            return (image.controller.broker,)
        raise ScenarioError("no voters here: with ZooKeeper the controller is a broker, and `active` names it")
    if quorum is None or not quorum.voters:
        raise ScenarioError("the voters are not known: name the controllers as SOURCE, controllers://…")
    voters = [each.id for each in quorum.voters]
    if word == ACTIVE:
        if quorum.leader == NO_QUORUM_LEADER:
            raise ScenarioError("no controller is active")
        return (quorum.leader,)
    if word == MAJORITY:
        return _majority(quorum, image)
    named = {str(each): each for each in voters}
    words = [each.strip() for each in word.split(",")]
    if strangers := [each for each in words if each not in named]:
        raise ScenarioError(
            f"{listed(strangers, 20)}: no voter; voters: {listed(voters, 20)}, {ACTIVE} and {MAJORITY} of them"
        )
    return tuple(named[each] for each in words)


def _majority(quorum: Quorum, image: ClusterImage) -> tuple[int, ...]:
    """So many as leave too few: the active one first, then those that are nothing but controllers."""
    left = sorted(quorum.present, key=lambda each: (each != quorum.leader, each in image.brokers, each))
    return tuple(sorted(left[: max(1, len(left) - quorum.majority + 1)]))


def machines_of_rack(image: ClusterImage, members: Sequence[int]) -> tuple[int, ...]:
    """Voters beside these brokers: on a machine that has no other brokers, as their listeners say."""
    strangers = (broker for broker in image.brokers.values() if broker.id not in members)
    others = {host for broker in strangers for host in _hosts(broker.endpoints)}
    hosts = {host for each in members for host in _hosts(image.brokers[each].endpoints)} - others
    voters = image.quorum.voters if image.quorum is not None else ()
    return tuple(each.id for each in voters if each.id not in members and hosts.intersection(_hosts(each.endpoints)))


def _hosts(endpoints: Iterable[str]) -> set[str]:
    return {each.rpartition("://")[2].rpartition(":")[0] for each in endpoints}


def folders_lost(image: ClusterImage, folders: Iterable[Folder]) -> tuple[Act, ...]:
    """Log folders that fail together; a broker whose last one fails ends. Raises ScenarioError."""
    wanted = tuple(dict.fromkeys(folders))
    if not is_kraft(image):
        raise ScenarioError("log folders fail in drills of KRaft clusters only; in the sandbox they fail for real")
    if not levels_of(image).keeps_directories:
        raise ScenarioError("before metadata.version 3.7-IV2 (17) a broker ends with any of its log folders: kill it")
    for broker, path in wanted:
        known = [each.path for each in image.log_dirs.get(broker, ()) if not each.error]
        if not known:
            raise ScenarioError(f"b{broker}: its log folders are not known; name the brokers, or a snapshot with them")
        if path not in known:
            raise ScenarioError(f"b{broker} has no log folder {path!r} that works: {listed(known, 20)}")
    dying = tuple(sorted({broker for broker, _ in wanted if _loses_all(image, broker, wanted)}))
    left = tuple(each for each in wanted if each[0] not in dying)
    acts = Act(Deed.KILL, dying), Act(Deed.LOSE, tuple(sorted({broker for broker, _ in left})), folders=left)
    return tuple(act for act in acts if act.brokers)


def _loses_all(image: ClusterImage, broker: int, folders: Sequence[Folder]) -> bool:
    return all(each.error or (broker, each.path) in folders for each in image.log_dirs[broker])


def with_voters_changed(image: ClusterImage, scenario: Scenario) -> ClusterImage:
    """The cluster once voters were added and removed; those that are new have caught up. Raises ScenarioError."""
    added, removed = scenario.add_voters, scenario.remove_voters
    if not (added or removed):
        return image
    quorum = image.quorum
    if quorum is None or not quorum.voters or not is_kraft(image):
        raise ScenarioError("the voters are not known: nobody can be added or removed")
    there = {each.id for each in quorum.voters}
    if strangers := [each for each in removed if each not in there]:
        raise ScenarioError(f"{listed(strangers, 20)}: no voter; voters: {listed(sorted(there), 20)}")
    if known := [each for each in added if each in there]:
        raise ScenarioError(f"{listed(known, 20)}: a voter already")
    newest_ms = max(each.caught_up_ms for each in quorum.voters)
    new = (QuorumReplica(each, quorum.high_watermark, 0, newest_ms) for each in added)
    voters = tuple(sorted([*(each for each in quorum.voters if each.id not in removed), *new]))
    if not voters:
        raise ScenarioError("nobody would be left to vote")
    observers = tuple(each for each in quorum.observers if each.id not in added)
    changed = msgspec.structs.replace(quorum, voters=voters, observers=observers)
    return msgspec.structs.replace(image, quorum=changed)


def nodes_text(image: ClusterImage, ids: Iterable[int]) -> str:
    """`brokers 1, 2 and controller 100`: voters that are no brokers are called controllers."""
    some = sorted(ids)
    voters = {each.id for each in image.quorum.voters} if image.quorum is not None else set[int]()
    alone = [each for each in some if each in voters and each not in image.brokers and each not in image.fenced]
    others = [each for each in some if each not in alone]
    words = [brokers(others)] if others else []
    if alone:
        words.append(f"{'controller' if len(alone) == 1 else 'controllers'} {listed(alone, 20)}")
    return " and ".join(words)
