"""Everything that a live controller answers on its listener: one table, made of those of its parts."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from model.controller.context import ControllerContext
from model.controller.zookeeper import Answer, ZooKeeperRequest
from model.hosts.live_controller.from_brokers import AskController, BrokerRequests
from model.hosts.live_controller.from_operators import OperatorRequests
from model.hosts.live_controller.from_topic_tools import TopicRequests
from model.hosts.live_controller.metadata import MetadataRequests
from model.hosts.live_controller.options import Options
from model.hosts.live_controller.own_broker import OwnBroker
from model.hosts.live_controller.passed_on import PassedOn
from model.hosts.wire.server import Api

AskZooKeeper = Callable[[Sequence[ZooKeeperRequest]], Awaitable[tuple[Answer, ...]]]


def apis_served(
    options: Options,
    own: OwnBroker,
    ask: AskController,
    context: Callable[[], ControllerContext],
    zookeeper: AskZooKeeper,
) -> Mapping[int, Api]:
    """By API key. `context` is what the controller knows at this moment."""
    return {
        **own.apis,
        **BrokerRequests(ask, lambda: context().topics.by_name).apis,
        **OperatorRequests(ask, own.metadata).apis,
        **TopicRequests(zookeeper, context, own.metadata).apis,
        **MetadataRequests(own.metadata, options.listener, zookeeper).apis,
        **PassedOn(options, own.metadata).apis,
    }
