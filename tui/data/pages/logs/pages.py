"""Every list and text of the logs screen by its name; what can't be read is one line."""

import time
from collections.abc import Callable

from model.hosts.typed_path import typed_path
from spark_tasks.scans.folders import NothingToScanError
from tui.data.logs.kept_answers import KeptAnswers
from tui.data.logs.keys import key_of, parts_of
from tui.data.logs.reader import LogReader
from tui.data.logs.searches import BadTarget, TooFar, batch_found
from tui.data.messages import ListQuery, TextAnswer, TextQuery
from tui.data.pages.listing import Listing, Memory, window
from tui.data.pages.logs.batches import log_batches, log_records
from tui.data.pages.logs.lookup import tell_lookup
from tui.data.pages.logs.partitions import log_partitions
from tui.data.pages.logs.segments import log_segments
from tui.data.pages.logs.standing import tell_batch, tell_partition, tell_record, tell_segment
from tui.data.pages.sheets import Sheet
from tui.rows import Row, Window, line

NO_FOLDER = "logs are read on the machine that has them: :logs DIR, a broker's log folder (log.dirs) or one in it"
GONE = "choose a partition first"
NEAR = 1 << 20
"""Bytes before the batch that was found from which the list of batches may begin."""

_UNREADABLE = (NothingToScanError, OSError, TooFar, BadTarget)


class LogPages:
    """Used by one thread at a time."""

    def __init__(self, folder: str, clock: Callable[[], float] = time.monotonic) -> None:
        """`folder` as in `LogDesk`; `clock` counts seconds."""
        self._folder = folder
        self._kept = KeptAnswers(clock)
        self._reader = LogReader(clock)
        self._memory = Memory()

    def window(self, query: ListQuery, now_ms: int) -> Window:
        """The rows asked for."""
        return self._kept.answer(query, lambda: self._window(query, now_ms))

    def _window(self, query: ListQuery, now_ms: int) -> Window:
        try:
            if query.list == "log-lookup":
                return self._found(query)
            listing = self._listing(query)
        except _UNREADABLE as error:
            return Window(0, 0, (), note=_why(error))
        if listing is None:
            return Window(0, 0, (), note=NO_FOLDER if query.list == "log-partitions" else GONE)
        return window(listing, query, self._memory, now_ms)

    def text(self, query: TextQuery) -> TextAnswer:
        """The text asked for."""
        return self._kept.answer(query, lambda: self._text(query))

    def _text(self, query: TextQuery) -> TextAnswer:
        sheet = Sheet("Log", query.width)
        try:
            self._tell(sheet, query)
        except _UNREADABLE as error:
            sheet.say(_why(error), "warn")
        return sheet.answer()

    def _listing(self, query: ListQuery) -> Listing | None:
        """None where what it is about is not chosen yet."""
        if query.list == "log-partitions":
            place = query.scope or self._folder
            names = (str(typed_path(place)),) if place else ()
            return log_partitions(self._reader, self._reader.partitions(names)) if names else None
        if query.list == "log-segments":
            path = query.scope
            return log_segments(self._reader.log(path), path, query.view, query.width) if path else None
        if (parts := parts_of(query.scope, 2)) is None:
            return None
        path, (base, position) = parts
        if query.list == "log-batches":
            return log_batches(self._reader.batches(path, base, position), path, base)
        return log_records(self._reader.records(path, base, position), path, base, position)

    def _found(self, query: ListQuery) -> Window:
        """Two rows for a look-up that found a batch: the scope of the list of batches to show, and the batch's key.

        `query.filter` is what is looked for, `offset N` or `time T`, in the partition folder `query.scope`.
        """
        batch = batch_found(self._reader.look_up(query.scope, query.filter)) if query.scope else None
        if batch is None:
            return Window(0, 0, (), note="" if query.scope else GONE)
        base, start, position = batch
        scope = key_of(query.scope, base, start if position - start < NEAR else position)
        rows = Row(scope, (line(),)), Row(key_of(query.scope, base, position), (line(),))
        return Window(0, len(rows), rows)

    def _tell(self, sheet: Sheet, query: TextQuery) -> None:
        match query.about:
            case "log-partition" if query.key:
                tell_partition(sheet, self._reader.log(query.key))
            case "log-segment" if parts := parts_of(query.key, 1):
                log = self._reader.log(parts[0])
                for each in log.segments:
                    if each.base_offset == parts[1][0]:
                        tell_segment(sheet, log, each)
            case "log-batch" if parts := parts_of(query.key, 2):
                tell_batch(sheet, self._reader.records(parts[0], *parts[1]))
            case "log-record" if parts := parts_of(query.key, 3):
                path, (base, position, offset) = parts
                tell_record(sheet, self._reader.records(path, base, position), offset)
            case "log-lookup":
                path, _, wanted = query.key.rpartition("\t")
                tell_lookup(sheet, self._reader.look_up(path, wanted))
            case _:
                sheet.say("enter opens a partition, a segment, a batch, a record; esc goes back.", "dim")
                sheet.say(":offset N and :time T look a record up, and tell how it was found.", "dim")


def _why(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{error.filename}: not there any more (retention, a deletion); r looks again"
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error.strerror) if isinstance(error, OSError) and error.strerror else str(error)
