"""The parts of a broker that keeps no logs."""

from model.hosts.live_broker.data_apis.controller_requests import ControllerRequests
from model.hosts.live_broker.parts import Furnish, Parts, Place
from model.hosts.live_broker.without_logs.no_replicas import NoReplicas
from model.hosts.live_broker.without_logs.passed_on import PassedOn


def _make(place: Place) -> Parts:
    """It answers what it knows, and asks others for the rest."""
    replicas = NoReplicas(place.broker)
    asked = PassedOn(place.broker, replicas.metadata, place.surroundings.listener)
    return Parts(replicas, {**ControllerRequests(replicas).apis, **asked.apis})


WITHOUT_LOGS = Furnish(_make, keeps_logs=False)
