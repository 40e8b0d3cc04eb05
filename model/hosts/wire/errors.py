"""What goes wrong on the wire, as one line for an operator each."""


class WireError(Exception):
    """The connection is of no use any more, or never was."""


class MalformedError(WireError):
    """Bytes that are no message: too long, cut off, or not what the schema says. The connection must be closed."""


class UnavailableError(WireError):
    """No answer: not connected, connection lost on the way, or nothing in time. Worth trying again."""


class DeniedError(WireError):
    """The broker does not take who we say we are, or we do not trust its certificate. Trying again changes nothing."""


class UnsupportedVersionError(WireError):
    """The other side knows no version of a request that this one knows."""
