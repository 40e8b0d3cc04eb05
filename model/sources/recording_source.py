"""A moment of a recording as a source: tells everything once, and nothing ever changes; and the moments around it."""

from collections.abc import Iterator

from model.cluster.cluster_image import ClusterImage, records_of
from model.recordings.folder import RecordingError, said, the_cluster_in
from model.recordings.playback import Stretch, image_at, images, stretch_around
from model.sources.addresses import RecordingName
from model.sources.source import Batch, Sink, SourceError, SourceStatus

END_MS = 1 << 52
"""Later than anything was recorded."""


class RecordingSource:
    """The image at a recording's time. Raises SourceError where it cannot be read, or nothing is known of that time."""

    def __init__(self, name: RecordingName) -> None:
        self._name = name
        try:
            self._folder = the_cluster_in(name.path)
            self._image = image_at(self._folder, name.at_ms)
        except RecordingError as error:
            raise SourceError(str(error)) from None

    @property
    def name(self) -> str:
        return str(self._name)

    def open(self, sink: Sink) -> None:
        seen = self._image.provenance
        at_ms = self._name.at_ms or seen.time_ms
        sink.take(Batch(tuple(records_of(self._image)), seen.zxid, at_ms, listing=True))
        reason = f"recorded of {seen.source}, last change {said(seen.time_ms)}"
        sink.report(SourceStatus("snapshot", since_ms=at_ms, reason=reason, verified_ms=at_ms))

    @property
    def opened_ms(self) -> int:
        return END_MS if self._name.at_ms is None else self._name.at_ms

    def around(self, at_ms: int, most: int) -> Stretch:
        try:
            return stretch_around(self._folder, at_ms, most)
        except RecordingError as error:
            raise SourceError(str(error)) from None

    def images(self, from_ms: int, to_ms: int) -> Iterator[tuple[int, ClusterImage]]:
        try:
            yield from images(self._folder, from_ms, to_ms)
        except RecordingError as error:
            raise SourceError(str(error)) from None

    def close(self) -> None:
        """Nothing is open."""
