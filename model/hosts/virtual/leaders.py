"""Leaders look after their ISRs: when followers' fetches reach them, when they look who lags, how they ask.

What follows from it is decided in `model.broker.partition`, how proposals travel in `model.broker.isr_routes`
(`kafka.server.AlterPartitionManager`, 2.7 to 3.9; before, `kafka.cluster.Partition.updateIsr`). Time is saved where
nothing can come of it: fetches are played when something may have changed for followers, and what was refused is asked
for again when something has happened since. Notices of written ISRs are sent at once; Kafka gathers them for some
seconds.

A follower catches up in `TimingAssumptions.catch_up_ms`. Where followers may lag, a record is appended each ms.
"""

from collections.abc import Iterable

from model.broker.commands import PartitionDecision, ProposeIsr
from model.broker.isr import (
    REACTIONS,
    IsrChangeNotices,
    check_isr,
    hear_isr_answer,
    isr_found,
    isr_write,
    isr_written,
    record_fetch,
)
from model.broker.metadata import UNKNOWN_BROKER
from model.broker.partition import EMPTY_LOG, LogPositions, Partition, ReplicationSettings, replication_rules_of
from model.broker.serving import Isolation, PartitionFetch, judge_read
from model.controller.events_and_commands import AlterPartitionReceived, AnswerRequest, PartitionOutcome, ProposedIsr
from model.controller.generations import Generation
from model.hosts.virtual.channels import ask_at_once, ask_controller, can_reach, lose_connection
from model.hosts.virtual.scheduled_events import (
    ZOOKEEPER,
    FollowerLags,
    LeaderLooks,
    LeaderWrites,
    TimingAssumptions,
    microseconds,
)
from model.hosts.virtual.virtual_broker import UNREGISTERED, VirtualBroker, keep
from model.hosts.virtual.world import UNCONNECTED, Process, World
from model.znodes.paths import ISR_CHANGES
from model.zookeeper import Code, Create, GetData

_ANY_NUMBER = 2**62


def replication_settings(assumptions: TimingAssumptions, generation: Generation) -> ReplicationSettings:
    """How brokers of this generation replicate. So many messages that a follower lags by their number are not sent."""
    rules = replication_rules_of(generation.since)
    lag_ms = rules.lag_time_max_ms if assumptions.replica_lag_ms is None else round(assumptions.replica_lag_ms)
    return ReplicationSettings(rules=rules, replica_lag_time_max_ms=lag_ms, replica_lag_max_messages=_ANY_NUMBER)


