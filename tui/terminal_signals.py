"""What the terminal signals, heard so that Textual's driver is not called when it is not ready for it."""

import asyncio
import signal
from types import FrameType


def continued_only_when_stopped() -> None:
    """A terminal that hangs up continues a program that was never stopped.

    Textual's driver would start its threads a second time then; the first ones would outlive the program's end.
    """
    stops, continues = signal.getsignal(signal.SIGTSTP), signal.getsignal(signal.SIGCONT)
    if not (callable(stops) and callable(continues)):
        return
    stopped = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        stops(number, frame)

    def go_on(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        if stopped:
            stopped = False
            continues(number, frame)

    signal.signal(signal.SIGTSTP, stop)
    signal.signal(signal.SIGCONT, go_on)


def sizes_in_turn() -> None:
    """The terminal's new sizes are heard one after the other, by the event loop.

    Textual's own handler may be interrupted by itself; then an older size is told last, and the screen stays wrong.
    """
    tells_size = signal.getsignal(signal.SIGWINCH)
    if callable(tells_size):
        asyncio.get_running_loop().add_signal_handler(signal.SIGWINCH, tells_size, signal.SIGWINCH, None)
