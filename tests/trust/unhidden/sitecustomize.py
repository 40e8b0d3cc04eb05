"""Python processes with this folder on their path hide no secret: a search for secrets has something to find there.

Never to be imported by a test: it would be off for all that come after.
"""

from model.cluster import texts


class Everything(frozenset[str]):
    """Holds whatever is asked for."""

    def __contains__(self, _: object) -> bool:
        return True


texts._HINTS = ()  # pyright: ignore[reportPrivateUsage]
texts._USER_QUOTAS = Everything()  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
