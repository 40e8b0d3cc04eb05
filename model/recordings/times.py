"""Times as people write them: ms since epoch ⇄ `2026-11-20T12:03:58Z`. Reads no clock."""

from datetime import UTC, datetime


def said(at_ms: int) -> str:
    """In UTC, with milliseconds where there are any; what no calendar has is said as a number."""
    try:
        at = datetime.fromtimestamp(at_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{at_ms:,} ms"
    text = at.isoformat(timespec="milliseconds" if at_ms % 1000 else "seconds")
    return text.replace("+00:00", "Z")


def parse_time(text: str) -> int:
    """ms of a day or a time in ISO 8601; UTC where no offset is given. Raises ValueError."""
    parsed = datetime.fromisoformat(text)
    at_ms = round((parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp() * 1000)
    if at_ms < 0:
        raise ValueError("before 1970")
    return at_ms
