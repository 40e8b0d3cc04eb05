"""A proposal as text for the screen, the last line saying what has to be typed. Does nothing."""

import re

from model.actions.proposal import ApiCall, Proposal, Step
from model.hosts.acting.audit_log import shown
from model.znodes.secrets import redact
from tui.data.messages import TextAnswer
from tui.data.pages.sheets import Sheet

MOST_LINES = 30
_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3}


def sheet_of(proposal: Proposal, width: int) -> TextAnswer:
    """What would be done, and how it is confirmed."""
    sheet = Sheet(proposal.title, width).say(proposal.title, "strong").gap()
    _listed(sheet, "changes", list(proposal.changes))
    for warning in proposal.warnings:
        sheet.fact("warning", warning, "warn")
    _listed(sheet, "sends", [step_text(step) for step in proposal.steps] or ["nothing"])
    if proposal.rollback:
        sheet.fact("undo", proposal.rollback)
    return sheet.gap().say(f"type {proposal.type_to_confirm or 'yes'} to do it, esc leaves it", "strong").answer()


def step_text(step: Step) -> str:
    """One request as a line, without secrets."""
    if isinstance(step, ApiCall):
        return f"{step.api} {shown(step)['fields']}"
    version = "" if step.version is None else f" (version {step.version})"
    data = f" {redact(step.path, step.after).decode(errors='replace')}" if step.after else ""
    return f"{step.operation} {step.path}{'*' if step.sequential else ''}{version}{data}"


def rate_of(text: str) -> int:
    """`50MB`, `500kB/s` as bytes/s; 0 for what is none."""
    found = re.fullmatch(r"(\d{1,12})\s*([kmg]?)b?(?:/s)?", text.strip().lower())
    return int(found[1]) * _UNITS[found[2]] if found else 0


def _listed(sheet: Sheet, name: str, texts: list[str]) -> None:
    more = len(texts) - MOST_LINES
    some = texts[:MOST_LINES] + ([f"… {more:,} more"] if more > 0 else [])
    for number, text in enumerate(some):
        sheet.fact(name if number == 0 else "", text)
