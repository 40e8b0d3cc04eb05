"""Faults and repairs of processes: killed, paused, started again."""

import time
from pathlib import Path

from model.broker.settings.fault_keys import CONTROLLER_STOP_FILE, FAILOVER_STEPS
from model.sandbox.cluster.broker_process import BrokerProcess
from model.sandbox.errors import SandboxError
from model.sandbox.faults import faults
from model.sandbox.faults.choosing import CONTROLLER, chosen_broker
from model.sandbox.faults.outcome import Outcome, Site

LONGEST_FAREWELL_S = 30.0


async def kill(site: Site, deed: faults.Kill) -> Outcome:
    """SIGKILL."""
    broker = await chosen_broker(site.cluster, deed.broker)
    pid = _running(site, broker).pid
    await _kill(site, broker)
    return _of_broker(broker, f"was killed (SIGKILL, pid {pid})", faults.Start(broker))


async def terminate(site: Site, deed: faults.Terminate) -> Outcome:
    """SIGTERM, and wait for its end."""
    broker = await chosen_broker(site.cluster, deed.broker)
    process = _running(site, broker)
    began = time.monotonic()
    in_order = await process.terminate(LONGEST_FAREWELL_S)
    site.cluster.links.broker_is_gone(broker)
    took = f"{time.monotonic() - began:.1f} s"
    how = f"left in order, {took} after SIGTERM" if in_order else f"did not leave within {took} and was killed"
    return _of_broker(broker, how, faults.Start(broker))


async def start(site: Site, deed: faults.Start) -> Outcome:
    """Bring a broker back."""
    broker = await chosen_broker(site.cluster, deed.broker)
    began = time.monotonic()
    await site.cluster.start_broker(broker)
    return _of_broker(broker, f"is back after {time.monotonic() - began:.1f} s")


async def pause(site: Site, deed: faults.Pause) -> Outcome:
    """SIGSTOP."""
    broker = await chosen_broker(site.cluster, deed.broker)
    process = _running(site, broker)
    if process.status == "paused":
        raise SandboxError(f"broker {broker} is paused already")
    await process.pause()
    return _of_broker(broker, "stands still (SIGSTOP), and does not know", faults.Resume(broker))


async def resume(site: Site, deed: faults.Resume) -> Outcome:
    """SIGCONT."""
    broker = await chosen_broker(site.cluster, deed.broker)
    process = _running(site, broker)
    if process.status != "paused":
        raise SandboxError(f"broker {broker} is not paused")
    process.resume()
    return _of_broker(broker, "goes on (SIGCONT)")


async def kill_controller(site: Site, deed: faults.KillController) -> Outcome:
    """SIGKILL now; and again for the next one, by its own hand, where its failover reaches the step."""
    if deed.step and deed.step not in FAILOVER_STEPS:
        raise SandboxError(f"{deed.step!r} is no step of a failover: {', '.join(FAILOVER_STEPS)}")
    broker = await chosen_broker(site.cluster, CONTROLLER)
    _running(site, broker)
    disarm(site)
    if deed.step:
        for other in site.cluster.brokers.keys() - {broker}:
            site.armed[other] = deed.step
            _order(site, other).write_text(deed.step)
    await _kill(site, broker)
    text = "the controller, was killed (SIGKILL)"
    if deed.step:
        text += f"; the next one dies when its failover reaches {deed.step!r}"
    return _of_broker(broker, text, faults.Start(broker))


def died_at_a_step(site: Site, broker: int) -> Outcome | None:
    """What to say of a broker that has just ended, if it ended by an order to die in its failover."""
    step = site.armed.get(broker)
    if step is None or _order(site, broker).exists():
        return None
    disarm(site)
    site.cluster.brokers[broker].status = "killed"
    return _of_broker(broker, f"died as the new controller, in its failover at {step!r}", faults.Start(broker))


def disarm(site: Site) -> None:
    """Nobody is to die in a failover any more."""
    for broker in site.armed:
        _order(site, broker).unlink(missing_ok=True)
    site.armed.clear()


async def kill_zookeeper(site: Site, deed: faults.KillZooKeeper) -> Outcome:
    """SIGKILL for one server."""
    await site.cluster.ensemble.kill(deed.server)
    repair = faults.StartZooKeeper(deed.server)
    return Outcome(f"ZooKeeper {deed.server} was killed (SIGKILL)", f"zookeeper {deed.server}", repair)


async def start_zookeeper(site: Site, deed: faults.StartZooKeeper) -> Outcome:
    """Bring a server back; it keeps its port and what it knew."""
    await site.cluster.ensemble.start_again(deed.server)
    return Outcome(f"ZooKeeper {deed.server} is back", f"zookeeper {deed.server}")


def _order(site: Site, broker: int) -> Path:
    return site.cluster.brokers[broker].faults / CONTROLLER_STOP_FILE


async def _kill(site: Site, broker: int) -> None:
    await site.cluster.brokers[broker].kill()
    site.cluster.links.broker_is_gone(broker)


def _running(site: Site, broker: int) -> BrokerProcess:
    process = site.cluster.brokers[broker]
    if process.pid is None:
        raise SandboxError(f"broker {broker} does not run")
    return process


def _of_broker(broker: int, text: str, repair: faults.Repair | None = None) -> Outcome:
    return Outcome(
        f"broker {broker}, {text}" if text.startswith("the ") else f"broker {broker} {text}", f"broker {broker}", repair
    )
