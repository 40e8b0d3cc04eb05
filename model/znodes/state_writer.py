"""Who wrote a partition's state, as far as two states in a row tell; what is not certain is not said.

Only controllers raise `leader_epoch` (`kafka.controller.PartitionStateMachine`, `ReplicaStateMachine`): at an election,
and for every replica that leaves the ISR because it is offline. A change of the ISR that keeps `leader_epoch` is the
leader's own (`kafka.cluster.Partition`); who puts it into ZooKeeper depends on inter.broker.protocol.version (KIP-497).
"""

from collections.abc import Iterable, Mapping

from model.znodes.codec import decode
from model.znodes.controller import ControllerEpoch, ControllerRegistration
from model.znodes.history import Version
from model.znodes.partition_state import LeaderIsrAndControllerEpoch

BY_LEADER = (
    "The ISR is as leader {leader} wants it: leader_epoch stayed. Before inter.broker.protocol.version 2.7-IV2 "
    "the leader writes it itself, from then on the controller does, asked by AlterPartition."
)
RECOVERED = "Leader {leader} told the controller that it recovered from an unclean election (AlterPartition)."
CREATED = "The controller of epoch {controller} wrote this: only controllers create partition states."
RAISED = "The controller of epoch {controller} wrote this: only controllers raise leader_epoch."


NOBODY_KNOWN: Mapping[int, int] = {}


def controllers_of(elected: Iterable[Version], epochs: Iterable[Version]) -> Mapping[int, int]:
    """Controller epoch → broker, from values of `/controller` and `/controller_epoch`.

    Known from 2.1 on only: since then one transaction writes both (KAFKA-6082).
    """
    payloads = ((one.mzxid, decode("/controller_epoch", one.data)) for one in epochs if one.data is not None)
    epoch_of = {mzxid: payload.epoch for mzxid, payload in payloads if isinstance(payload, ControllerEpoch)}
    brokers = ((one.mzxid, decode("/controller", one.data)) for one in elected if one.is_created)
    return {
        epoch_of[mzxid]: payload.broker_id
        for mzxid, payload in brokers
        if mzxid in epoch_of and isinstance(payload, ControllerRegistration)
    }


def state_writer(
    path: str, before: Version | None, after: Version, controllers: Mapping[int, int] = NOBODY_KNOWN
) -> str:
    """A sentence, or nothing where it cannot be told: no two states in a row, or another kind of znode.

    `controllers` as `controllers_of` has them; it names the brokers of those.
    """
    state = _state(path, after)
    if state is None:
        return ""
    broker = controllers.get(state.controller_epoch)
    controller = f"{state.controller_epoch}" + ("" if broker is None else f" (broker {broker})")
    if after.is_created:
        return CREATED.format(controller=controller)
    known = None if before is None else _state(path, before)
    if before is None or known is None or before.czxid != after.czxid or before.version + 1 != after.version:
        return ""
    if state.leader_epoch > known.leader_epoch:
        return RAISED.format(controller=controller)
    if state.leader_epoch < known.leader_epoch or state.leader != known.leader or state.leader < 0:
        return ""
    if state.isr != known.isr:
        return BY_LEADER.format(leader=state.leader)
    return RECOVERED.format(leader=state.leader) if state.leader_recovery_state < known.leader_recovery_state else ""


def _state(path: str, version: Version) -> LeaderIsrAndControllerEpoch | None:
    payload = decode(path, version.data) if version.data is not None else None
    return payload if isinstance(payload, LeaderIsrAndControllerEpoch) else None
