"""The screens there are, in the order of their tabs. Imports none before it is loaded: names need no terminal."""

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tui.screens.live_screen import LiveScreen


class Registered(NamedTuple):
    """A screen: its name within, its title, its key, what it is for, and its class as `module.Class`."""

    name: str
    title: str
    key: str
    help: str
    shown_by: str

    def load(self) -> "type[LiveScreen]":
        """The class, imported now."""
        module, _, name = self.shown_by.partition(".")
        return getattr(import_module(f"tui.screens.{module}"), name)


REGISTRY: tuple[Registered, ...] = (
    Registered("overview", "Overview", "1", "is it healthy, what changed", "overview.Overview"),
    Registered("znodes", "Znodes", "2", "what is really in ZooKeeper", "znodes.Znodes"),
    Registered("partitions", "Partitions", "3", "who leads, who is in sync", "partitions.Partitions"),
    Registered("consumers", "Consumers", "4", "who owns what, who is idle", "consumers.Consumers"),
    Registered("lab", "Lab", "5", "who would get what: strategies side by side", "lab.RebalanceLab"),
    Registered("drill", "Drill", "6", "what happens if brokers die, on a copy", "drill.Drill"),
    Registered("sweep", "Sweep", "7", "which brokers must not die: all of them, pairs, racks", "sweep.Sweep"),
    Registered("sandbox", "Sandbox", "8", "break it for real: kill, pause, cut off, and mend", "sandbox.Sandbox"),
    Registered("plans", "Plans", "9", "where replicas should be, and what it costs", "plans.Plans"),
    Registered(
        "controller", "Brokers", "b", "who controls, which epochs, what is asked and not done", "brokers.Brokers"
    ),
    Registered("logs", "Logs", "L", "segments, batches, records; how an offset is found; damage", "logs.Logs"),
    Registered("events", "Events", "i", "what happened, and the way back to each moment", "events.Events"),
)
