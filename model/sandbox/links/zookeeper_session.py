"""Ends somebody else's ZooKeeper session, as its expiry does: a session belongs to whoever knows its id and password.

Both are in the server's first answer, which a proxy has seen (ConnectResponse and ClientCnxn, ZooKeeper 3.4 to 3.9).
"""

import asyncio
import struct

import msgspec

_RESPONSE = struct.Struct(">iiiqi16s")
"""Length, protocol version, session timeout in ms, session id, length of the password, password."""
_REQUEST = struct.Struct(">iiqiqi16s?")
"""Length, protocol version, last zxid seen, session timeout in ms, session id, password's length, it, read-only."""
_CLOSE = struct.pack(">iii", 8, 1, -11)
"""Length, xid, `closeSession`."""


class ZooKeeperSession(msgspec.Struct, frozen=True):
    """What proves that a session is one's own."""

    id: int
    password: bytes
    timeout_ms: int


def session_in(greeting: bytes) -> ZooKeeperSession | None:
    """The session that a server's first bytes tell of; None where they tell of none."""
    if len(greeting) < _RESPONSE.size:
        return None
    _, version, timeout_ms, session, length, password = _RESPONSE.unpack_from(greeting)
    if version != 0 or length != 16 or not session:
        return None
    return ZooKeeperSession(session, password, timeout_ms)


async def end_session(session: ZooKeeperSession, host: str, port: int, timeout_s: float = 10.0) -> bool:
    """Take a session over and close it: its ephemeral znodes go at once. False where it was over already.

    Raises OSError: the server is not there, or does not answer in time.
    """
    async with asyncio.timeout(timeout_s):
        reader, writer = await asyncio.open_connection(host, port)
        try:
            size = _REQUEST.size - 4
            writer.write(_REQUEST.pack(size, 0, 0, session.timeout_ms, session.id, 16, session.password, False))
            answer = await _frame(reader)
            if session_in(answer) is None:
                return False
            writer.write(_CLOSE)
            await _frame(reader)
            return True
        except asyncio.IncompleteReadError:
            return False
        finally:
            writer.close()


async def _frame(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readexactly(4)
    return head + await reader.readexactly(struct.unpack(">i", head)[0])
