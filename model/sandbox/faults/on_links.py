"""Faults and repairs of what passes a proxy: links between places, and ZooKeeper sessions."""

from model.hosts.kafka_client.kafka_client import address_of
from model.sandbox.errors import SandboxError
from model.sandbox.faults import faults
from model.sandbox.faults.choosing import chosen_broker
from model.sandbox.faults.outcome import Outcome, Site
from model.sandbox.links.link import CLIENTS, ZOOKEEPER, Link, in_words
from model.sandbox.links.valve import Valve
from model.sandbox.links.zookeeper_session import ZooKeeperSession, end_session

LONGEST_DELAY_MS = 600_000.0


async def cut(site: Site, deed: faults.CutLink) -> Outcome:
    """Let nothing pass."""
    link, valve = await _valve(site, deed.between)
    if valve.is_cut:
        raise SandboxError(f"the link between {in_words(link)} is cut already")
    valve.cut()
    return _of_link(link, f"the link between {in_words(link)} is cut", faults.HealLink(link))


async def slow(site: Site, deed: faults.SlowLink) -> Outcome:
    """Let everything pass later."""
    if not 0 < deed.delay_ms <= LONGEST_DELAY_MS:
        raise SandboxError(f"a delay of {deed.delay_ms:g} ms: more than 0, up to {LONGEST_DELAY_MS:.0f} are possible")
    link, valve = await _valve(site, deed.between)
    valve.slow(deed.delay_ms / 1000)
    text = f"the link between {in_words(link)} takes {deed.delay_ms:g} ms longer, each way"
    return _of_link(link, text, faults.HealLink(link))


async def heal(site: Site, deed: faults.HealLink) -> Outcome:
    """As it was at first."""
    link, valve = await _valve(site, deed.between)
    if not valve.is_cut and not valve.delay_s:
        raise SandboxError(f"nothing is wrong with the link between {in_words(link)}")
    valve.heal()
    return _of_link(link, f"the link between {in_words(link)} is whole again")


async def expire(site: Site, deed: faults.ExpireSession) -> Outcome:
    """End a broker's ZooKeeper session from elsewhere."""
    broker = await chosen_broker(site.cluster, deed.broker)
    ended = [hex(each.id) for each in site.cluster.links.sessions(broker) if await _end(site, each)]
    if not ended:
        raise SandboxError(f"broker {broker} has no ZooKeeper session now")
    site.cluster.links.hang_up(broker)
    text = f"the ZooKeeper session of broker {broker} ({', '.join(ended)}) is over, and its process lives"
    return Outcome(text, f"broker {broker}")


async def _end(site: Site, session: ZooKeeperSession) -> bool:
    reason = "no ZooKeeper serves"
    for member in site.cluster.ensemble.members:
        if member.server is not None and member.server.is_running:
            try:
                return await end_session(session, *address_of(member.server.address))
            except OSError as error:
                reason = str(error) or type(error).__name__
    raise SandboxError(f"the session can't be ended: {reason}")


async def _valve(site: Site, between: tuple[str, str]) -> tuple[Link, Valve]:
    first, second = [
        place if place in (ZOOKEEPER, CLIENTS) else str(await chosen_broker(site.cluster, place)) for place in between
    ]
    return site.cluster.links.valve((first, second))


def _of_link(link: Link, text: str, repair: faults.Repair | None = None) -> Outcome:
    return Outcome(text, f"link {'-'.join(link)}", repair)
