"""What can be asked of the sandbox, and wished of it. Values; both processes load this."""

from tui.engine.messages import ListQuery, PictureQuery, TextQuery, Wish

NO_SANDBOX = "Not a sandbox: faults are disabled. Start one with `kdrill sandbox`"


class ProcessList(ListQuery, frozen=True):
    name = "sandbox-processes"


class LinkList(ListQuery, frozen=True):
    name = "sandbox-links"


class ClusterPicture(PictureQuery, frozen=True):
    """The cursor is on the process whose name is the key."""

    name = "cluster-picture"


class SandboxText(TextQuery, frozen=True):
    name = "sandbox"


class ProcessText(TextQuery, frozen=True):
    name = "sandbox-process"


class SandboxWish(Wish, frozen=True):
    """`verb` is one of `tui.engine.sandbox.service.WISHES`, audit or save.

    `about` is the key of a row of the lists above, or what was typed behind a command.
    """

    verb: str
    about: str = ""
