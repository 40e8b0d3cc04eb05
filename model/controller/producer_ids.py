"""Which producer ids a broker gets next. Blocks follow each other without gaps; it reads and writes no znode.

Source: `kafka.coordinator.transaction.ZkProducerIdManager.getNewProducerIdBlock` (3.9); KIP-730 (3.0).
"""

from model.controller.refusal import Refusal
from model.znodes.cluster import ProducerIdBlock, decode_producer_id_block
from model.znodes.payload import INT64_MAX
from model.znodes.reasons import UnusablePayloadError

BLOCK_SIZE = 1000
"""Producer ids in a block."""


def next_block(newest: bytes, broker: int) -> ProducerIdBlock | Refusal:
    """The block for `broker` after the `newest` one, as its znode holds it: empty before the first."""
    if not newest:
        return _block(broker, 0)
    try:
        last = decode_producer_id_block(newest).last_id
    except UnusablePayloadError as reason:
        return Refusal("UNKNOWN_SERVER_ERROR", f"the newest block of producer ids cannot be read: {reason}")
    if last > INT64_MAX - BLOCK_SIZE:
        return Refusal("UNKNOWN_SERVER_ERROR", "all producer ids are given out")
    return _block(broker, last + 1)


def _block(broker: int, first: int) -> ProducerIdBlock:
    return ProducerIdBlock(broker=broker, block_start=str(first), block_end=str(first + BLOCK_SIZE - 1))
