"""`kdrill forecast`: figures for people and programs, a change beside the cluster, exit codes, interruption."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from model.cluster.snapshot_file import write_snapshot
from tests.harness.command import failure, kdrill
from tests.model.drills.clusters import cluster, topic
from tests.model.recordings.lives import record
from tests.spark.history.months import BUSY

CERTAINLY_MORE = 2


@pytest.fixture
def six(tmp_path: Path) -> Path:
    """A snapshot of six brokers in three racks, two topics."""
    image = cluster(
        range(1, 7),
        *topic((1, 2, 3), (1, 2, 3), 1, name="orders", min_insync_replicas="2"),
        *topic((4, 1), (4, 1), 4, name="audit"),
    )
    write_snapshot(tmp_path / "six.json", image)
    return tmp_path / "six.json"


def test_people_read_sentences_and_tables(six: Path) -> None:
    done = kdrill("forecast", six, "--histories", "500", "--engine", "here", "--seed", "7")
    assert (done.returncode, done.stderr) == (0, "")
    assert "500 random histories of 1 year, seed 7" in done.stdout
    assert "a partition of audit is without" in done.stdout
    assert "of 500" in done.stdout
    assert "rates are defaults, not yours" in done.stdout
    assert max(map(len, done.stdout.partition("worst topics")[0].splitlines()[1:])) <= 100
    assert "Not modelled: software defects" in done.stdout
    for head in ("worst topics", "causes", "what helps", "what the answer hangs on", "assumed:"):
        assert f"\n{head}" in done.stdout
    assert "replicas spread over racks" in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 200


def test_programs_read_an_object(six: Path) -> None:
    done = kdrill("forecast", six, "--histories", "300", "--engine", "here", "--json", "--quick")
    found = json.loads(done.stdout)
    assert found["format"] == "kdrill.forecast/1"
    assert (found["histories"], found["complete"], found["years"]) == (300, True, 1.0)
    assert found["topics"]["audit"]["leaderless"]["low"] <= found["topics"]["audit"]["leaderless"]["mean"]
    assert found["assumptions"]["rates"][0]["source"].startswith("Ford")
    assert found["pair"] is None
    assert "NaN" not in done.stdout
    assert "Infinity" not in done.stdout


def test_the_same_question_has_the_same_answer(six: Path) -> None:
    one, other = (
        json.loads(kdrill("forecast", six, "--histories", "300", "--engine", "here", "--json", "--quick").stdout)
        for _ in range(2)
    )
    assert {**one, "engine": None} == {**other, "engine": None}


def test_a_plan_and_settings_are_played_beside_it(six: Path, tmp_path: Path) -> None:
    moves = {"version": 1, "partitions": [{"topic": "audit", "partition": 0, "replicas": [4, 2]}]}
    (tmp_path / "plan.json").write_text(json.dumps(moves))
    wish = ("--plan", tmp_path / "plan.json", "--set", "ord*:min.insync.replicas=3", "--set", "audit:rf=3")
    done = kdrill("forecast", six, "--histories", "2000", "--engine", "here", "--json", "--quick", *wish)
    found = json.loads(done.stdout)
    assert "audit:rf=3" in found["pair"]["plan"]
    assert found["pair"]["difference"]["under_min_isr"]["high"] < 0
    said = kdrill("forecast", six, "--histories", "300", "--engine", "here", "--quick", *wish).stdout
    assert "partition-minutes a year more under min ISR, paired over the same years" in " ".join(said.split())


def test_a_broker_more_is_played_with_what_it_would_get(six: Path) -> None:
    done = kdrill("forecast", six, "--histories", "300", "--engine", "here", "--quick", "--add-broker", "7:r9")
    assert (done.returncode, "With broker 7 added: " in done.stdout) == (0, True)


def test_what_is_certainly_above_a_limit_fails(six: Path) -> None:
    wish = ("forecast", six, "--histories", "1000", "--engine", "here", "--quick")
    assert kdrill(*wish, "--fail-above", "leaderless=0.01").returncode == CERTAINLY_MORE
    assert kdrill(*wish, "--fail-above", "leaderless=100000").returncode == 0


def test_it_stops_when_the_interval_is_narrow_enough_and_writes_tables(six: Path, tmp_path: Path) -> None:
    wish = ("forecast", six, "--histories", "100000", "--engine", "here", "--quick", "--within", "15")
    done = kdrill(*wish, "--json", "--store", tmp_path / "tables")
    found = json.loads(done.stdout)
    assert (found["stopped"], found["complete"], found["histories"] % 2_000) == (True, False, 0)
    assert found["histories"] < 100_000
    for measure in ("leaderless", "under_min_isr"):
        figure = found["cluster"][measure]
        assert (figure["high"] - figure["low"]) / 2 <= 0.15 * figure["mean"]
    assert found["worst"][0]["scenario"].startswith(("K", "D"))
    units, histories = (pq.read_table(tmp_path / "tables" / f"{name}.parquet") for name in ("units", "histories"))
    assert histories.num_rows == found["histories"] and units.schema.metadata[b"seed"] == str(found["seed"]).encode()
    rows = [row for row in units.to_pylist() if row["measure"] == "leaderless"]
    assert {row["topic"] for row in rows} == {"audit", "orders"}
    minutes = sum(row["sum_ms"] for row in rows) / 60_000 / found["histories"]
    assert minutes == pytest.approx(found["cluster"]["leaderless"]["mean"])
    assert sum(row["leaderless_ms"] for row in histories.to_pylist()) == sum(row["sum_ms"] for row in rows)
    said = kdrill(*wish, "--store", six / "under").stderr
    assert "--store" in said and "Traceback" not in said


def test_assumptions_are_of_the_file(six: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('format = "kdrill.assumptions/1"\n[rates]\nbroker.mtbf_h = 100000\n')
    done = kdrill("forecast", six, "--histories", "300", "--engine", "here", "--json", "--quick", "--assumptions", path)
    assert json.loads(done.stdout)["assumptions"]["rates"][0]["value"] == 100_000


def test_rates_are_learnt_from_a_recording(six: Path, tmp_path: Path) -> None:
    record(tmp_path / "recordings", BUSY, cluster="busy")
    wish = ("--histories", "200", "--engine", "here", "--json", "--quick")
    done = kdrill("forecast", six, *wish, "--learn", tmp_path / "recordings")
    rate = json.loads(done.stdout)["assumptions"]["rates"][0]
    assert (rate["given"], "1 outage in 0." in rate["source"]) == (True, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--set", "orders"), "'orders' is not TOPIC:KEY=VALUE with a KEY of min.insync.replicas"),
        (("--set", "orders:retention.ms=5"), "is not TOPIC:KEY=VALUE"),
        (("--set", "orders:rf=many"), "rf is a number from 1 on"),
        (("--set", "nothing:rf=2"), "nothing:rf=2: no topic is called nothing"),
        (("--set", "orders:rf=9"), "9"),
        (("--fail-above", "lost=3"), "is not MEASURE=MIN"),
        (("--add-broker", "x"), "write it as ID or ID:RACK"),
        (("--histories", "0"), "0 is not in the range"),
        (("--assumptions", "nowhere.toml"), "nowhere.toml: cannot be read: No such file"),
        (("--learn", "nowhere"), "nowhere: "),
        (("--plan", "nowhere.json"), "nowhere.json: cannot be read: No such file"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_line(six: Path, options: tuple[str, ...], said: str) -> None:
    assert said in failure(kdrill("forecast", six, "--engine", "here", *options))


INTERRUPTED = """
import signal, sys
import tui.cli.forecast_made as made
real, runs = made.played, []
def played(*words, **more):
    runs.append(0)
    if len(runs) == {run} and not {waves}: signal.setitimer(signal.ITIMER_REAL, 0.001)
    for number, one in enumerate(real(*words, **more), 1):
        yield one
        if len(runs) == {run} and number == {waves}: signal.setitimer(signal.ITIMER_REAL, 0.001)  # amidst the next
made.played = played
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
from tui.cli.main import main
sys.argv[1:] = {words}
sys.exit(main())
"""


def interrupted(run: int, waves: int, *words: str) -> tuple[dict[str, Any], str]:
    """The document of a command that was interrupted after so many waves of its first, second … run."""
    code = INTERRUPTED.format(run=run, waves=waves, words=[*words, "--engine", "here", "--json"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=240, text=True)
    return json.loads(done.stdout), done.stderr


def test_what_was_played_by_then_is_kept_and_nothing_more_is_begun(six: Path) -> None:
    found, said = interrupted(1, 2, "forecast", str(six), "--histories", "10000000")
    assert (found["complete"], found["histories"]) == (False, 2_000)
    assert (found["actions"], found["sensitivity"]) == ([], [])
    assert "interrupted: what follows is of the histories that were played by then" in said


def test_who_does_not_wait_for_what_helps_has_the_forecast_itself(six: Path) -> None:
    found, said = interrupted(2, 0, "forecast", str(six), "--histories", "200")
    assert (found["complete"], found["histories"], found["actions"]) == (True, 200, [])
    assert "interrupted: what helps, or what the answer hangs on, is left out" in said
