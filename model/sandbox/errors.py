"""What can go wrong with the sandbox, as one line a user can act on. It does not print and does not exit."""


class SandboxError(Exception):
    """The sandbox can't start or go on; the message is one line that names the cause and the way out."""


class ServerDiedError(SandboxError):
    """A server's process ended while it was starting."""
