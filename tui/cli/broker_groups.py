"""An image with the groups that brokers coordinate, which ZooKeeper does not know. Looks once, and writes nothing."""

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import click
import msgspec

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import ClusterImage
from model.hosts.client_security.tls import kafka_options
from model.hosts.client_security.values import SecurityError
from model.hosts.kafka_client.kafka_client import Address, KafkaClient
from model.hosts.wire.connection import Security, security_of
from model.hosts.wire.names import WireError
from model.sources.addresses import parse_kafka_address
from model.sources.kafka.groups import GroupSurvey
from model.sources.kafka.polling_source import ANSWER_S, CLIENT_ID
from model.sources.source import SourceError
from tui.cli.output import tell
from tui.engine.opening import Opening

PLAIN: Mapping[str, Any] = MappingProxyType({})


def with_groups(image: ClusterImage, opening: Opening) -> ClusterImage:
    """The image with the groups of the brokers named by `--bootstrap`, if any; warns of those that do not answer.

    Raises SourceError, and click.ClickException for an unusable login.
    """
    if not opening.bootstrap:
        return image
    try:
        options, timeout_s = kafka_options(opening.login.kafka), opening.patience.timeout_s
        known, silent = with_broker_groups(image, opening.bootstrap, options, timeout_s)
    except SecurityError as error:
        raise click.ClickException(str(error)) from None
    for line in silent:
        tell(line)
    return known


def with_broker_groups(
    image: ClusterImage, bootstrap: str, options: Mapping[str, Any] = PLAIN, timeout_s: float = 60.0
) -> tuple[ClusterImage, tuple[str, ...]]:
    """The image with the groups of the brokers at `host:port[,…]`, and what could not be had, a line each.

    `options` are kafka-python's, for the login. Raises SourceError where no broker answers, where not all is told
    within `timeout_s`, and for what is no such list.
    """
    addresses = parse_kafka_address(bootstrap).brokers
    try:
        return asyncio.run(asyncio.wait_for(_asked(image, addresses, security_of(options)), timeout_s))
    except WireError as error:
        raise SourceError(f"kafka://{bootstrap}: {error}") from None
    except TimeoutError:
        raise SourceError(f"kafka://{bootstrap}: no answer about the groups within {timeout_s:g} s") from None


async def _asked(
    image: ClusterImage, addresses: Sequence[Address], security: Security
) -> tuple[ClusterImage, tuple[str, ...]]:
    client = KafkaClient(addresses, CLIENT_ID, ANSWER_S, security)
    survey = GroupSurvey(client)
    try:
        records = await survey.look({read for group in image.groups.values() for read in group.offsets})
    finally:
        await client.close()
    provenance = msgspec.structs.replace(image.provenance, asks_brokers=True)
    known = ClusterDelta(image).replay_all(records).apply(provenance)
    return msgspec.structs.replace(known, provenance=provenance), survey.silent