def log_of(world: World, at_us: int) -> LogPositions:
    """Every log as it was at a time of the schedule."""
    return EMPTY_LOG if world.assumptions.replica_lag_ms is None else LogPositions(end=at_us // 1_000)


def look_soon(world: World) -> None:
    """Something changed that followers, or refused proposals, may have waited for."""
    if world.assumptions.catch_up_ms is None:
        return
    for process in tuple(world.processes.values()):
        broker = process.broker
        if not (broker.joinable or process.lagging or broker.proposed or broker.queue.waiting):
            continue
        if process.proposing:
            world.put(process.replace(has_news=True))
        else:
            _look_in(world, process, world.assumptions.catch_up_ms)


def look(world: World, process: Process, _due: LeaderLooks) -> None:
    """Let followers fetch and see who lags; then ask for what the ISRs should be, if that is not what they are."""
    process = world.put(process.replace(looking=None))
    broker = process.broker
    if process.proposing or broker.epoch == UNREGISTERED:
        return
    if process.lagging:
        broker = _without_lagging(world, process)
        _look_when_others_lag(world, process, broker)
    broker = _with_joining(world, process, broker)
    process = world.put(world.processes[process.id].replace(broker=broker))
    if broker.settings.rules.isr_route == "state znode":
        _set_out(world, process)
    else:
        _propose(world, process)


def _look_in(world: World, process: Process, ms: float) -> None:
    at_us = world.schedule.now_us + microseconds(ms)
    if process.looking is None or process.looking > at_us:
        world.put(process.replace(looking=at_us))
        world.after(ms, LeaderLooks(process.id, process.number))


# Fetches


def fetches(world: World, follower: Process, leader: int) -> bool:
    """Whether a follower's fetches reach a leader."""
    return not follower.paused and not world.is_cut(follower.id, leader)


def note_fetching(world: World) -> None:
    """Processes or links are not as they were: begin or cease to wait for followers to lag."""
    lag_ms = world.assumptions.replica_lag_ms
    if lag_ms is None:
        return
    ids = frozenset(world.processes)
    for process in tuple(world.processes.values()):
        silent = dict(process.silent)
        for follower in (ids | silent.keys() | set(process.broker.live_brokers)) - {process.id}:
            found = world.processes.get(follower)
            if found is not None and fetches(world, found, process.id):
                silent.pop(follower, None)
            elif follower not in silent:
                silent[follower] = world.schedule.now_us
                lags = FollowerLags(process.id, process.number, follower, world.schedule.now_us)
                world.after(lag_ms + 1, lags)
        world.put(process.replace(silent=silent, lagging=process.lagging & silent.keys()))


def note_lag(world: World, process: Process, due: FollowerLags) -> None:
    """A follower has not fetched for too long, unless it did since."""
    if process.silent.get(due.follower) == due.silent_since_us:
        world.put(process.replace(lagging=process.lagging | {due.follower}))
        look_soon(world)


def _with_joining(world: World, process: Process, broker: VirtualBroker) -> VirtualBroker:
    """The leader, once those have fetched that are not in its ISRs: in the order of the assignment, until one joins."""
    log, conditions = log_of(world, world.schedule.now_us), broker.conditions(world.time_ms)
    decisions: list[PartitionDecision] = []
    for name in sorted(broker.joinable):
        partition = broker.leads(name)
        if partition is None:
            continue
        for follower in partition.assignment.replicas:
            if follower in partition.state.isr or not _reads(world, process, partition, follower, log):
                continue
            decision = record_fetch(partition, follower, log.end, log, conditions)
            partition = decision.partition
            if decision.commands:
                decisions.append(decision)
                break
    return _keep_all(broker, decisions)


def _reads(world: World, leader: Process, partition: Partition, follower: int, log: LogPositions) -> bool:
    """Whether a follower fetches from the end of the log, and the leader lets it."""
    found = world.processes.get(follower)
    if found is None or found.adopted or not fetches(world, found, leader.id):
        return False
    state = found.broker.fetched.get(partition.partition)
    if state is None or state.leader != leader.id:
        return False
    epoch = state.leader_epoch if leader.broker.settings.rules.leader_epochs_are_checked else None
    read = PartitionFetch(offset=log.end, isolation=Isolation.LOG_END, follower=follower, leader_epoch=epoch)
    return judge_read(partition, read, log, 0).is_progress


def _without_lagging(world: World, process: Process) -> VirtualBroker:
    """The leader, once it has looked at ISRs with silent followers in them. All others have fetched until now."""
    broker, silent = process.broker, process.silent.keys()
    log, conditions = log_of(world, world.schedule.now_us), broker.conditions(world.time_ms)
    led = (partition for _, partition in broker.held.items() if partition.leads)
    fetched = [_fetched(world, process, each) for each in led if not silent.isdisjoint(each.state.isr)]
    return _keep_all(broker, (check_isr(partition, log, conditions) for partition in fetched))


def _fetched(world: World, process: Process, partition: Partition) -> Partition:
    """A led partition once those in its ISR have fetched: until now, or until they fell silent."""
    for follower in partition.state.isr:
        at_us = process.silent.get(follower, world.schedule.now_us)
        at_ms = world.assumptions.start_ms + at_us // 1_000
        if partition.leading is not None and partition.leading.since_ms <= at_ms:
            log, conditions = log_of(world, at_us), process.broker.conditions(at_ms)
            partition = record_fetch(partition, follower, log.end, log, conditions).partition
    return partition


def _look_when_others_lag(world: World, process: Process, broker: VirtualBroker) -> None:
    """A leader that began to lead while a follower was silent gives it the time that it gives anybody."""
    waits = [
        progress.caught_up_ms + broker.settings.replica_lag_time_max_ms + 1 - world.time_ms
        for _, partition in broker.held.items()
        if partition.leading is not None and partition.leading.pending is None
        for follower, progress in partition.leading.followers.items()
        if follower in process.silent and follower in partition.state.isr
    ]
    if waits:
        _look_in(world, world.processes[process.id], max(min(waits), 1))


def _keep_all(broker: VirtualBroker, decisions: Iterable[PartitionDecision]) -> VirtualBroker:
    decisions = tuple(decisions)
    commands = tuple(command for decision in decisions for command in decision.commands)
    return keep(broker, tuple(decision.partition for decision in decisions), commands) if decisions else broker


def _hear(world: World, broker: VirtualBroker, heard: Iterable[tuple[ProposedIsr, PartitionOutcome]]) -> VirtualBroker:
    """The leader, once it knows what became of its proposals."""
    log, conditions = log_of(world, world.schedule.now_us), broker.conditions(world.time_ms)
    decisions: list[PartitionDecision] = []
    for proposal, outcome in heard:
        partition = broker.held.get(proposal.partition)
        if partition is not None:
            decisions.append(hear_isr_answer(partition, proposal, outcome, log, conditions))
    return _keep_all(broker, decisions)


# By AlterPartition


def _propose(world: World, process: Process) -> None:
    """Ask the controller, if the broker knows of one and there is something to ask for."""
    broker = process.broker
    queue, refused = broker.queue.add_all(command.proposal for command in broker.proposed)
    broker = broker.replace(queue=queue, proposed=())
    if refused:
        outcomes = (PartitionOutcome(proposal.partition, "OPERATION_NOT_ATTEMPTED") for proposal in refused)
        broker = _hear(world, broker, zip(refused, outcomes, strict=True))
    if queue.waiting and broker.controller != UNKNOWN_BROKER:
        queue, number = queue.next_request(), world.next_number()
        process = world.put(process.replace(broker=broker.replace(queue=queue), proposing=number))
        request = AlterPartitionReceived(
            request=number, broker=broker.id, broker_epoch=broker.epoch, proposals=queue.in_flight
        )
        ask_controller(world, process, broker.controller, request)
    else:
        world.put(process.replace(broker=broker))


def hear_outcome(world: World, process: Process, request: AlterPartitionReceived, answer: AnswerRequest | None) -> None:
    """The controller answered, or will not."""
    if process.proposing != request.request:
        return
    before, had_news = process.broker, process.has_news
    heard = before.queue.hear(answer)
    after = _hear(world, before.replace(queue=heard.queue), heard.answered)
    process = world.put(process.replace(proposing=0, has_news=False, broker=after))
    is_lost = answer is None and can_reach(world, process.id, after.controller)
    was_heard = answer is not None and answer.error == "NONE"
    is_new = any(REACTIONS.get(outcome.error) != "roll back" for _, outcome in heard.answered)
    if is_lost or had_news or (was_heard and (is_new or heard.queue.waiting)):
        look_soon(world)


def forget_request(process: Process) -> Process:
    """There is another controller: the one that was asked is not going to answer."""
    broker = process.broker
    return process.replace(proposing=0, has_news=False, broker=broker.replace(queue=broker.queue.hear(None).queue))


# Into the state znode


def _set_out(world: World, process: Process) -> None:
    """The writes are on their way, if there are any and there is a connection."""
    wanted = process.broker.proposed
    if not wanted or process.connection == UNCONNECTED:
        return
    process = world.put(process.replace(broker=process.broker.replace(proposed=())))
    writes = LeaderWrites(process.id, process.number, wanted)
    if not world.carry(process.id, ZOOKEEPER, world.assumptions.zookeeper_write_ms / 2, writes):
        _put_off(world, process.id, wanted)
        lose_connection(world, process.id)


def write_isrs(world: World, process: Process, due: LeaderWrites) -> None:
    """The writes reach ZooKeeper."""
    outcomes = [(command.proposal, _write(world, process.id, command)) for command in due.wanted]
    heard = [(proposal, outcome) for proposal, outcome in outcomes if outcome is not None]
    _put_off(world, process.id, tuple(c for c, (_, outcome) in zip(due.wanted, outcomes, strict=True) if not outcome))
    process = world.processes[process.id]
    process = world.put(process.replace(broker=_hear(world, process.broker, heard)))
    written = frozenset(proposal.partition for proposal, outcome in heard if outcome.error == "NONE")
    if written and process.broker.settings.rules.notifies_isr_changes:
        notice = Create(f"{ISR_CHANGES}/isr_change_", IsrChangeNotices(written).payload, sequential=True)
        ask_at_once(world, process, notice)
    if written or process.broker.proposed:
        look_soon(world)


def _write(world: World, leader: int, command: ProposeIsr) -> PartitionOutcome | None:
    """What became of it; None: the connection is gone."""
    write = isr_write(command.proposal, leader, command.controller_epoch)
    answer = ask_at_once(world, world.processes[leader], write)
    if answer is not None and answer.code is Code.BAD_VERSION:
        found = ask_at_once(world, world.processes[leader], GetData(write.path))
        return None if found is None else isr_found(command.proposal, leader, write, found)
    return None if answer is None else isr_written(command.proposal, leader, answer)


def _put_off(world: World, leader: int, wanted: tuple[ProposeIsr, ...]) -> None:
    """Until there is a connection."""
    process = world.processes[leader]
    world.put(process.replace(broker=process.broker.replace(proposed=(*wanted, *process.broker.proposed))))
