"""The order and the hash that Java's strings have. Knows nothing of Kafka, and takes no arrays.

Source: `java.lang.String.hashCode` and `compareTo` (17).
"""

from collections.abc import Iterable

_WORD = 0xFFFFFFFF


def in_name_order(texts: Iterable[str]) -> list[str]:
    """Texts as Java's `String.compareTo` sorts them."""
    texts = list(texts)
    if all(map(str.isascii, texts)):
        return sorted(texts)
    return sorted(texts, key=lambda text: text.encode("utf-16-be", "surrogatepass"))


def string_hash(text: str) -> int:
    """`String.hashCode` as an unsigned 32-bit number."""
    code = 0
    units: Iterable[int] = text.encode() if text.isascii() else _code_units(text)
    for unit in units:
        code = code * 31 + unit & _WORD
    return code


def signed(code: int) -> int:
    """The same 32 bits as Java's int."""
    return code - (1 << 32) if code >> 31 else code


def _code_units(text: str) -> Iterable[int]:
    data = text.encode("utf-16-be", "surrogatepass")
    return (high << 8 | low for high, low in zip(data[::2], data[1::2], strict=True))
