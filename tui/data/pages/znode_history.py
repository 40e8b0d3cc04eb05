"""What a znode was: the values that were seen of it, newest first, each with its difference from the one before."""

from collections.abc import Mapping, Sequence

from model.znodes.catalogue import SECRET_KINDS
from model.znodes.history import PATH_VERSIONS, TOTAL_BYTES, Version
from model.znodes.paths import recognise
from model.znodes.payload_diff import differences, told
from model.znodes.state_writer import NOBODY_KNOWN, state_writer
from tui.data.messages import TextAnswer
from tui.data.pages.ages import stamp_text
from tui.data.pages.sheets import Sheet, shortened

MOST_DIFFERENCES = 40
"""Differences told of one value; the rest is counted."""

MOST_CHARACTERS = 2_000
"""Of a difference or a whole value."""

BOUNDS = (
    f"Values that kdrill saw since it began to look: up to {PATH_VERSIONS} of a znode, and {TOTAL_BYTES // 2**20} MiB "
    "of all znodes; what changed longest ago goes first."
)


def znode_history(
    path: str, versions: Sequence[Version], width: int, controllers: Mapping[int, int] = NOBODY_KNOWN
) -> TextAnswer:
    """The values of one znode, given oldest first; `controllers` says which broker had which controller epoch."""
    sheet = Sheet(path, width)
    if not versions:
        sheet.say("no value of it is remembered", "warn").gap()
    for index in range(len(versions) - 1, -1, -1):
        # What came after a deletion is compared with what was before it.
        before = next((one for one in reversed(versions[:index]) if one.data is not None), None)
        _value(sheet, path, before, versions[index])
        writer = state_writer(path, before, versions[index], controllers)
        if writer:
            sheet.say(writer, "dim")
        sheet.gap()
    return sheet.say(BOUNDS.replace("znode", "node") if _is_told(versions) else BOUNDS, "dim").answer()


def _is_told(versions: Sequence[Version]) -> bool:
    """Whether brokers told it: no transaction made it."""
    return any(version.czxid < 0 for version in versions if version.data is not None)


def _value(sheet: Sheet, path: str, before: Version | None, version: Version) -> None:
    if version.data is None:
        sheet.draw((stamp_text(version.at_ms), "strong"), ("  gone", "removed"), (", noticed then", "dim"))
        return
    zxid = "" if version.czxid < 0 else f"  mzxid={version.mzxid:#x}"
    sheet.draw((stamp_text(version.at_ms), "strong"), f"  v{version.version}", (zxid, "dim"))
    if before is None or before.data is None:
        sheet.say("created" if version.is_created else "the oldest value remembered", "dim")
        sheet.say(shortened(version.data.decode(errors="backslashreplace"), MOST_CHARACTERS) or "no data")
    else:
        _difference(sheet, path, before, before.data, version, version.data)


def _difference(sheet: Sheet, path: str, before: Version, old: bytes, version: Version, new: bytes) -> None:
    if before.czxid != version.czxid:
        sheet.say("created anew; against the value before:", "added")
    elif version.version - before.version > 1:
        missed = version.version - before.version - 1
        sheet.say(f"{missed:,} write{'s' if missed > 1 else ''} in between not seen", "warn")
    found = differences(old, new)
    for difference in found[:MOST_DIFFERENCES]:
        sheet.say(shortened(told(difference), MOST_CHARACTERS), "changed")
    if len(found) > MOST_DIFFERENCES:
        sheet.say(f"{len(found) - MOST_DIFFERENCES:,} differences more", "dim")
    if not found:
        hides = recognise(path).kind in SECRET_KINDS
        sheet.say("written; no difference that may be shown" if hides else "the same value, written again", "dim")
