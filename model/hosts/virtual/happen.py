"""What comes of each happening: a table. What is for a paused process waits; for one that is gone, it is nothing."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from model.hosts.virtual import deliveries, happenings, leaders, leaving, office, questions, sessions
from model.hosts.virtual.channels import try_again
from model.hosts.virtual.happenings import ForProcess, Happening
from model.hosts.virtual.process import Process
from model.hosts.virtual.world import World


def happen(world: World, happening: Happening) -> None:
    """Let it happen."""
    if not isinstance(happening, ForProcess):
        _TO_ALL[type(happening)](world, happening)
        return
    process = world.find(happening.broker, happening.number)
    if process is None:
        return
    if process.paused:
        world.put(process.replace(held=(*process.held, happening)))
    else:
        _TO_PROCESSES[type(happening)](world, process, happening)


_TO_ALL: Final[Mapping[type[Happening], Callable[[World, Any], None]]] = {
    happenings.SessionTimesOut: sessions.time_out,
    happenings.QuestionArrives: questions.arrive,
    happenings.RequestArrives: deliveries.serve,
    happenings.ControllerIsAsked: deliveries.be_asked,
}
_TO_PROCESSES: Final[Mapping[type[ForProcess], Callable[[World, Process, Any], None]]] = {
    happenings.AnswersArrive: sessions.hear_answers,
    happenings.WatchFires: sessions.hear_watch,
    happenings.Reconnects: sessions.reconnect,
    happenings.ChannelTries: try_again,
    happenings.AnswerArrives: deliveries.hear_answer,
    happenings.TimerFires: deliveries.fire_timer,
    happenings.LeaderLooks: leaders.look,
    happenings.LeaderWrites: leaders.write_isrs,
    happenings.FollowerLags: leaders.note_lag,
    happenings.ControllerReplies: deliveries.hear_reply,
    happenings.SomethingHappens: office.hear_from_outside,
    happenings.ShutdownGoesOn: leaving.go_on_shutting_down,
}
