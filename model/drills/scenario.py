"""What is to happen in a drill, who is meant by its words, and which drills make no sense. It plays nothing.

Words may mean the active controller, a majority of the voters, a rack's machines, a log folder of a broker. Voters that
are added or removed before a drill begins are here, too. Sources: KIP-853 (voters come and go one by one), KIP-858
(brokers with several log folders on KRaft).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum

import msgspec
import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.health import surroundings
from model.cluster.image_parts import NO_QUORUM_LEADER, Quorum, QuorumReplica
from model.cluster.texts import brokers, listed
from model.cluster.topic_image import NOBODY
from model.drills.voters import is_kraft, turnout_after, turnout_text
from model.kraft_controller.partition_change import levels_of


class ScenarioError(ValueError):
    """A drill that cannot be played; the message is one line that says why, and what could."""


class Deed(StrEnum):
    """What is done to brokers."""

    KILL = "kill"
    """They die at the same moment, as by kill -9 or with their rack's power."""
    STOP = "stop"
    """They are told to stop at the same moment, by SIGTERM: a controlled shutdown."""
    START = "start"
    """They start at the same moment, having been dead."""
    LOSE = "lose"
    """Log folders of theirs fail at the same moment, as by a disk that breaks; others still work."""


Folder = tuple[int, str]
"""A broker, and the path of one of its log folders."""


