"""What is to be done in `kdrill drill`, as its options say it, in the order in which they stand."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import click
import msgspec

from model.cluster.cluster_image import ClusterImage
from model.drills.scenario import (
    Act,
    Deed,
    Folder,
    Scenario,
    controllers_named,
    folders_lost,
    machines_of_rack,
    of_acts,
    of_rack,
)

Command = Callable[..., Any]
LONGEST_TIME_MS = 86_400_000

_ORDER = "tui.cli.drill_acts.order"


class InOrder(click.Command):
    """A command that remembers the order of its options; click gives each option's values by themselves."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        ctx.meta[_ORDER] = [parameter.name for parameter in order]
        return super().parse_args(ctx, args)


class DrillActOption(NamedTuple):
    """What an option says is to be done; words of controllers and folders mean something only on a cluster."""

    deed: Deed
    brokers: tuple[int, ...] = ()
    controllers: str = ""
    folders: tuple[Folder, ...] = ()


def takes_acts(command: Command) -> Command:
    """Options of what is done, which an InOrder command gets as `wishes`, in their order on the command line."""

    def option(name: str, text: str, metavar: str = "ID[,ID...]") -> Callable[[Command], Command]:
        return click.option(f"--{name}", metavar=metavar, multiple=True, help=text)

    @option("kill", "brokers that fail together; may be repeated")
    @option("kill-controller", "voters of KRaft that fail: ids, the active one, or a majority", "ID[,ID...]|WORD")
    @option("fail-dir", "a log folder that fails, on KRaft; may be repeated", "BROKER:PATH")
    @option("stop", "brokers that shut down together in a controlled way")
    @option("start", "dead brokers that start together")
    @wraps(command)
    def with_wishes(**options: Any) -> Any:
        words = {name: iter(options.pop(name)) for name in _WISHES}
        order = click.get_current_context().meta[_ORDER]
        wishes = tuple(_WISHES[name](next(words[name])) for name in order if name in words)
        return command(wishes=wishes, **options)

    return with_wishes


def takes_wish(command: Command) -> Command:
    """All else that a scenario has, which the command gets as `wish`."""

    @click.option("--rack", help="all live brokers of this rack fail together, with the voters on their machines")
    @click.option(
        "--add-voter", metavar="ID[,ID...]", default="", help="as if these nodes were voters of KRaft as well"
    )
    @click.option("--remove-voter", metavar="ID[,ID...]", default="", help="as if these voters of KRaft were none")
    @click.option("--unclean", is_flag=True, help="allow unclean leader election on every topic")
    @click.option(
        "--restart-after",
        metavar="MS",
        type=click.FloatRange(min=0, max=LONGEST_TIME_MS),
        help="restart failed brokers this long after they failed",
    )
    @wraps(command)
    def with_wish(
        rack: str | None, add_voter: str, remove_voter: str, unclean: bool, restart_after: float | None, **others: Any
    ) -> Any:
        wish = Scenario(
            rack=rack,
            unclean=unclean,
            restart_after_ms=restart_after,
            add_voters=tuple(ids_in("add-voter", add_voter)) if add_voter else (),
            remove_voters=tuple(ids_in("remove-voter", remove_voter)) if remove_voter else (),
        )
        return command(wish=wish, **others)

    return with_wish


def acts_of(image: ClusterImage, wishes: Iterable[DrillActOption]) -> Iterator[Act]:
    """One act for each run of wishes that are alike. Raises ScenarioError."""
    for deed, group in groupby(wishes, key=attrgetter("deed")):
        some = list(group)
        if deed is Deed.LOSE:
            yield from folders_lost(image, [folder for each in some for folder in each.folders])
            continue
        ids = {broker for each in some for broker in each.brokers}
        ids.update(node for each in some if each.controllers for node in controllers_named(image, each.controllers))
        yield Act(deed, tuple(sorted(ids)))


def _folder(text: str) -> DrillActOption:
    broker, colon, path = text.partition(":")
    if not (broker.isascii() and broker.isdigit() and len(broker) < 11 and colon and path):
        raise click.UsageError(f"--fail-dir: {text!r} is not BROKER:PATH, as 3:/var/lib/kafka/d1")
    return DrillActOption(Deed.LOSE, folders=((int(broker), path),))


def _wish(deed: Deed) -> Callable[[str], DrillActOption]:
    return lambda text: DrillActOption(deed, tuple(ids_in(deed, text)))


def ids_in(option: str, text: str) -> Iterator[int]:
    for word in (part.strip() for part in text.split(",")):
        if not (word.isascii() and word.isdigit() and len(word) < 11):
            raise click.UsageError(f"--{option}: {word!r} is no broker id")
        yield int(word)


_WISHES: Mapping[str, Callable[[str], DrillActOption]] = {
    "kill": _wish(Deed.KILL),
    "kill_controller": lambda text: DrillActOption(Deed.KILL, controllers=text.strip()),
    "fail_dir": _folder,
    "stop": _wish(Deed.STOP),
    "start": _wish(Deed.START),
}
"""Parameter → what one of its values says."""


def scenario_of(image: ClusterImage, wish: Scenario, wishes: Iterable[DrillActOption]) -> Scenario:
    """What is wished for on this cluster; a rack fails first. Raises ScenarioError."""
    done = of_acts(acts_of(image, wishes))
    if wish.rack is None:
        return msgspec.structs.replace(wish, kill=done.kill, then=done.then)
    members = of_rack(image, wish.rack).kill
    kill = tuple(sorted({*members, *machines_of_rack(image, members)}))
    return msgspec.structs.replace(wish, kill=kill, then=done.acts)
