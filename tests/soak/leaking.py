"""A data process that keeps ten MiB more every second. The soak is to find it out."""

from __future__ import annotations

import threading
import time

from tui.engine.__main__ import main

MIB_A_SECOND = 10
AT_ONCE_S = 0.2


def leak() -> None:
    """For ever."""
    kept: list[bytes] = []
    while True:
        kept.append(b"\1" * int(MIB_A_SECOND * AT_ONCE_S * 1024 * 1024))
        time.sleep(AT_ONCE_S)


if __name__ == "__main__":
    threading.Thread(target=leak, daemon=True).start()
    main()
