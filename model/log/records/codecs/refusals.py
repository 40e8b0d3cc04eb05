"""Why a compressed stream was refused."""


class StreamError(ValueError):
    """The bytes are no complete stream of their codec; the message says why."""


class TooLargeError(ValueError):
    """The stream would grow beyond the bound."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"decompresses to more than {limit:,} bytes")
