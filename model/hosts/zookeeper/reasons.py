"""The last failure kazoo logged, as one line for an operator: kazoo tells the reason nowhere else.

Not a log: nothing is written anywhere.
"""

import logging
import re


class LastReason(logging.Handler):
    """Remembers what went wrong last, and with which server."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.text = ""
        self.address = ""
        self.is_refusal = False
        """Whether it was a login or a certificate that was not taken; the client's own state is CLOSED soon after."""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.msg == "Connecting to %s(%s):%s, use_ssl: %r" and isinstance(record.args, tuple):
            self.address = f"{record.args[0]}:{record.args[2]}"
        elif record.levelno >= logging.WARNING and message != "Transition to CONNECTING":
            self.text = self._sentence(message, record)
            self.is_refusal |= message.startswith(_REFUSED)

    def _sentence(self, message: str, record: logging.LogRecord) -> str:
        if record.exc_info and record.exc_info[1]:
            return _one_line(f"{self.address}: {message}: {record.exc_info[1]!r}")
        for start, sentence in _SENTENCES.items():
            if message.startswith(start):
                detail = message.removeprefix(start)
                return _one_line(sentence.format(address=self.address, detail=_DETAILS.get(detail, detail)))
        return _one_line(message)


_REFUSED = "AUTH_FAILED closing: "
_SENTENCES = {
    "Cannot resolve ": "cannot resolve host {detail}",
    "Connection dropped: socket connection error: ": "{address}: {detail}",
    "Connection dropped: ": "{address}: {detail}",
    "Connection time-out: ": "{address}: no answer in time (not ZooKeeper, overloaded, or TLS on one side only?)",
    "Session has expired": "{address}: the session expired",
    _REFUSED: "{address}: authentication failed: {detail}",
}
_ERRNO = re.compile(r"\[Errno -?\d+\] ")
_DETAILS = {
    "None": "connecting timed out",
    "timed out": "connecting timed out",
    "socket connection broken": "the server closed the connection",
    "outstanding heartbeat ping not received": "the server stopped answering",
}


def _one_line(text: str) -> str:
    printable = "".join(char if char.isprintable() else " " for char in text)
    return _ERRNO.sub("", " ".join(printable.split())).rstrip(": ")


def private_logger(reason: LastReason) -> logging.Logger:
    """A logger nobody else hears, since the terminal belongs to the dashboard."""
    logger = logging.Logger("kazoo", logging.INFO)
    logger.addHandler(reason)
    return logger
