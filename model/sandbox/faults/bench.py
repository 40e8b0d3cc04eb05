"""Does what is ordered to a sandbox, remembers which faults are open, and undoes them.

Every deed is told of, with the number of the fault it is or repairs.
"""

import asyncio
from collections.abc import Mapping
from itertools import count

from model.sandbox.cluster.chronicle import Chronicle, now_ms
from model.sandbox.control.messages import Done
from model.sandbox.control.state import EventKind, OpenFault
from model.sandbox.errors import SandboxError
from model.sandbox.faults import faults, on_files, on_links, on_load, on_processes
from model.sandbox.faults.faults import Deed, Fault, Repair, SetRate, Undo, UndoAll
from model.sandbox.faults.outcome import CarryOut, Outcome, Site

FAULTS: Mapping[type[Fault], CarryOut] = {
    faults.Kill: on_processes.kill,
    faults.Terminate: on_processes.terminate,
    faults.Pause: on_processes.pause,
    faults.CutLink: on_links.cut,
    faults.SlowLink: on_links.slow,
    faults.ExpireSession: on_links.expire,
    faults.KillController: on_processes.kill_controller,
    faults.KillZooKeeper: on_processes.kill_zookeeper,
    faults.FillLogDir: on_files.fill,
    faults.CorruptSegment: on_files.corrupt,
    faults.StopConsumer: on_load.stop_consumer,
}
REPAIRS: Mapping[type[Repair | SetRate], CarryOut] = {
    faults.Start: on_processes.start,
    faults.Resume: on_processes.resume,
    faults.HealLink: on_links.heal,
    faults.StartZooKeeper: on_processes.start_zookeeper,
    faults.FreeLogDir: on_files.free,
    faults.RestoreSegment: on_files.restore,
    faults.StartConsumer: on_load.start_consumer,
    faults.SetRate: on_load.set_rate,
}


class Bench:
    """For one event loop. Deeds may be ordered while others are being done."""

    def __init__(self, site: Site, chronicle: Chronicle) -> None:
        self._site = site
        self._chronicle = chronicle
        self._open: list[OpenFault] = []
        self._numbers = count(1)
        self.history: list[tuple[int, Deed]] = []
        """What was ordered and done, and when, in ms since the epoch; an undo is told as the repair it was."""

    @property
    def open_faults(self) -> tuple[OpenFault, ...]:
        """What was done and not repaired, the newest last."""
        return tuple(self._open)

    async def do(self, deed: Deed) -> Done:
        """Carry out a fault, a repair or an undo. Raises SandboxError: refused, with nothing done."""
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
        outcome = on_processes.died_at_a_step(self._site, broker)
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
        self._chronicle.tell("process", text, subject=f"broker {broker}", fault=cause.number)
        return True

    def _note(self, fault: Fault, outcome: Outcome) -> Done:
        number = next(self._numbers)
        if outcome.repair is not None:
            self._keep(OpenFault(number=number, at_ms=now_ms(), fault=fault, text=outcome.text, repair=outcome.repair))
        self._tell("fault", outcome, number)
        return Done(outcome.text, number if outcome.repair is not None else 0)

    async def _repair(self, repair: Repair | SetRate) -> Done:
        outcome = await REPAIRS[type(repair)](self._site, repair)
        closed = [each for each in self._open if each.repair == repair]
        self._open = [each for each in self._open if each not in closed]
        is_load = isinstance(repair, SetRate)
        self._tell("load" if is_load else "repair", outcome, closed[-1].number if closed else None)
        return Done(outcome.text)

    def _repair_of(self, number: int | None) -> Repair:
        chosen = [each for each in self._open if number in (None, each.number)]
        if not chosen or chosen[-1].repair is None:
            raise SandboxError("there is nothing to undo" if number is None else f"no fault {number} is open")
        return chosen[-1].repair

    async def _undo_all(self) -> Done:
        """ZooKeeper, links and files first: a broker that starts needs them."""
        order = (faults.StartZooKeeper, faults.HealLink, faults.FreeLogDir, faults.RestoreSegment, faults.Resume)
        repairs = [each.repair for each in reversed(self._open) if each.repair is not None]
        for kind in order:
            for repair in repairs:
                if isinstance(repair, kind):
                    await self._repair(repair)
        rest = [self._repair(repair) for repair in repairs if not isinstance(repair, order)]
        outcomes = await asyncio.gather(*rest, return_exceptions=True)
        wrong = [str(each) for each in outcomes if isinstance(each, BaseException)]
        if wrong:
            raise SandboxError("; ".join(wrong))
        if not repairs:
            raise SandboxError("there is nothing to undo")
        return Done("one fault is undone" if len(repairs) == 1 else f"{len(repairs)} faults are undone")

    def _keep(self, fault: OpenFault) -> None:
        """A link that was slow and is cut is one open fault; the older one goes."""
        self._open = [*(each for each in self._open if each.repair != fault.repair), fault]

    def _tell(self, kind: EventKind, outcome: Outcome, fault: int | None) -> None:
        self._chronicle.tell(kind, outcome.text, subject=outcome.subject, fault=fault)
