"""One broker as the brokers' screen tells it: its facts, and what only its znode says."""

from model.cluster.cluster_image import BrokerImage
from model.hosts.zookeeper.values import Unread, Znode
from model.sources.feed import Moment
from model.znodes.brokers import BrokerRegistration
from model.znodes.codec import decode
from model.znodes.paths import broker_path
from tui.data.messages import TextAnswer, TextQuery
from tui.data.pages.brokers import broker_sheet
from tui.data.pages.controller.office import Znodes
from tui.data.pages.listing import Memory
from tui.data.pages.sheets import Sheet

_TOO_LONG = 11
SINCE = {1: "0.8", 2: "0.9", 3: "0.10.0", 4: "0.10.2", 5: "2.7"}
"""Payload version → the first release that writes it."""


def is_broker(key: str) -> bool:
    """Whether a key can be a broker's id."""
    return key.isascii() and key.isdecimal() and len(key) < _TOO_LONG


def registration_text(moment: Moment, query: TextQuery, now_ms: int, memory: Memory, znodes: Znodes) -> TextAnswer:
    """The broker whose id is the key. Of a znode that is another registration than the moment's, nothing is said."""
    sheet = broker_sheet(moment, query, now_ms, memory)
    known = moment.image.brokers.get(int(query.key)) if query.key.isdecimal() else None
    if known is not None:
        _said(sheet, known, znodes.get(broker_path(known.id)))
    return sheet.answer()


def _said(sheet: Sheet, known: BrokerImage, znode: Znode | Unread | None) -> None:
    payload = decode(znode.path, znode.data) if isinstance(znode, Znode) else None
    if not (isinstance(znode, Znode) and isinstance(payload, BrokerRegistration)):
        return
    if known.epoch not in (None, znode.stat.czxid) or (payload.registered_ms or 0) != known.registered_ms:
        return
    sheet.gap()
    sheet.fact("payload", f"version {payload.version} (Kafka {SINCE.get(payload.version, '?')} on)")
    for endpoint in payload.listeners:
        sheet.fact("listener", f"{endpoint.listener} {endpoint.host}:{endpoint.port}, {endpoint.security_protocol}")
    sheet.fact("JMX", f"port {payload.jmx_port}" if payload.jmx_port >= 0 else "off")
    features = ", ".join(f"{name} {of.min_version}-{of.max_version}" for name, of in sorted(payload.features.items()))
    sheet.fact("features", features or "none")
    sheet.fact("session", f"{znode.stat.ephemeral_owner:#x}")
