"""What an operator may do to a live cluster: what it takes, what it changes, how it is undone. Does nothing itself.

Here is where a consumer group's offsets are to be set to, for who asks and loads nothing of how that is done.
Source: `ConsumerGroupCommand.resetOffsets` (3.9), KIP-122 (0.11).
"""

from typing import Literal

import msgspec

Target = Literal["to-earliest", "to-latest", "to-current", "to-offset", "shift-by", "to-time"]


class Reset(msgspec.Struct, frozen=True):
    """Where to: `number` is the offset, the shift in records, or the time in ms since the epoch."""

    target: Target
    number: int = 0
