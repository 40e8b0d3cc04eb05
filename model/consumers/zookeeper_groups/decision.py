"""What was decided for one member. A value; carrying it out is the host's part."""

from collections.abc import Callable
from typing import Any

import msgspec

from model.consumers.zookeeper_groups.commands import AskZooKeeper, Command
from model.consumers.zookeeper_groups.happenings import Happening
from model.consumers.zookeeper_groups.member_state import MemberState
from model.consumers.zookeeper_groups.stages import Stage
from model.controller.zookeeper import Answer, ZooKeeperRequest

replace = msgspec.structs.replace


class MemberDecision(msgspec.Struct, frozen=True):
    """The member from now on, what to do, and what to tell: each happening is a sentence."""

    member: MemberState
    commands: tuple[Command, ...] = ()
    happenings: tuple[Happening, ...] = ()

    def then(self, step: Callable[[MemberState], "MemberDecision"]) -> "MemberDecision":
        """This, and what another step makes of it."""
        later = step(self.member)
        return MemberDecision(later.member, self.commands + later.commands, self.happenings + later.happenings)


Step = Callable[[MemberState, tuple[Answer, ...], int], MemberDecision]
"""What follows from the answers to the question that a member waits for, at a time in ms."""


def ask(member: MemberState, stage: Stage, *requests: ZooKeeperRequest, **more: Any) -> MemberDecision:
    """Ask ZooKeeper and wait for the answers in this stage. No requests: the answers come at once, and are none."""
    waiting = replace(member, stage=stage, asked=member.asked + 1)
    return MemberDecision(waiting, (AskZooKeeper(stage, waiting.asked, requests, **more),))


def aside(member: MemberState, stage: Stage, *requests: ZooKeeperRequest, **more: Any) -> MemberDecision:
    """Ask ZooKeeper beside whatever is waited for."""
    return MemberDecision(member, (AskZooKeeper(stage, 0, requests, **more),))
