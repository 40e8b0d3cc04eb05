"""How many files and connections this process may have open."""

import resource


def raise_file_limit() -> None:
    """As many as the system allows: the soft limit, often 1024, is there for programs that call select."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def file_limit() -> int:
    """How many may be open."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
