"""What actions need, and why one can do nothing here and now: one table of conditions over the facts at hand.

Help, the footer, the palette and what a key says that cannot work read it. It knows no widget: whoever asks tells where
the operator is (`Here`).
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tui.engine.actions import ACTIONS, Action, sign_of
from tui.engine.messages import NO_WISH, SANDBOX, HeaderFacts
from tui.engine.questions import NO_DRILL, NO_PLAN
from tui.engine.view_state import LEVELS, ViewState, level_of


class Here(NamedTuple):
    """Where the operator is: all that decides whether a key can do something."""

    place: str
    facts: HeaderFacts = HeaderFacts()
    state: ViewState = ViewState()
    list_name: str = ""
    """The list at hand."""
    selected: str = ""
    """Key of the row under its cursor; empty where there is none."""
    main: str = ""
    """The same of the screen's main list."""
    orders: int = 2
    """In how many ways that list can be sorted, its own order included."""
    has_text: bool = True
    """Whether the screen has a text beside its lists."""
    clusters: int = 1
    """How many others the configuration names."""
    is_served: bool = False
    """Whether a browser shows it."""


class Need(NamedTuple):
    """`reason` is said where it does not hold; `{id}` in it stands for the key of that action."""

    reason: str
    holds: Callable[[Here], object]


def _group(here: Here) -> str:
    return here.state.of("group" if here.place == "consumers" else "lab-strategies").scope


def _is_invented(here: Here) -> bool:
    made_up = here.state.preview.made_up
    return made_up is not None and _group(here) in made_up.keys


def _is_tried(here: Here) -> bool:
    trial = here.state.trial
    return bool(trial.leaves or trial.joins or here.state.preview.made_up)


def _is_graph(here: Here) -> bool:
    return here.state.of("group").view.startswith("graph")


def _thing(here: Here) -> str:
    """The broker or rack that the cursor of the partition map is on, or what is picked."""
    state = here.state.of("partitions")
    is_far = level_of("partitions", state.view) >= LEVELS["partitions"].index(("brokers",))
    return here.selected if is_far else state.column or "".join(here.state.marked)


def _fails(here: Here) -> bool:
    plan = here.state.drill
    return plan.is_chosen


NOT_A_SANDBOX = "not a sandbox: start one with `kdrill sandbox`"
READ_ONLY = "read-only: start kdrill with --allow-writes"

_SESSIONS = Need(
    "KRaft has no ZooKeeper sessions: {wish('cut')} cuts the broker off, and it is fenced",
    lambda here: here.facts.generation != "kraft",
)
_HERE = Need(NO_WISH, lambda here: not here.is_served)
_SANDBOXED = Need(NOT_A_SANDBOX, lambda here: here.facts.kind == SANDBOX)
_SELECTED = Need("nothing is selected", lambda here: here.selected)
_MAIN = Need("nothing is selected", lambda here: here.main)
_ORDERED = Need("this list has one order", lambda here: here.orders > 1)
_TEXT = Need("this screen has no text to copy", lambda here: here.has_text)
_CLUSTERS = Need("the configuration names no other cluster", lambda here: here.clusters)
_NEVER = Need("there is nothing to go to from here", lambda _: False)
_OLD_GROUP = Need("an invented group exists only here", lambda here: not _is_invented(here))
_FINDINGS = Need("there are no findings", lambda here: here.facts.errors + here.facts.warnings)
_PAST = Need("this is the newest moment", lambda here: here.state.at)
_GROUP = Need("no consumer group is selected", _group)
_GRAPH = Need("only the graph has a zoom: {view} shows it", _is_graph)
_BROKER = Need("no broker is selected (l, or {zoom} zooms out)", _thing)
_SEEDED = Need("only random sequences have a seed", lambda here: here.state.sweep.fleet in ("all", "random"))
_FAILURE = Need("no failure is chosen: {kill} fails a broker", _fails)
_ASKED = Need("there is nothing to reset", lambda here: here.state.drill != NO_DRILL)
_CHANGED = Need("there is nothing to undo", lambda here: len(here.state.drills) > 1)
_TRIED = Need("nothing is tried yet", _is_tried)
NO_PLAN_YET = "there is no plan yet: make one on the plans' screen"
_PLAN_MADE = Need(NO_PLAN_YET, lambda here: here.state.plan.asked or here.state.forecast.plan)
_COMPARED = Need("nothing is played beside the cluster as it is", lambda here: here.state.forecast.is_changed)
_PLANNED = Need("there is no plan yet: enter makes one", lambda here: here.state.plan.asked)
_WISHED = Need("there is no plan to discard", lambda here: here.state.plan != NO_PLAN)
_REVIEW = Need("only in a review: {act} opens it", lambda here: here.list_name == "plan-batches")
_NO_REVIEW = Need("not during a review: {back} leaves it", lambda here: here.list_name != "plan-batches")

_LOGGED = Need("only KRaft has a metadata log: this cluster has none", lambda here: here.facts.generation == "kraft")
_RECORDED = Need(
    "no recording is open: :history DIR shows one", lambda here: here.facts.recording or here.state.history.folder
)

