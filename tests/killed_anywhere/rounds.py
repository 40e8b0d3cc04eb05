"""Rounds: a program, a moment, a victim; then what was told of it, and what is left of it."""

from __future__ import annotations

import random
import re
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from tests.killed_anywhere.programs import PROGRAMS, Program
from tests.killed_anywhere.session import LOOK_S, PATIENCE_S, Session
from tests.progress import Tell

Phase = Literal["start", "run", "stop"]
PHASES: tuple[Phase, ...] = ("start", "run", "stop")
WAYS = ("SIGTERM", "hang up", "Q")
LATER_S = 0.6


class Round(NamedTuple):
    """What was done, and what was wrong afterwards."""

    program: str
    phase: Phase
    victim: str
    gone_s: float
    """From the SIGKILL, or from the order to end that followed, until nothing was left."""
    wrong: Sequence[str]

    def __str__(self) -> str:
        verdict = "; ".join(self.wrong) or f"gone in {self.gone_s:.1f} s"
        return f"{self.program}, {self.phase}, {self.victim}: {verdict}"


def play(dice: random.Random, program: Program, phase: Phase, folder: Path) -> Round:
    """One round in a folder that rounds share."""
    with Session(program, folder) as session:
        if wrong := _begin(dice, session, phase):
            return Round(program.name, phase, "nobody", 0, wrong)
        processes = session.processes()
        victim = _victim(dice, session.pid, processes)
        kind = "program" if victim == session.pid else processes[victim]
        if victim == session.pid and dice.random() < 0.3:
            kind = "process group"
            session.kill_group()
        session.kill(victim)
        if victim != session.pid and phase != "stop":
            wrong += _told(session, kind, phase)
            session.end_in_order(dice.choice(WAYS))
        began_s = time.monotonic()
        wrong += session.until_nothing_is_left()
        if b"Traceback" in session.said_in_all:
            wrong.append(f"a traceback: {session.last_words[-3000:]}")
        return Round(program.name, phase, kind, time.monotonic() - began_s, wrong)


def _begin(dice: random.Random, session: Session, phase: Phase) -> list[str]:
    """Waits until it is as the phase wants it; what is wrong already."""
    at_least = dice.randint(1, session.program.processes)
    deadline = time.monotonic() + PATIENCE_S
    while not session.program.shows(session.text):
        if session.has_ended() or time.monotonic() > deadline:
            return [f"did not start: {session.text.strip()}"]
        if phase == "start" and len(session.processes()) >= at_least:
            break
        time.sleep(LOOK_S)
    if phase == "stop":
        session.end_in_order(dice.choice(WAYS))
    time.sleep(dice.uniform(0, LATER_S))  # the moment is to be any
    return []


def _victim(dice: random.Random, program: int, processes: dict[int, str]) -> int:
    """Any process; the program itself, and each kind, as often as others of which there are many."""
    others = sorted({kind for pid, kind in processes.items() if pid != program})
    if not others or dice.random() < 0.3:
        return program
    kind = dice.choice(others)
    return dice.choice(sorted(pid for pid, each in processes.items() if each == kind and pid != program))


def _told(session: Session, kind: str, phase: Phase) -> list[str]:
    """Waits until the death of a child is read; what was not told, or not in one line. Whoever ends says why."""
    words, shows = session.program.told.get(kind), session.program.shows
    may_come_up = phase != "run" or words is None  # a child that is killed early may be started once more
    deadline = time.monotonic() + PATIENCE_S
    while not session.has_ended():
        if (may_come_up and shows(session.text)) or (words is not None and re.search(words, session.text)):
            return []
        if time.monotonic() > deadline:
            return [f"{kind} was killed, and nothing was told:\n{session.text}"]
        time.sleep(LOOK_S)
    code = session.exit_code()
    said = session.last_words.strip()
    return (
        []
        if code == 1 and said.rpartition("\n")[2].startswith("kdrill: ")
        else [f"ended with {code} and said: {said[-2000:]}"]
    )


def play_rounds(
    rounds: int, seed: int, folder: Path, tell: Tell, programs: Sequence[Program] = PROGRAMS
) -> list[Round]:
    """So many rounds, every program and phase in turn; then every program starts and ends once more in order."""
    dice = random.Random(seed)
    played: list[Round] = []
    for number in range(rounds):
        program = programs[number % len(programs)]
        phase = PHASES[number // len(programs) % len(PHASES)]
        played.append(play(random.Random(dice.random()), program, phase, folder))
        tell(f"round {number + 1} of {rounds}: {played[-1]}")
        if played[-1].wrong:
            for each in (folder / "tmp", folder / "dir"):
                shutil.rmtree(each, ignore_errors=True)  # not to be found again in the next round
    return played


def starts_again(program: Program, folder: Path) -> list[str]:
    """What is wrong with one more start, and its end in order."""
    with Session(program, folder) as session:
        wrong = _begin(random.Random(0), session, "stop")
        return [*wrong, *session.until_nothing_is_left()]


def by_kind(played: Sequence[Round]) -> Counter[str]:
    """`victim, phase` → rounds."""
    return Counter(f"{each.victim}, {each.phase}" for each in played)