class Act(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that is done to brokers, in ascending order."""

    deed: Deed
    brokers: tuple[int, ...]
    after_ms: float | None = None
    """So long after what was done before it; None: once nothing happens any more."""
    folders: tuple[Folder, ...] = ()
    """Those that fail."""


_FELLING = (Deed.KILL, Deed.STOP)


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """Brokers that die, and what is done after that."""

    kill: tuple[int, ...] = ()
    """In ascending order; they die together."""
    rack: str | None = None
    """The rack that they are, where they were named so."""
    unclean: bool = False
    """Every topic may elect a leader that is not in sync, whatever is configured."""
    restart_after_ms: float | None = None
    """When they are started again, after their death; None: never. Each registers once its old session is over."""
    then: tuple[Act, ...] = ()
    """What is done after their death, one after the other, each when it is said to be."""
    add_voters: tuple[int, ...] = ()
    """Who votes in a KRaft cluster besides, from before all of it on; and who does not any more."""
    remove_voters: tuple[int, ...] = ()

    @property
    def acts(self) -> tuple[Act, ...]:
        """All that is done, in order, but for what `restart_after_ms` says."""
        return (*((Act(Deed.KILL, self.kill),) if self.kill else ()), *self.then)

    @property
    def felled(self) -> frozenset[int]:
        """Who dies or stops in it, whatever becomes of them."""
        return frozenset(broker for act in self.acts if act.deed in _FELLING for broker in act.brokers)

    @property
    def started(self) -> frozenset[int]:
        """Who starts in it, and does not die or stop after that."""
        return self._left_by(started=True)

    @property
    def down(self) -> frozenset[int]:
        """Who dies or stops in it, and does not start after that; `restart_after_ms` left out."""
        return self._left_by(started=False)

    def _left_by(self, *, started: bool) -> frozenset[int]:
        acts = (act for act in self.acts if act.deed is not Deed.LOSE)
        last = {broker: act.deed is Deed.START for act in acts for broker in act.brokers}
        return frozenset(broker for broker, starts in last.items() if starts is started)

    @property
    def starts_brokers(self) -> bool:
        return self.restart_after_ms is not None or any(act.deed is Deed.START for act in self.then)


def check(image: ClusterImage, scenario: Scenario, known_dead: Collection[int] | None = None) -> None:
    """Raises ScenarioError. known_dead: the `dead_brokers`, where they were asked for before."""
    alive, dead = set(image.brokers), set(dead_brokers(image) if known_dead is None else known_dead)
    turnout = turnout_after(image, ())
    voters = frozenset(turnout.voters if turnout else ())
    if not (scenario.acts or scenario.add_voters or scenario.remove_voters):
        raise ScenarioError("nobody to kill: name a broker or a rack")
    if not alive and scenario.kill:
        raise ScenarioError("no broker is alive: there is nothing to kill")
    if scenario.then and scenario.restart_after_ms is not None:
        raise ScenarioError(
            "they are started again after a time, or something else is done after their death: not both"
        )
    for number, act in enumerate(scenario.acts):
        there, gone = (dead, alive) if act.deed is Deed.START else (alive, dead)
        spared = voters if act.deed is Deed.KILL else frozenset[int]()  # a controller that is no broker may die, too
        _check_there(act, there | spared, gone, "here" if number == 0 else "then")
        if act.deed is Deed.LOSE:
            continue
        there.difference_update(act.brokers)
        gone.update(act.brokers)
        if not alive and not scenario.starts_brokers:
            who = f"that is every live broker ({listed(act.brokers, 20)})"
            raise ScenarioError(f"{who if number == 0 else 'nobody is alive then'}: nobody is left to take over")
    _check_voters(image, scenario)


def _check_voters(image: ClusterImage, scenario: Scenario) -> None:
    """Of a KRaft cluster without a majority only that state is forecast, not what comes after it."""
    for number in range(len(scenario.acts)):
        so_far = of_acts(scenario.acts[: number + 1])
        turnout = turnout_after(image, so_far.down, so_far.started)
        if turnout is None or not turnout.is_lost:
            continue
        if scenario.restart_after_ms is not None:
            what = "What happens when they are back is not forecast: play it without the restart"
        elif scenario.then:
            what = "What else happens then is not forecast: play the deaths alone"
        else:
            continue
        raise ScenarioError(f"{turnout_text(turnout)}. {what}")


def dead_brokers(image: ClusterImage) -> tuple[int, ...]:
    """Brokers that hold replicas and are not alive, as far as it is known who is, in ascending order."""
    around = surroundings(image)
    columns = [topic.replicas.ravel() for topic in image.topics.values()]
    assigned: list[int] = np.unique(np.concatenate([np.empty(0, np.int32), *columns])).tolist()
    return tuple(broker for broker in assigned if broker != NOBODY and around.dead(broker))


def of_brokers(ids: Iterable[int]) -> Scenario:
    """The death of these brokers."""
    return Scenario(kill=tuple(sorted(set(ids))))


def of_acts(acts: Iterable[Act]) -> Scenario:
    """These, one after the other."""
    some = tuple(acts)
    kills_first = some[:1] and some[0].deed is Deed.KILL
    return Scenario(kill=some[0].brokers, then=some[1:]) if kills_first else Scenario(then=some)


SIGNS: Mapping[Deed, str] = {Deed.KILL: "K", Deed.STOP: "D", Deed.START: "U"}
"""As the keys of the drill's screen."""


def written(acts: Iterable[Act], controller: int | None = None) -> str:
    """`K1,2 U1+900000 @3`: what is done, after how many ms if not once all is quiet; and the controller at first."""
    words = [
        f"{SIGNS[act.deed]}{','.join(map(str, act.brokers))}{'' if act.after_ms is None else f'+{act.after_ms!r}'}"
        for act in acts
    ]
    return " ".join(word.removesuffix(".0") for word in (*words, *([] if controller is None else [f"@{controller}"])))


def read_written(text: str) -> tuple[tuple[Act, ...], int | None]:
    """What `written` wrote. Raises ValueError for anything else."""
    deeds = {sign: deed for deed, sign in SIGNS.items()}
    acts: list[Act] = []
    controller: int | None = None
    for word in text.split():
        if word.startswith("@"):
            controller = int(word[1:])
            continue
        brokers, plus, after_ms = word[1:].partition("+")
        if word[0] not in deeds:
            raise ValueError(f"{word!r} does nothing: {', '.join(deeds)} do")
        acts.append(Act(deeds[word[0]], tuple(map(int, brokers.split(","))), float(after_ms) if plus else None))
    return tuple(acts), controller


def ruled_by(image: ClusterImage, controller: int | None) -> ClusterImage:
    """The cluster with another broker as its controller; None: as it is."""
    if controller is None or controller == image.controller.broker:
        return image
    return msgspec.structs.replace(image, controller=msgspec.structs.replace(image.controller, broker=controller))


def of_rack(image: ClusterImage, rack: str) -> Scenario:
    """The death of all live brokers of a rack. Raises ScenarioError for a rack that nobody is in."""
    members = [broker.id for broker in image.brokers.values() if broker.rack == rack]
    if not members:
        racks = sorted({broker.rack for broker in image.brokers.values() if broker.rack})
        raise ScenarioError(f"no live broker is in rack {rack!r}; {_known(racks)}")
    return msgspec.structs.replace(of_brokers(members), rack=rack)


def _check_there(act: Act, there: Collection[int], others: Collection[int], when: str) -> None:
    """`there`: who it can be done to; `others`: who is known besides."""
    wrong = sorted(set(act.brokers) - set(there))
    if not wrong:
        return
    those = f"{'dead' if act.deed is Deed.START else 'alive'}: {listed(sorted(there), 20) or 'nobody'}"
    if act.deed is not Deed.START:
        raise ScenarioError(f"{brokers(wrong)}: not alive {when}; {those}")
    living = sorted(set(wrong).intersection(others))
    if living:
        raise ScenarioError(f"{brokers(living)}: alive already; {those}")
    raise ScenarioError(f"{brokers(wrong)}: unknown here, no replica is assigned to it; {those}")


def _known(racks: Collection[str]) -> str:
    return f"racks: {listed(racks, 20)}" if racks else "no broker names its rack"


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
