"""What can be asked of log folders. Values; both processes load this.

A row's key is a path, and numbers behind it: `tui.engine.logs.segments.key_of`.
"""

from tui.engine.messages import ListQuery, TextQuery


class LogPartitionList(ListQuery, frozen=True, kw_only=True):
    """Partition folders in the folder `scope`; empty: where the source's brokers have theirs."""

    name = "log-partitions"
    scope: str = ""


class LogSegmentList(ListQuery, frozen=True, kw_only=True):
    """Segments of the partition folder `scope`; `view` is table or bars."""

    name = "log-segments"
    scope: str = ""
    view: str = ""


class LogBatchList(ListQuery, frozen=True, kw_only=True):
    """Batches of the segment whose key is `scope`, from a byte on."""

    name = "log-batches"
    scope: str = ""


class LogRecordList(ListQuery, frozen=True, kw_only=True):
    """Records of the batch whose key is `scope`."""

    name = "log-records"
    scope: str = ""


class LogLookupList(ListQuery, frozen=True, kw_only=True):
    """The batch that a look-up finds in the partition folder `scope`: two rows, or none.

    Their keys are the `scope` of the list of batches to show, and the batch's own. `wanted`: `offset N` or `time T`.
    """

    name = "log-lookup"
    scope: str = ""
    wanted: str = ""


class LogPartitionText(TextQuery, frozen=True):
    name = "log-partition"


class LogSegmentText(TextQuery, frozen=True):
    name = "log-segment"


class LogBatchText(TextQuery, frozen=True):
    name = "log-batch"


class LogRecordText(TextQuery, frozen=True):
    name = "log-record"


class LogLookupText(TextQuery, frozen=True, kw_only=True):
    """How `wanted` was looked for in the partition folder that is the key."""

    name = "log-lookup"
    wanted: str = ""
