"""Brokers asked for what a SOURCE does not tell: who they are, and a connection that only asks."""

import contextlib
from collections.abc import Iterator

from model.actions.proposal import ActionRefused
from model.cluster.cluster_image import ClusterImage
from model.hosts.acting.admin_reads import AdminReads
from model.hosts.acting.admin_writer import AdminWriter
from model.hosts.client_security.kafka_options import kafka_options
from model.sources.kafka.address import SCHEME, parse_address
from tui.data.opening import Opening


def brokers_of(opening: Opening) -> str:
    """`host:port[,…]` of the brokers that an opening names; empty where it names none."""
    if opening.bootstrap or not opening.source.startswith(SCHEME):
        return opening.bootstrap
    return parse_address(opening.source).bootstrap


def brokers_seen(image: ClusterImage) -> str:
    """`host:port[,…]` as brokers registered themselves, each with its first endpoint."""
    endpoints = [broker.endpoints[0] for broker in image.brokers.values() if broker.endpoints]
    return ",".join(endpoint.partition("://")[2] for endpoint in endpoints)


@contextlib.contextmanager
def asking(opening: Opening, brokers: str) -> Iterator[AdminReads]:
    """Connected as long as the context lasts. Raises ActionRefused, UnansweredError, SecurityError."""
    if not brokers:
        raise ActionRefused("no broker is known to ask: name some with --bootstrap")
    admin = AdminWriter(brokers, kafka_options(opening.login.kafka))
    try:
        yield admin.reads
    finally:
        admin.close()
