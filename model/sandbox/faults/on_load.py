"""What is done to the load: consumers that vanish and come back, more or fewer records."""

from model.sandbox.faults import faults
from model.sandbox.faults.outcome import Outcome, Site


async def stop_consumer(site: Site, deed: faults.StopConsumer) -> Outcome:
    """Cut a consumer off, without a goodbye."""
    text = await site.load.stop_consumer(deed.group, deed.member)
    return Outcome(text, _name(deed.group, deed.member), faults.StartConsumer(deed.group, deed.member))


async def start_consumer(site: Site, deed: faults.StartConsumer) -> Outcome:
    """Bring it back."""
    return Outcome(await site.load.start_consumer(deed.group, deed.member), _name(deed.group, deed.member))


async def set_rate(site: Site, deed: faults.SetRate) -> Outcome:
    """Produce so many records a second."""
    return Outcome(await site.load.set_rate(deed.rate), "producer")


def _name(group: str, member: str) -> str:
    return f"consumer {group}/{member}"