NEEDS: Mapping[str | tuple[str, str], tuple[Need, ...]] = {
    "sort": (_ORDERED,),
    "describe": (_SELECTED,),
    ("consumers", "describe"): (_GROUP,),
    ("lab", "describe"): (_GROUP,),
    ("logs", "describe"): (),
    "related": (_SELECTED,),
    ("sweep", "related"): (_NEVER,),
    "reseed": (_SEEDED,),
    ("lab", "related"): (_GROUP, _OLD_GROUP),
    ("forecast", "play"): (_PLAN_MADE,),
    ("forecast", "reset"): (_COMPARED,),
    ("history", "view"): (_RECORDED,),
    ("history", "act"): (_RECORDED,),
    ("history", "next_cluster"): (_RECORDED,),
    ("plans", "describe"): (_NO_REVIEW, _SELECTED),
    ("plans", "related"): (_NO_REVIEW, _SELECTED),
    ("consumers", "related"): (_GROUP,),
    "copy_text": (_TEXT,),
    "history": (_SELECTED,),
    "records": (_LOGGED,),
    ("consumers", "zoom"): (_GRAPH,),
    ("partitions", "pick"): (_BROKER,),
    ("plans", "pick"): (_REVIEW,),
    ("partitions", "kill"): (_BROKER,),
    ("controller", "kill"): (_MAIN,),
    ("sandbox", "kill"): (_HERE, _SANDBOXED, _MAIN),
    ("plans", "kill"): (_NO_REVIEW, _MAIN),
    "for_real": (
        _HERE,
        _SANDBOXED,
    ),
    ("partitions", "for_real"): (_HERE, _SANDBOXED, _BROKER),
    ("sandbox", "wish('terminate')"): (_HERE, _SANDBOXED, _MAIN),
    "wish('pause')": (_HERE, _SANDBOXED, _MAIN),
    "wish('expire')": (_HERE, _SANDBOXED, _SESSIONS, _MAIN),
    ("sandbox", "wish('cut')"): (_HERE, _SANDBOXED, _MAIN),
    "wish('brake')": (_HERE, _SANDBOXED, _MAIN),
    ("sandbox", "restart"): (_HERE, _SANDBOXED, _MAIN),
    ("sandbox", "failover"): (
        _HERE,
        _SANDBOXED,
    ),
    ("sandbox", "undo"): (
        _HERE,
        _SANDBOXED,
    ),
    ("sandbox", "reset"): (
        _HERE,
        _SANDBOXED,
    ),
    ("drill", "undo"): (_CHANGED,),
    ("drill", "reset"): (_ASKED,),
    ("drill", "step(-1)"): (_FAILURE,),
    ("drill", "step(1)"): (_FAILURE,),
    ("drill", "mark(-1)"): (_FAILURE,),
    ("drill", "mark(1)"): (_FAILURE,),
    ("drill", "time"): (_FAILURE,),
    ("drill", "play"): (_FAILURE,),
    "step(1)": (_PAST,),
    "mark(1)": (_PAST,),
    "acknowledge": (_FINDINGS,),
    ("lab", "reset"): (_TRIED,),
    ("lab", "act"): (_GROUP,),
    ("plans", "act"): (_PLANNED,),
    "by": (_NO_REVIEW,),
    ("plans", "policy"): (_NO_REVIEW,),
    ("plans", "reset"): (_NO_REVIEW, _WISHED),
    "clusters": (_CLUSTERS,),
}
"""(screen, action), or the action wherever no row says otherwise → what it needs; the first that fails is told.

An action without a row can always do something.
"""


def needs(action: Action, place: str) -> tuple[Need, ...]:
    """What an action needs at a place, the most telling first."""
    return NEEDS.get((place, action.id), NEEDS.get(action.id, ()))


def reason(action: Action, here: Here, actions: tuple[Action, ...] = ACTIONS) -> str:
    """Why this can do nothing here and now, in a few words; empty where it can. `actions`: those with the keys."""
    told = next((need.reason for need in needs(action, here.place) if not need.holds(here)), "")
    return told and told.format_map(_Signs(actions))


def reason_of_word(word: str, here: Here) -> str:
    """The same for a word behind `:`."""
    if here.is_served and word in WRITING | BREAKING:
        return NO_WISH
    if word in WRITING and not here.facts.allows_writes:
        return READ_ONLY
    return NOT_A_SANDBOX if word in BREAKING and here.facts.kind != SANDBOX else ""


WRITING = frozenset({"topics", "configs", "act", "reassign", "elect"})
"""Commands that change a cluster."""
BREAKING = frozenset({"fill", "corrupt", "rate", "failover", "audit", "save"})
"""Commands to a sandbox."""


class _Signs(dict[str, str]):
    """Action → its first key, as a person reads it."""

    def __init__(self, actions: tuple[Action, ...]) -> None:
        super().__init__()
        self._actions = actions

    def __missing__(self, id: str) -> str:
        return sign_of(id, self._actions)
