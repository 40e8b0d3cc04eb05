"""Sizes, verdicts and record contents as the logs screen words them."""

from collections import Counter
from collections.abc import Iterable, Sequence

from model.log.records import DamageKind
from spark_tasks.scans.findings import ZERO_TAIL
from spark_tasks.scans.meanings import MEANINGS
from tui.data.logs.checks import Check
from tui.data.pages.ages import clock_text, date_text
from tui.data.pages.sheets import Sheet
from tui.rows import Span, span

_UNITS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
HOLDS = "CRCs hold"
BAD_HEADERS = {DamageKind.BAD_CRC: "bad CRC", DamageKind.UNKNOWN_MAGIC: "bad magic"}
"""Kinds of damage that leave what follows readable, in a word or two."""
_UNDER_WAY = "In the newest segment of a running broker it may also be a write that is under way: r looks again."


def size_text(number: int) -> str:
    """`812 B`, `1.5 MiB`."""
    return next((f"{number / length:,.1f} {unit}" for unit, length in _UNITS if number >= length), f"{number} B")


def bytes_as_text(data: bytes | None, most: int = 200) -> str:
    """A key or value to be read: UTF-8, other bytes as escapes; `null` where there is none."""
    if data is None:
        return "null"
    return data[:most].decode("utf-8", "backslashreplace") + ("…" if len(data) > most else "")


def verdict(checks: Sequence[Check], segments: int) -> tuple[str, Span]:
    """Mark and words for segments of which this is known."""
    wrong = Counter[DamageKind]()
    for each in checks:
        wrong.update({kind: bad.count for kind, bad in each.headers.items()})
    damages = [each.damage for each in checks if each.damage is not None]
    if wrong:
        kind, count = wrong.most_common(1)[0]
        return "X", span(f"{count:,} {BAD_HEADERS[kind]}", "error")
    if damages:
        is_zero = all(damage.kind is DamageKind.ZEROS for damage in damages)
        return ("~", span("zeros at end", "warn")) if is_zero else ("X", span(f"{damages[0].kind} end", "error"))
    if len(checks) == segments and all(each.is_done for each in checks):
        return "", span(HOLDS, "ok") if any(each.batches for each in checks) else span("empty", "dim")
    return "", span("not checked" if not checks else "partly checked", "dim")


def tell_damage(sheet: Sheet, check: Check | None, *, is_active: bool) -> None:
    """What is wrong with a segment, what it means and what to do; or that nothing is."""
    if check is None or not (check.is_done or check.is_damaged):
        read = 0 if check is None else check.position
        sheet.fact("checked", f"{size_text(read)} so far; kdrill scan checks all", "dim")
    elif not check.is_damaged:
        batches = counted(check.batches, "batch", "batches")
        sheet.fact("checked", f"{batches}: lengths and CRCs hold; kdrill scan looks into records and indexes", "ok")
    if check is None:
        return
    for kind, bad in check.headers.items():
        first = ", ".join(f"at byte {position:,} (offset {offset:,})" for position, offset in bad.first[:3])
        cause = "" if kind is DamageKind.BAD_CRC else f": {bad.cause}"
        sheet.fact(BAD_HEADERS[kind], f"{counted(bad.count, 'batch', 'batches')}, {first}{cause}", "error")
        sheet.say(MEANINGS[kind])
    if check.damage is not None:
        tell_end(sheet, check.damage.position, check.damage.kind, check.damage.cause, is_active=is_active)


def tell_end(sheet: Sheet, position: int, kind: DamageKind, cause: str, *, is_active: bool) -> None:
    """Why nothing can be read from a position on."""
    is_room = kind is DamageKind.ZEROS and is_active
    sheet.fact("damage", f"at byte {position:,}: {cause}", "warn" if is_room else "error")
    sheet.say(MEANINGS[ZERO_TAIL if is_room else kind])
    if is_active and kind in (DamageKind.TORN, DamageKind.TRUNCATED):
        sheet.say(_UNDER_WAY, "dim")


def when(at_ms: int) -> str:
    """`2026-03-01 12:03:58.412Z`."""
    return f"{date_text(at_ms)[:10]} {clock_text(at_ms)}Z" if at_ms > 0 else "no time"


def counted(number: int, one: str, many: str = "") -> str:
    """`1 batch`, `3 batches`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(texts: Iterable[str], most: int = 12) -> str:
    """The first of some texts, commas between them."""
    every = list(texts)
    return ", ".join(every[:most]) + (f" and {len(every) - most:,} more" if len(every) > most else "")
