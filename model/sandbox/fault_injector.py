"""Does what is ordered to a sandbox, remembers which faults are open, and undoes them.

Every deed is reported with the number of the fault it is or repairs. Faults of what passes a proxy (links between
places, ZooKeeper sessions) and of the load are carried out here, those of processes and files in `faults_carried_out`.
"""

import asyncio
from collections.abc import Mapping
from itertools import count

from model.hosts.kafka_client import address_of
from model.sandbox import faults, faults_carried_out
from model.sandbox.faults import CLIENTS, CONTROLLERS, ZOOKEEPER, Deed, Fault, Repair, SetRate, Undo, UndoAll
from model.sandbox.faults_carried_out import CarryOut, DeedOutcome, Site, chosen_broker, chosen_node
from model.sandbox.link_proxy import Valve
from model.sandbox.messages import Done, EventFeed, EventKind, OpenFault, now_ms
from model.sandbox.processes import SandboxError
from model.sandbox.switchboard import Link, ZooKeeperSession, end_session, in_words

LONGEST_DELAY_MS = 600_000.0


async def cut(site: Site, deed: faults.CutLink) -> DeedOutcome:
    """Let nothing pass."""
    link, valve = await _valve(site, deed.between)
    if valve.is_cut:
        raise SandboxError(f"the link between {in_words(link)} is cut already")
    valve.cut()
    _tell_load(site, link)
    return _of_link(link, f"the link between {in_words(link)} is cut", faults.HealLink(link))


async def slow(site: Site, deed: faults.SlowLink) -> DeedOutcome:
    """Let everything pass later."""
    if not 0 < deed.delay_ms <= LONGEST_DELAY_MS:
        raise SandboxError(f"a delay of {deed.delay_ms:g} ms: more than 0, up to {LONGEST_DELAY_MS:.0f} are possible")
    link, valve = await _valve(site, deed.between)
    valve.slow(deed.delay_ms / 1000)
    text = f"the link between {in_words(link)} takes {deed.delay_ms:g} ms longer, each way"
    return _of_link(link, text, faults.HealLink(link))


async def heal(site: Site, deed: faults.HealLink) -> DeedOutcome:
    """As it was at first."""
    link, valve = await _valve(site, deed.between)
    if not valve.is_cut and not valve.delay_s:
        raise SandboxError(f"nothing is wrong with the link between {in_words(link)}")
    valve.heal()
    _tell_load(site, link)
    return _of_link(link, f"the link between {in_words(link)} is whole again")


async def expire(site: Site, deed: faults.ExpireSession) -> DeedOutcome:
    """End a broker's ZooKeeper session from elsewhere."""
    if site.cluster.controllers:
        raise SandboxError("there are no sessions in KRaft mode: a broker that is cut off from controllers is fenced")
    broker = await chosen_broker(site.cluster, deed.broker)
    ended = [hex(each.id) for each in site.cluster.links.sessions(broker) if await _end_session_at_servers(site, each)]
    if not ended:
        raise SandboxError(f"broker {broker} has no ZooKeeper session now")
    site.cluster.links.hang_up(broker)
    text = f"the ZooKeeper session of broker {broker} ({', '.join(ended)}) is over, and its process lives"
    return DeedOutcome(text, f"broker {broker}")


async def _end_session_at_servers(site: Site, session: ZooKeeperSession) -> bool:
    reason = "no ZooKeeper serves"
    for member in site.cluster.ensemble.members:
        if member.server is not None and member.server.is_running:
            try:
                return await end_session(session, *address_of(member.server.address))
            except OSError as error:
                reason = str(error) or type(error).__name__
    raise SandboxError(f"the session can't be ended: {reason}")


def _tell_load(site: Site, link: Link) -> None:
    if "/" in link[0]:
        site.load.link_changed(link[0])


async def _valve(site: Site, between: tuple[str, str]) -> tuple[Link, Valve]:
    member = next((place for place in between if "/" in place), None)
    if member is not None:
        if site.cluster.controllers:
            raise SandboxError("in KRaft mode consumers have links with brokers alone: cut a broker and its clients")
        if ZOOKEEPER not in between:
            raise SandboxError(f"a consumer has a link with {ZOOKEEPER} only: cut {member} and {ZOOKEEPER}")
        return (member, ZOOKEEPER), site.load.valve(member)
    first, second = [
        place if place in (ZOOKEEPER, CONTROLLERS, CLIENTS) else str(await chosen_node(site.cluster, place))
        for place in between
    ]
    return site.cluster.links.valve((first, second))


def _of_link(link: Link, text: str, repair: faults.Repair | None = None) -> DeedOutcome:
    return DeedOutcome(text, f"link {'-'.join(link)}", repair)


async def stop_consumer(site: Site, deed: faults.StopConsumer) -> DeedOutcome:
    """Cut a consumer off, without a goodbye."""
    text = await site.load.stop_consumer(deed.group, deed.member)
    return DeedOutcome(text, _consumer_name(deed.group, deed.member), faults.StartConsumer(deed.group, deed.member))


async def start_consumer(site: Site, deed: faults.StartConsumer) -> DeedOutcome:
    """Bring it back."""
    return DeedOutcome(await site.load.start_consumer(deed.group, deed.member), _consumer_name(deed.group, deed.member))


async def set_rate(site: Site, deed: faults.SetRate) -> DeedOutcome:
    """Produce so many records a second."""
    return DeedOutcome(await site.load.set_rate(deed.rate), "producer")


def _consumer_name(group: str, member: str) -> str:
    return f"consumer {group}/{member}"


