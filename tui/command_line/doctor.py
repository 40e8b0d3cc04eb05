"""`kdrill doctor`: what this machine has of what kdrill needs, what is missing, and the command that mends it."""

import click
import msgspec

from model.cluster.visible_json import visible_json
from tui.command_line.doctor_fact import Fact, Look, this_machine
from tui.command_line.doctor_java import java_facts
from tui.command_line.doctor_machine import folder_facts, python_facts, resource_facts
from tui.command_line.doctor_terminal import between_facts, terminal_facts
from tui.command_line.doctor_tests import facts_for_tests
from tui.command_line.options import common_options
from tui.config import Config
from tui.keymap import remapped

FORMAT = "kdrill.doctor/1"
SIGNS = {"ok": "ok", "missing": "X", "note": "~"}
LOOKS: tuple[Look, ...] = (
    python_facts,
    java_facts,
    resource_facts,
    folder_facts,
    terminal_facts,
    between_facts,
    facts_for_tests,
)


@click.command()
@common_options
@click.option("--json", "as_json", is_flag=True, help="one kdrill.doctor/1 object")
def doctor(config: Config, as_json: bool) -> int:
    """What this machine has, what is missing, and the command that mends it. Exits 1 if something is missing.

    ok: it is there; ~: good to know; X: something will not work. Below ~ and X stands what to type.

    \b
    Example: kdrill doctor
    """
    machine = this_machine()
    facts = [*(fact for look in LOOKS for fact in look(machine)), _config(config)]
    if as_json:
        document = {"format": FORMAT, "facts": [fact._asdict() for fact in facts]}
        click.echo(visible_json(msgspec.json.encode(document)))
    else:
        for fact in facts:
            click.echo(f"{SIGNS[fact.state]:3}{fact.name:12}{_visible(fact.text)}")
            if fact.mend:
                click.echo(f"{'':15}{_visible(fact.mend)}")
    return int(any(fact.state == "missing" for fact in facts))


def _config(config: Config) -> Fact:
    if not config.path.exists():
        return Fact("config", "note", f"none at {config.path}")
    remapped(config)
    return Fact("config", "ok", f"{config.path}: {', '.join(config.clusters) or 'no clusters'}")


def _visible(text: str) -> str:
    """Names of folders may hold anything; what makes them harmless takes a package that may be missing."""
    if text.isascii() and text.isprintable():
        return text
    from tui.text import plain  # noqa: PLC0415

    return plain(text)
