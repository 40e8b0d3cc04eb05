"""`/controller` and `/controller_epoch`: who the controller is, and how many there have been.

Source: `kafka.zk.ControllerZNode`, `kafka.zk.ControllerEpochZNode` (3.9); KIP-866 (kraftControllerEpoch, 3.4);
`kafka.controller.KafkaController.parseControllerId` (0.8) for the bare number of early 0.8 releases.
"""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from model.znodes.payload import (
    INT32_MAX,
    BrokerIdOrNone,
    Epoch,
    JsonCodec,
    JsonPayload,
    LeftOut,
    TextPayload,
    Timestamp,
    Version,
    millis,
    whole_number,
)
from model.znodes.reasons import UnusablePayloadError

BARE_NUMBER = 0
"""The version we give to the early form, a bare broker id."""


class ControllerRegistration(JsonPayload, frozen=True, kw_only=True):
    """v1 (0.8): broker id and timestamp; v2 (3.4) adds the KRaft controller's epoch, -1 outside a migration."""

    version: Version = 1
    broker_id: BrokerIdOrNone = msgspec.field(name="brokerid")
    timestamp: Timestamp = None
    kraft_controller_epoch: Epoch | None = msgspec.field(name="kraftControllerEpoch", default=None)

    left_out: ClassVar[Mapping[str, LeftOut]] = {
        "timestamp": LeftOut(None),
        "kraftControllerEpoch": LeftOut(None),
    }

    @property
    def elected_ms(self) -> int | None:
        """When it was elected, ms since the epoch."""
        return millis(self.timestamp)

    def to_bytes(self) -> bytes:
        if self.version == BARE_NUMBER:
            return b"%d" % self.broker_id
        return super().to_bytes()


class ControllerEpoch(TextPayload, frozen=True):
    """The number of controllers elected so far; it fences writes of earlier ones."""

    epoch: int

    def to_bytes(self) -> bytes:
        return b"%d" % self.epoch


_decode_json = JsonCodec(ControllerRegistration)


def decode_controller(data: bytes) -> ControllerRegistration:
    """The controller; raises UnusablePayloadError."""
    if data.lstrip().startswith(b"{"):
        return _decode_json(data)
    broker_id = whole_number(data)
    if not -1 <= broker_id <= INT32_MAX:
        raise UnusablePayloadError("the broker id is out of range")
    return ControllerRegistration(version=BARE_NUMBER, broker_id=broker_id)


def decode_controller_epoch(data: bytes) -> ControllerEpoch:
    """The epoch; raises UnusablePayloadError."""
    epoch = whole_number(data)
    if not 0 <= epoch <= INT32_MAX:
        raise UnusablePayloadError("is out of range")
    return ControllerEpoch(epoch)
