"""Releases of Kafka as numbers that can be compared. It knows none of them."""

import re


def release_numbers(release: str) -> tuple[int, ...]:
    """`0.8.2.2` as (0, 8, 2, 2), `3.9` as (3, 9, 0, 0); nothing for what is no release."""
    found = re.match(r"\d+(\.\d+)*", release)
    numbers = [int(number) for number in found[0].split(".")] if found else []
    return (*numbers, *[0] * (4 - len(numbers))) if numbers else ()