FAULTS: Mapping[type[Fault], CarryOut] = {
    faults.Kill: faults_carried_out.kill,
    faults.Terminate: faults_carried_out.terminate,
    faults.Pause: faults_carried_out.pause,
    faults.CutLink: cut,
    faults.SlowLink: slow,
    faults.ExpireSession: expire,
    faults.KillController: faults_carried_out.kill_controller,
    faults.KillZooKeeper: faults_carried_out.kill_zookeeper,
    faults.FillLogDir: faults_carried_out.fill,
    faults.CorruptSegment: faults_carried_out.corrupt,
    faults.StopConsumer: stop_consumer,
}
REPAIRS: Mapping[type[Repair | SetRate], CarryOut] = {
    faults.Start: faults_carried_out.start,
    faults.Resume: faults_carried_out.resume,
    faults.HealLink: heal,
    faults.StartZooKeeper: faults_carried_out.start_zookeeper,
    faults.FreeLogDir: faults_carried_out.free,
    faults.RestoreSegment: faults_carried_out.restore,
    faults.StartConsumer: start_consumer,
    faults.SetRate: set_rate,
}


class FaultInjector:
    """For one event loop. Deeds may be ordered while others are being done."""

    def __init__(self, site: Site, events: EventFeed) -> None:
        self._site = site
        self._events = events
        self._open: list[OpenFault] = []
        self._numbers = count(1)
        self._under_way: list[Repair | SetRate] = []
        self.history: list[tuple[int, Deed]] = []
        """What was ordered and done, and when, in ms since the epoch; an undo is told as the repair it was."""

    @property
    def open_faults(self) -> tuple[OpenFault, ...]:
        """What was done and not repaired, the newest last."""
        return tuple(self._open)

    async def do(self, deed: Deed) -> Done:
        if isinstance(deed, Undo):
            deed = self._repair_of(deed.number)
        began_ms = now_ms()
        if isinstance(deed, UndoAll):
            done = await self._undo_all()
        elif isinstance(deed, Repair | SetRate):
            done = await self._repair(deed)
        else:
            done = self._note(deed, await FAULTS[type(deed)](self._site, deed))
        self.history.append((began_ms, deed))
        return done

    def broker_ended(self, broker: int) -> bool:
        """Whether a broker's end, which nobody had waited for, was ordered; it is told of then."""
        outcome = faults_carried_out.died_at_a_step(self._site, broker)
        if outcome is not None:
            self._note(faults.Kill(broker), outcome)
            return True
        cause = next((each for each in self._open if each.repair == faults.FreeLogDir(broker)), None)
        if cause is None:
            return False
        text = f"broker {broker} ended itself: it has no log folder left"
        self._keep(
            OpenFault(
                number=next(self._numbers), at_ms=now_ms(), fault=cause.fault, text=text, repair=faults.Start(broker)
            )
        )
        self._events.tell("process", text, subject=f"broker {broker}", fault=cause.number)
        return True

    def _note(self, fault: Fault, outcome: DeedOutcome) -> Done:
        number = next(self._numbers)
        if outcome.repair is not None:
            self._keep(OpenFault(number=number, at_ms=now_ms(), fault=fault, text=outcome.text, repair=outcome.repair))
        self._tell("fault", outcome, number)
        return Done(outcome.text, number if outcome.repair is not None else 0)

    async def _repair(self, repair: Repair | SetRate) -> Done:
        self._under_way.append(repair)
        try:
            outcome = await REPAIRS[type(repair)](self._site, repair)
        finally:
            self._under_way.remove(repair)
        closed = [each for each in self._open if each.repair == repair]
        self._open = [each for each in self._open if each not in closed]
        is_load = isinstance(repair, SetRate)
        self._tell("load" if is_load else "repair", outcome, closed[-1].number if closed else None)
        return Done(outcome.text)

    def _repair_of(self, number: int | None) -> Repair:
        if number is None:
            return self._repairs()[0]
        repair = next((each.repair for each in self._open if each.number == number), None)
        if repair is None:
            raise SandboxError(f"no fault {number} is open")
        return repair

    def _repairs(self) -> list[Repair]:
        """Of what is open, the newest first, but for what is being repaired. Raises SandboxError if there are none."""
        known = [each.repair for each in reversed(self._open) if each.repair is not None]
        repairs = [each for each in known if each not in self._under_way]
        if not repairs:
            raise SandboxError("all is being undone" if known else "there is nothing to undo")
        return repairs

    async def _undo_all(self) -> Done:
        """ZooKeeper, links and files first: a broker that starts needs them."""
        order = (faults.StartZooKeeper, faults.HealLink, faults.FreeLogDir, faults.RestoreSegment, faults.Resume)
        repairs = self._repairs()
        for kind in order:
            for repair in repairs:
                if isinstance(repair, kind):
                    await self._repair(repair)
        rest = [self._repair(repair) for repair in repairs if not isinstance(repair, order)]
        outcomes = await asyncio.gather(*rest, return_exceptions=True)
        wrong = [str(each) for each in outcomes if isinstance(each, BaseException)]
        if wrong:
            raise SandboxError("; ".join(wrong))
        return Done("one fault is undone" if len(repairs) == 1 else f"{len(repairs)} faults are undone")

    def _keep(self, fault: OpenFault) -> None:
        """A link that was slow and is cut is one open fault; the older one goes."""
        self._open = [*(each for each in self._open if each.repair != fault.repair), fault]

    def _tell(self, kind: EventKind, outcome: DeedOutcome, fault: int | None) -> None:
        self._events.tell(kind, outcome.text, subject=outcome.subject, fault=fault)
