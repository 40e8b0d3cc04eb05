"""ControlledShutdown, as a broker asks its controller, and what the answer means to its life."""

from model.broker.life.events import ControllerAnswered, ControllerMissing, LifeEvent
from model.hosts.live_broker.replicas.surroundings import AskController
from model.hosts.wire.api_keys import CONTROLLED_SHUTDOWN
from model.hosts.wire.connection import Connection
from model.hosts.wire.errors import WireError
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import error_name


async def ask_to_shut_down(ask: AskController, broker: int, broker_epoch: int) -> LifeEvent:
    """Send it to the controller of now."""

    def build(connection: Connection) -> Entity:
        shape = shapes(CONTROLLED_SHUTDOWN, connection.newest(CONTROLLED_SHUTDOWN), "request").ControlledShutdownRequest
        return shaped(shape, broker_id=broker, broker_epoch=broker_epoch)

    try:
        answer = await ask(build)
    except WireError as error:
        return ControllerMissing(str(error))
    return ControllerAnswered(error_name(answer.error_code), len(answer.remaining_partitions))
