"""Who plays a job is killed when nobody wants it any more; whoever else has such an id is not."""

import subprocess
import sys
from pathlib import Path

from spark_tasks.session.spark_jobs import end_players

PLAYS = """
import fcntl, os, sys, time
held = open(os.path.join(sys.argv[1], str(os.getpid())), "wb")
if sys.argv[2] == "held":
    fcntl.flock(held, fcntl.LOCK_EX)
print("there", flush=True)
time.sleep(600)
"""


def test_only_who_holds_its_file_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "players"
    folder.mkdir()
    players = [
        subprocess.Popen([sys.executable, "-c", PLAYS, str(folder), how], stdout=subprocess.PIPE)
        for how in ("held", "free")
    ]
    try:
        for player in players:
            assert player.stdout is not None
            player.stdout.readline()
        end_players(folder)
        assert players[0].wait(60) == -9
        assert players[1].poll() is None
        assert not folder.exists()
        end_players(folder)  # and nothing where it is gone
    finally:
        for player in players:
            player.kill()
            player.communicate()
