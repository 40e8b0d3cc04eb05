"""What row one says of the moment that is looked at. Nothing old may look live, nor anything live old."""

import msgspec

from tui.data.messages import HeaderFacts, TimeAnswer
from tui.widgets.header_parts import Stance

_OF_THE_LINK = ("cluster", "source", "phase", "reason", "since_ms", "image_time_ms", "progress", "zookeeper", "spark")


def facts_then(live: HeaderFacts, past: TimeAnswer) -> HeaderFacts:
    """The cluster as it was then; how the source fares, as it is now."""
    return msgspec.structs.replace(past.header, **{name: getattr(live, name) for name in _OF_THE_LINK})


def stance(live: HeaderFacts, past: TimeAnswer | None, changes: int, *, mode: str, is_timed: bool) -> Stance:
    """`mode` is what the page is called anyway; a page that is not `is_timed` shows the newest moment all the same."""
    if past is None or mode:
        return Stance(mode=mode)
    word = "REPLAY" if live.phase == "snapshot" else "PAUSED"
    if not is_timed:
        return Stance(mode=word, detail=f"{past.clock}, but not here")
    if word == "REPLAY":
        return Stance(mode=word, detail=past.clock)
    return Stance(mode=word, detail=f"{past.clock}, {max(changes - past.changes, 0):,} new")
