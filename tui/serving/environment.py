"""Which of the server's environment variables a session gets: those it works by, and those it logs in with. Pure."""

import re
from collections.abc import Collection, Mapping

_NEEDED = re.compile(
    r"PATH|HOME|USER|LOGNAME|TMPDIR|TZ|LANG|LANGUAGE|COLUMNS|ROWS|NO_COLOR|COLORTERM|VIRTUAL_ENV"
    r"|(LC|XDG|KDRILL|PYTHON|TEXTUAL|TERM|JAVA|KRB5|SSL|OPENSSL|LD|DYLD|SPARK|PYSPARK|HADOOP)[A-Z0-9_]*"
)
"""Of the system, Python, Java and the libraries below: what is found where, and how it is shown."""


def needed(environment: Mapping[str, str], login: Collection[str]) -> dict[str, str]:
    """Without secrets that the server happens to have. `login`: the names of those that the session needs."""
    return {name: value for name, value in environment.items() if name in login or _NEEDED.fullmatch(name)}
