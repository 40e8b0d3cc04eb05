"""Leaders look after their ISRs: when they look, how they ask the controller, who lags. The rules are in `isr_changes`.

A leader looks when something may have changed for its followers, and one request of a broker is on its way at a time
(`kafka.server.AlterPartitionManager`, 3.9).
"""

from model.controller.commands import AnswerRequest
from model.controller.events import AlterPartitionReceived
from model.hosts.virtual import isr_writes
from model.hosts.virtual.channels import can_reach
from model.hosts.virtual.happenings import FollowerLags, LeaderLooks, LeaderWrites
from model.hosts.virtual.isr_changes import answered, asked, proposals, unanswered
from model.hosts.virtual.process import Process
from model.hosts.virtual.replies import ask_controller
from model.hosts.virtual.virtual_broker import NOBODY, UNREGISTERED, VirtualBroker
from model.hosts.virtual.world import World


def look_soon(world: World) -> None:
    """Something changed that followers may have waited for."""
    catch_up_ms = world.assumptions.catch_up_ms
    if catch_up_ms is None:
        return
    for process in tuple(world.processes.values()):
        broker = process.broker
        wants = broker.behind - broker.pending - broker.stuck or process.lagging
        if wants and process.proposing:
            world.put(process.replace(has_news=True))
        elif wants and not process.looking:
            world.put(process.replace(looking=True))
            world.after(catch_up_ms, LeaderLooks(process.id, process.number))


def look(world: World, process: Process, _due: LeaderLooks) -> None:
    """Ask for what the ISRs should be, if that is not what they are."""
    process = world.put(process.replace(looking=False))
    broker = process.broker
    if process.proposing or broker.controller == NOBODY or broker.epoch == UNREGISTERED:
        return

    def peer(follower: int) -> VirtualBroker | None:
        found = world.processes.get(follower)
        if found is None or found.adopted or not fetches(world, found, process.id):
            return None
        return found.broker

    wanted = proposals(broker, peer, process.lagging)
    if wanted and isr_writes.writes_isrs(process):
        isr_writes.set_out(world, process, wanted)
    elif wanted:
        number = world.next_number()
        process = world.put(process.replace(broker=asked(broker, wanted), proposing=number))
        request = AlterPartitionReceived(request=number, broker=broker.id, broker_epoch=broker.epoch, proposals=wanted)
        ask_controller(world, process, broker.controller, request)


def write_isrs(world: World, process: Process, due: LeaderWrites) -> None:
    """A leader writes ISRs itself, and looks on."""
    if isr_writes.write(world, process, due):
        look_soon(world)


def hear_outcome(world: World, process: Process, request: AlterPartitionReceived, answer: AnswerRequest | None) -> None:
    """The controller answered, or will not."""
    if process.proposing != request.request:
        return
    before = process.broker
    after = unanswered(before, request) if answer is None else answered(before, request, answer)
    had_news = process.has_news
    process = world.put(process.replace(proposing=0, has_news=False, broker=after))
    is_lost = answer is None and can_reach(world, process.id, after.controller)
    if is_lost or had_news or after.replicas is not before.replicas:
        look_soon(world)


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
                world.after(lag_ms, lags)
        world.put(process.replace(silent=silent, lagging=process.lagging & silent.keys()))


def note_lag(world: World, process: Process, due: FollowerLags) -> None:
    """A follower lags, unless it fetched since."""
    if process.silent.get(due.follower) == due.silent_since_us:
        world.put(process.replace(lagging=process.lagging | {due.follower}))
        look_soon(world)
