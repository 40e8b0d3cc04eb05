"""One sandbox, for as long as the dashboard is open on it: how it stands, what happened, and what it is told to do."""

from collections.abc import Callable

from model.cluster.changes import Change
from model.cluster.changes.change import SEVERITY
from model.cluster.whole_file import write_whole
from model.hosts.typed_path import typed_path
from model.sandbox.cluster.options import SandboxOptions
from model.sandbox.control.client import SandboxClient
from model.sandbox.control.state import SandboxEvent, SandboxState
from model.sandbox.errors import SandboxError
from model.sandbox.load.report import AuditReport
from tui.data.messages import TextAnswer, Wish
from tui.data.sandbox.wishes import Impossible, deed_of


class SandboxDesk:
    """Used on one event loop. The sandbox ends with `close`, or with this process."""

    def __init__(self, options: SandboxOptions) -> None:
        """Begins to start it; `open` waits for it."""
        self._client = SandboxClient(options)
        self._news: Callable[[], object] = _ignore
        self._note: Callable[[Change], object] = _ignore
        self._early: list[Change] = []
        self.bootstrap = ""
        """The brokers' addresses, once it is open."""
        self.folder = ""
        """Where its processes have their files, once it is open."""

    @property
    def state(self) -> SandboxState:
        """How it stands."""
        return self._client.state

    async def open(self, progress: Callable[[str], object]) -> str:
        """Waits until every broker serves; returns the source to watch it by. Raises SandboxError.

        `progress` is told in a line what is waited for.
        """
        self._news = lambda: progress(_starting(self.state))
        self._note = self._early.append
        ready = await self._client.open(self._happened, self._stands)
        self.bootstrap, self.folder = ready.bootstrap, ready.dir
        return f"zk://{ready.zookeeper}"

    def tell(self, note: Callable[[Change], object], news: Callable[[], object]) -> None:
        """Whom to tell what happens from now on, and what has happened: `note` events, `news` that it stands anew."""
        for change in self._early:
            note(change)
        self._early.clear()
        self._note, self._news = note, news

    async def do(self, wish: Wish) -> TextAnswer:
        """Does it; the answer's title is the sentence that says what was done, or why nothing was."""
        try:
            if wish.verb == "audit":
                return TextAnswer(_proved(await self._client.audit()))
            if wish.verb == "save":
                return TextAnswer(await self._save(wish.about))
            return TextAnswer((await self._client.do(deed_of(self.state, wish.verb, wish.about))).text)
        except (Impossible, SandboxError) as error:
            return TextAnswer(str(error))

    async def close(self) -> None:
        """Ends the sandbox and all in it."""
        self._note = self._news = _ignore
        await self._client.close()

    async def _save(self, path: str) -> str:
        try:
            write_whole(typed_path(path), (await self._client.scenario()).encode())
        except OSError as error:
            return f"cannot write {path}: {error.strerror}"
        return f"{path} has all that was done: kdrill sandbox --scenario {path}"

    def _stands(self, _: SandboxState) -> None:
        self._news()

    def _happened(self, event: SandboxEvent) -> None:
        kind, crashed = f"sandbox-{event.kind}", bool(event.details)
        text = f"{event.text}: {event.details[-1]}" if crashed else event.text
        self._note(Change(kind, event.subject, text, "error" if crashed else SEVERITY[kind], event.at_ms))
        self._news()


def _ignore(*_: object) -> None:
    """Nobody is told."""


def _proved(report: AuditReport) -> str:
    if report.unread:
        return f"{len(report.unread)} partitions could not be read: {report.unread[0]}"
    if report.is_clean:
        return f"all {report.acknowledged:,} acknowledged records are there, once and in order"
    return (
        f"of {report.acknowledged:,} acknowledged records {report.lost:,} are lost, "
        f"{report.duplicated:,} duplicated, {report.reordered:,} out of order"
    )


def _starting(state: SandboxState) -> str:
    waiting = [process.name for process in state.processes if process.status == "starting"]
    return ", ".join(waiting)
