"""Answers that are longer than any payload should be, taken in piece by piece: payloads that are too large are let go
as they arrive, so that what is kept of an answer is never more than what can be used. Opens no socket.
"""

import struct
from collections.abc import Generator

from model.hosts.zookeeper.requests import (
    CUT_OUT,
    FAILED,
    KIND_AND_LENGTH,
    MAX_PAYLOAD_BYTES,
    GetData,
    MultiOp,
    MultiRead,
)
from model.hosts.zookeeper.znode_columns import STAT

MAX_KEPT_BYTES = 64 << 20
"""Of one answer; and of answers that are wanted together, where from here on only short payloads are kept. Assignments
of four million partitions have as much."""

SHORT_BYTES = 16 << 10
"""A payload of at most this length is short: an assignment of a thousand partitions."""

_HEADER_BYTES = 16
_ERROR = struct.Struct("!12xi")
_INT = struct.Struct("!i")
_HEAD = struct.Struct("!iBi")


class LongAnswer:
    """One frame on its way in. Raises ValueError, from `take`, where it is not what was asked for."""

    def __init__(self, length: int, request: object) -> None:
        """The next bytes are the frame, so many, which answers the request: see `can_be_cut`."""
        self._left = length
        self._kept = bytearray()
        self._reading = self._read(is_many=isinstance(request, MultiRead))
        self._wants = next(self._reading)

    def take(self, incoming: bytearray) -> bytes | None:
        """Takes what has arrived off `incoming`; returns the frame once it is whole, for the request to read."""
        at = 0
        try:
            while True:
                if abs(self._wants) > self._left or len(self._kept) > MAX_KEPT_BYTES:
                    raise ValueError(f"{abs(self._wants)} bytes announced, {self._left} sent")
                if self._wants < 0:
                    gone = min(-self._wants, len(incoming) - at)
                    at, self._left, self._wants = at + gone, self._left - gone, self._wants + gone
                if self._wants < 0 or len(incoming) - at < self._wants:
                    return None
                piece = bytes(memoryview(incoming)[at : at + self._wants])
                at, self._left = at + len(piece), self._left - len(piece)
                try:
                    self._wants = self._reading.send(piece)
                except StopIteration:
                    break
            if self._left:
                raise ValueError(f"{self._left} bytes are left behind the last answer")
            return bytes(self._kept)
        finally:
            del incoming[:at]

    def _read(self, *, is_many: bool) -> Generator[int, bytes]:
        """Asks for so many bytes, or below zero for so many to be let go, and keeps what can be used."""
        self._kept += (header := (yield _HEADER_BYTES))
        if _ERROR.unpack(header)[0]:
            return
        if not is_many:
            yield from self._payload(b"")
        while is_many:
            head = yield _HEAD.size
            kind, is_last, _ = _HEAD.unpack(head)
            if is_last:
                self._kept += head
                return
            if kind == FAILED:
                self._kept += head + (yield _INT.size)
            else:
                yield from self._payload(head)

    def _payload(self, head: bytes) -> Generator[int, bytes]:
        number = yield _INT.size
        length = _INT.unpack(number)[0]
        if length < -1:
            raise ValueError(f"{length} bytes announced")
        is_full = len(self._kept) > MAX_KEPT_BYTES - MAX_PAYLOAD_BYTES
        if length <= (SHORT_BYTES if is_full else MAX_PAYLOAD_BYTES):
            self._kept += head + number + (yield max(length, 0) + STAT.size)
            return
        yield -length
        yield STAT.size
        self._kept += KIND_AND_LENGTH.pack(CUT_OUT, length)


def can_be_cut(request: object) -> bool:
    """Whether payloads can be told from the rest in what answers this request."""
    return isinstance(request, GetData) or (isinstance(request, MultiRead) and request.op is MultiOp.GET_DATA)
