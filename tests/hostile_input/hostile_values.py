# ruff: noqa: E501, RUF001, RUF005 - tables of values
"""What breaks readers: numbers beyond every bound, texts that terminals obey, depths that recursion does not survive."""

from __future__ import annotations

NUMBERS = (
    "0", "-0", "-1", "1", "2", "127", "128", "-128", "255", "256", "32767", "-32768", "65536", "2147483647", "2147483648",
    "-2147483648", "-2147483649", "4294967295", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "-9223372036854775809", "18446744073709551616", "1e3", "1e15", "1e16", "1e17", "1e308", "1e309", "-1e999", "0.1", "1.0", "-0.0", "5e-324",
    "1" * 40, "9" * 400, "-" + "9" * 5000, "NaN", "Infinity", "-Infinity", "nan", "inf", "-inf", "0x10", "0o7", "1_000", "+5", "007",
    "1e" + "9" * 30, "253402300800000", "-62135596800001", "100000000000000000",
)  # fmt: skip
"""As texts write them; not all of them are numbers everywhere."""

TEXTS = (
    "", " ", "\x1b[2J\x1b[H", "\x1b]0;owned\x07", "\x9b31m", "a\r\nb", "a\nkdrill: b", "\t", "\x00", "\x7f", "\u202eevil\u2066", "\u200b\ufeff",
    "[bold red]x[/]", "[@click=app.quit]x", "日本語", "e\u0301\u0300", "👨‍👩‍👧", "\ue000", "\U0010ffff", "\u2028", "\u2029", "../../etc/passwd", "/", "//", ".", "..", "a/b",
    "%s%n", "${env:HOME}", "$(id)", "`id`", "'", '"', "\\", "x" * 300, "é" * 70_000, "__class__", "none", "null", "true", "-1", "0", "１２", "²", "٣",
    "1" * 5000, "2026-02-30T25:61:61Z", "9999-12-31T23:59:59Z", "a=b=c", ",", ",,,", ":", "::1", "[::1]:9092", "host:99999999", "host:-1", "PLAINTEXT://", "AAAAAAAAAAAAAAAAAAAAAA", "<default>",
)  # fmt: skip

DEEP = (
    "[" * 100_000,
    "[" * 900 + "]" * 900,
    '{"a":' * 20_000,
    '{"a":' * 500 + "1" + "}" * 500,
    "[[1]" + ",[1]" * 5_000 + "]",
)
"""JSON nested beyond what recursion survives, closed and not."""

JUNK = tuple(text.encode("utf-8", "surrogatepass") for text in TEXTS) + (
    b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", b"\x80", b"\xc3", b"\x00" * 64, b"\xff" * 64, b"\n" * 40,
)  # fmt: skip
"""Texts as bytes, and bytes that are no UTF-8."""
