"""What a follower does whose offset its leader does not have.

Source: `AbstractFetcherThread.fetchOffsetAndTruncate` (3.9).
"""

import msgspec

from model.broker.commands import RestartLog, TruncateLog
from model.broker.log_positions import LogPositions
from model.broker.replication.fetch_state import FetchState
from model.broker.replication.truncation import TruncationDecision


def out_of_range(state: FetchState, leader_start: int, leader_end: int, log: LogPositions) -> TruncationDecision:
    """A leader that ends before this log was elected uncleanly: records are lost here, too. One that starts after it
    has deleted what comes next: all is fetched anew from there."""
    if leader_end < log.end:
        fetching = msgspec.structs.replace(state, offset=leader_end, truncating=False)
        why = (
            f"{state.partition}: the leader's log ends at offset {leader_end}, {log.end - leader_end} records before "
            f"this one: they are cut off, as after an unclean election."
        )
        return TruncationDecision(fetching, (TruncateLog(state.partition, leader_end),), (why,))
    fetching = msgspec.structs.replace(state, offset=max(leader_start, log.end), truncating=False)
    if leader_start <= log.end:
        return TruncationDecision(fetching)
    why = f"{state.partition}: the leader's log starts at offset {leader_start}, past this one: all is fetched anew."
    return TruncationDecision(fetching, (RestartLog(state.partition, leader_start),), (why,))
