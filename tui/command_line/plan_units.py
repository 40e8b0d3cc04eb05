"""Bytes and times as plans write them: three digits that mean something, decimal units as disks and networks have."""

_BYTES = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def bytes_text(amount: int) -> str:
    """`0 B`, `52.4 MB`, `1.12 TB`."""
    power, value = 0, float(amount)
    while value >= 999.5 and power < len(_BYTES) - 1:
        power, value = power + 1, value / 1000
    digits = 0 if not power or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {_BYTES[power]}"


def duration_text(seconds: float) -> str:
    """`40 s`, `12 min`, `3 h 05 min`, `2 d 4 h`."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02} min"
    return f"{hours // 24} d {hours % 24} h"
