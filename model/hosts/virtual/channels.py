"""What controllers send to brokers: one request at a time and in order, again and again until it is answered.

Source: `kafka.controller.ControllerChannelManager`, `RequestSendThread` (3.9). A try that cannot succeed is not made:
it waits until the broker can be reached.
"""

import msgspec

from model.controller.commands import DropRequests, SendRequest
from model.hosts.virtual.journal import RequestLost, RequestsDropped, RequestSent
from model.hosts.virtual.process import Channel, Process, Queued
from model.hosts.virtual.scheduled_events import ChannelTries, RequestArrives
from model.hosts.virtual.virtual_broker import UNREGISTERED
from model.hosts.virtual.world import World


def send_request(world: World, process: Process, command: SendRequest) -> None:
    """Queue a request, and send it if nothing is before it."""
    channel = process.channels.get(command.broker, Channel())
    queued = Queued(world.next_number(), command.broker_epoch, command.request)
    put_channel(world, process, command.broker, msgspec.structs.replace(channel, queue=(*channel.queue, queued)))
    if not channel.busy:
        try_to_send(world, world.processes[process.id], command.broker)


def drop_requests(world: World, process: Process, command: DropRequests) -> None:
    """Forget what waits; what is on its way arrives, but nobody waits for the answer."""
    channel = process.channels.get(command.broker)
    if channel is None:
        return
    channels = {broker: other for broker, other in process.channels.items() if broker != command.broker}
    world.put(process.replace(channels=channels))
    if channel.queue:
        dropped = tuple(queued.exchange for queued in channel.queue)
        world.journal.append(RequestsDropped(world.now_ms, process.id, command.broker, dropped))


def try_to_send(world: World, process: Process, receiver: int) -> None:
    """Send the first of the queue, or wait until the broker can be reached."""
    channel = process.channels[receiver]
    if not channel.queue:
        return
    first = channel.queue[0]
    reachable = can_reach(world, process.id, receiver)
    channel = Channel(channel.queue, world.next_number(), True, not reachable)
    process = put_channel(world, process, receiver, channel)
    if not reachable:
        return
    world.journal.append(RequestSent(world.now_ms, process.id, receiver, first.exchange, first.request))
    arrives = RequestArrives(
        process.id, process.number, receiver, first.exchange, channel.attempt, first.broker_epoch, first.request
    )
    if not world.carry(process.id, receiver, world.assumptions.request_ms / 2, arrives):
        lose_request(world, process, receiver, channel.attempt)


def lose_request(world: World, process: Process | None, receiver: int, attempt: int) -> None:
    """The request or its answer is lost, if this is still the newest try: try again after the back-off."""
    channel = None if process is None else process.channels.get(receiver)
    if process is None or channel is None or channel.attempt != attempt or not channel.queue:
        return
    world.journal.append(RequestLost(world.now_ms, process.id, receiver, channel.queue[0].exchange))
    try_later(world, process, receiver)


def try_later(world: World, process: Process, receiver: int) -> None:
    """Try again after the back-off; what comes of the try before is ignored."""
    channel = process.channels[receiver]
    attempt = world.next_number()
    process = put_channel(world, process, receiver, Channel(channel.queue, attempt, True))
    tries = ChannelTries(process.id, process.number, receiver, attempt)
    world.after(world.assumptions.retry_backoff_ms, tries)


def try_again(world: World, process: Process, tries: ChannelTries) -> None:
    """The back-off is over."""
    channel = process.channels.get(tries.receiver)
    if channel is not None and channel.attempt == tries.attempt:
        try_to_send(world, process, tries.receiver)


def can_reach(world: World, sender: int, receiver: int) -> bool:
    """Whether a message would find somebody who listens. A paused broker does: it reads later."""
    process = world.processes.get(receiver)
    return process is not None and process.broker.epoch != UNREGISTERED and not world.is_cut(sender, receiver)


def wake_channels(world: World) -> None:
    """Brokers can be reached that could not before: what waited for them is sent."""
    for process in tuple(world.processes.values()):
        for receiver in tuple(process.parked()):
            if can_reach(world, process.id, receiver):
                try_later(world, world.processes[process.id], receiver)


def break_channels_to(world: World, receiver: int) -> None:
    """A broker's process is gone, and with it what it was sent and had not read yet."""
    for process in tuple(world.processes.values()):
        channel = process.channels.get(receiver)
        if channel is not None and channel.busy and not channel.parked and channel.queue:
            lose_request(world, process, receiver, channel.attempt)


def put_channel(world: World, process: Process, receiver: int, channel: Channel) -> Process:
    """The process with this channel to a broker."""
    return world.put(process.replace(channels={**process.channels, receiver: channel}))
