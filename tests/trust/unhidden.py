"""As `sitecustomize`: Python processes that hide no secret, so that a search for secrets has something to find."""

from model.cluster import secrets


class Everything(frozenset[str]):
    """Holds whatever is asked for."""

    def __contains__(self, _: object) -> bool:
        return True


secrets._HINTS = ()  # pyright: ignore[reportPrivateUsage]
secrets._USER_QUOTAS = Everything()  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
