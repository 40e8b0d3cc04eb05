"""Who opened a connection between brokers: told by the client id of its first request. Pure.

A broker here says `broker-N-…`. A Java broker says `broker-N-fetcher-M` where it fetches (ReplicaFetcherManager, 3.9)
and only `N` where it is the controller or asks it (ControllerChannelManager, NodeToControllerChannelManager).
"""

import re
import struct

_START = struct.Struct(">ihhih")
"""Size, api key, version, correlation id, and the client id's length: the same in every header but ControlledShutdown
v0, which no broker of ours or of the last ten years sends."""
_SOURCE = re.compile(rb"(?:broker-)?(\d{1,10})(?:-|$)")


def source_broker(received: bytes) -> str | None:
    """The broker's id; empty where a request does not come from a broker; None while more bytes are needed."""
    if len(received) < _START.size:
        return None
    length = _START.unpack_from(received)[-1]
    if length <= 0:
        return ""
    client_id = received[_START.size : _START.size + length]
    if len(client_id) < length:
        return None
    found = _SOURCE.match(client_id)
    return found[1].decode() if found else ""
