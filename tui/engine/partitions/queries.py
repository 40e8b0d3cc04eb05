"""What can be asked about topics and partitions. Values; both processes load this."""

from tui.engine.messages import PictureQuery, TimedList, TimedText


class PartitionList(TimedList, frozen=True, kw_only=True):
    """Every partition, with the map of replicas and brokers; or, from farther away, topics, brokers, racks."""

    name = "partitions"
    view: str = ""
    """matrix or list; topics, topics-other, brokers or racks."""
    offset: int = 0
    """First broker column of the map."""
    column: str = ""
    """What the cursor that goes across the map is on, one of its Across.things; empty: there is no such cursor."""
    marked: tuple[str, ...] = ()
    """What the operator marked: brokers, `b3`, and racks, `rack:r1`."""


class TopicList(TimedList, frozen=True):
    name = "topics"


class PartitionText(TimedText, frozen=True):
    name = "partition"


class TopicText(TimedText, frozen=True):
    name = "topic"


class PartitionPicture(PictureQuery, frozen=True, kw_only=True):
    """All partitions at a glance; `key` is the partition or topic whose place is shown."""

    name = "partitions-picture"
    at: int = 0
    """As of TimedText."""
