"""What following costs the server, from totals of a session at two times. Pure."""

from model.hosts.zookeeper.meter import Usage
from model.sources.source import Cost


def cost_between(before: Usage, after: Usage, seconds: float, watches: int) -> Cost:
    """What it cost a second, in the `seconds` between the two."""
    return Cost(
        requests_per_s=round((after.requests - before.requests) / seconds, 1),
        received_bytes_per_s=round((after.bytes_in - before.bytes_in) / seconds),
        sent_bytes_per_s=round((after.bytes_out - before.bytes_out) / seconds),
        in_flight=after.in_flight,
        watches=watches,
        latency_ms=round(after.courtesy.latency_ms, 1),
        is_holding_back=after.courtesy.is_holding_back,
    )
