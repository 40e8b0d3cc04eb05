"""Whether a request comes from the controller of now, and is meant for this life of the broker.

Source: `KafkaApis.isBrokerEpochStale` (2.2, KIP-380), `ReplicaManager.becomeLeaderOrFollower` (3.9).
"""

import msgspec

from model.broker.controller_requests.served import Served, Standing
from model.controller.requests import BrokerAnswer

NO_BROKER_EPOCH = -1
"""Of a request before 2.2, and of a broker before 2.2."""


def refuse_request(standing: Standing, broker_epoch: int, controller_epoch: int) -> Served | None:
    """The answer to a request that is too old; None: it holds.

    A newer broker epoch is right: the controller may learn of a registration before the broker does.
    """
    if broker_epoch != NO_BROKER_EPOCH and broker_epoch < standing.broker_epoch:
        why = f"A request for broker epoch {broker_epoch} is refused: this broker has registered anew since."
        return Served(BrokerAnswer("STALE_BROKER_EPOCH"), standing, reasons=(why,))
    if controller_epoch < standing.controller_epoch:
        why = f"A request of controller epoch {controller_epoch} is refused: {standing.controller_epoch} rules."
        return Served(BrokerAnswer("STALE_CONTROLLER_EPOCH"), standing, reasons=(why,))
    return None


def ruled_by(standing: Standing, controller_epoch: int) -> Standing:
    """After a request that held."""
    return msgspec.structs.replace(standing, controller_epoch=controller_epoch)
