"""A controller hears of an event, and what it decides is carried out, command by command."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from model.controller.commands import (
    AnswerRequest,
    AskZooKeeper,
    CancelTimer,
    DropRequests,
    SendRequest,
    StartTimer,
)
from model.controller.decide import decide
from model.controller.events import Event
from model.hosts.virtual.channels import drop_requests, send_request
from model.hosts.virtual.journal import ControllerElected, ControllerResigned, Reasoned
from model.hosts.virtual.process import Process
from model.hosts.virtual.questions import ask_zookeeper
from model.hosts.virtual.replies import answer_request
from model.hosts.virtual.scheduled_events import Timer, TimerFires
from model.hosts.virtual.world import World


def hear(world: World, process: Process, event: Event) -> None:
    """Let a process's controller decide on an event, and do all of what it decides."""
    decision = decide(process.controller, msgspec.structs.replace(event, at_ms=world.time_ms))
    before, after = process.controller.context, decision.state.context
    world.put(process.replace(controller=decision.state))
    if before.active and (before.epoch != after.epoch or not after.active):
        world.journal.append(ControllerResigned(world.now_ms, process.id, before.epoch))
    if after.active and (before.epoch != after.epoch or not before.active):
        world.journal.append(ControllerElected(world.now_ms, process.id, after.epoch))
    world.journal.extend(Reasoned(world.now_ms, process.id, why) for why in decision.reasons)
    for command in decision.commands:
        _CARRY_OUT[type(command)](world, world.processes[process.id], command)


def _ask(world: World, process: Process, command: AskZooKeeper) -> None:
    ask_zookeeper(world, process, command.question, command.requests)


def _start_timer(world: World, process: Process, command: StartTimer) -> None:
    timer = Timer(world.schedule.now_us, command.after_ms)
    world.put(process.replace(timers={**process.timers, command.timer: timer}))
    fires = TimerFires(process.id, process.number, command.timer, timer)
    world.after(command.after_ms, fires, idle=True)


def _cancel_timer(world: World, process: Process, command: CancelTimer) -> None:
    timers = {name: timer for name, timer in process.timers.items() if name != command.timer}
    world.put(process.replace(timers=timers))


_CARRY_OUT: Final[Mapping[type, Callable[[World, Process, Any], None]]] = {
    AskZooKeeper: _ask,
    SendRequest: send_request,
    StartTimer: _start_timer,
    CancelTimer: _cancel_timer,
    AnswerRequest: answer_request,
    DropRequests: drop_requests,
}
