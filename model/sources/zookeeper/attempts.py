"""How the attempts at a whole picture have fared: how far the best one came, and whether another one can help. Pure."""

from model.hosts.zookeeper.meter import Usage
from model.hosts.zookeeper.settings import hosts_of
from model.sources.source import Progress
from model.sources.zookeeper.address import ZooKeeperAddress

TRIALS = 3
"""So often every server of an ensemble may answer the same question by garbage."""

BEHIND = "the server knows less than it has told before: its data was put back, or it is not to be trusted"


class Attempts:
    """Counts answers of one attempt at a time. What an attempt is told again is no progress until it is farther."""

    def __init__(self) -> None:
        self._since: Usage | None = None
        """Before the attempt under way."""
        self._best = 0, 0
        self._unread = ""

    def begin(self, usage: Usage) -> None:
        """Everything is read from its beginning."""
        self._since = usage

    def fail(self, usage: Usage, unread: str) -> None:
        """That came to nothing; `unread` was asked for."""
        self._best, self._since = self._reached(usage), None
        self._unread = unread or self._unread

    def progress(self, usage: Usage) -> Progress:
        """Of all attempts."""
        answers, pieces = self._reached(usage)
        return Progress(answers, pieces, usage.connections, self._unread)

    def _reached(self, usage: Usage) -> tuple[int, int]:
        """Answers, and pieces of long ones."""
        if (since := self._since) is None:
            return self._best
        return max(self._best, (usage.answers - since.answers, usage.pieces - since.pieces))


class Trust:
    """Whether what went wrong with the servers of an address can become right by trying again."""

    def __init__(self, address: ZooKeeperAddress) -> None:
        self._hosts = len(hosts_of(address.hosts))
        self._forgiven = 0

    def why_hopeless(self, usage: Usage, reason: str = "") -> str:
        """Why another attempt cannot help, one line with the last `reason` in it; empty where it may."""
        behind = usage.behind - self._forgiven
        if behind >= (1 if self._hosts == 1 else TRIALS * self._hosts):
            return BEHIND
        if usage.garbled >= TRIALS * self._hosts:
            return f"{reason or 'the answers are garbled'} ({usage.garbled} times the same)"
        return ""

    def forgive(self, usage: Usage) -> None:
        """Everything was read since: what a server knew before it does not matter any more."""
        self._forgiven = usage.behind
