"""What the control process and its client tell each other, one JSON object a line. Values only.

The client's first line is SandboxOptions; then come orders `{"id":1,"do":{"do":"kill","broker":2}}`. The process says
`{"ready":…}` or `{"failed":"…"}` once, and at any time events, states and answers, which may be in another order than
what was asked.
"""

import msgspec

from model.sandbox.control.state import SandboxEvent, SandboxReady, SandboxState
from model.sandbox.faults.faults import Deed
from model.sandbox.load.report import AuditReport


class Audit(msgspec.Struct, frozen=True, tag_field="ask", tag="audit"):
    """Stop producing, read every partition, and prove what became of the acknowledged records."""


class SessionScenario(msgspec.Struct, frozen=True, tag_field="ask", tag="scenario"):
    """All that was ordered so far, as the text of a scenario file."""


class Order(msgspec.Struct, frozen=True, omit_defaults=True):
    """Either a deed or a question."""

    id: int
    do: Deed | None = None
    ask: Audit | SessionScenario | None = None


class Done(msgspec.Struct, frozen=True):
    """What a deed did, as a sentence; `fault` is the number under which it can be undone, 0 if it can't."""

    text: str
    fault: int = 0


class Told(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of the control process: one of the fields is set, or `id` and one of the answers."""

    ready: SandboxReady | None = None
    failed: str | None = None
    event: SandboxEvent | None = None
    state: SandboxState | None = None
    id: int | None = None
    done: Done | None = None
    report: AuditReport | None = None
    scenario: str | None = None
    refused: str | None = None
