"""A process is gone, whatever the reason: who waited for it notices."""

from model.hosts.virtual.channels import break_channels_to
from model.hosts.virtual.connections import note_silence
from model.hosts.virtual.happenings import ControllerIsAsked
from model.hosts.virtual.leaders import note_fetching
from model.hosts.virtual.process import Process
from model.hosts.virtual.replies import break_questions_to, leave_unanswered
from model.hosts.virtual.world import World


def remove_process(world: World, process: Process) -> None:
    """The process is gone, with all it knew and all it was sent. Its session lives on until it times out."""
    del world.processes[process.id]
    note_silence(world, process)
    break_channels_to(world, process.id)
    break_questions_to(world, process)
    for held in process.held:
        if isinstance(held, ControllerIsAsked):
            leave_unanswered(world, held.asker, held.asker_number, held.request)
    note_fetching(world)
