"""What a dashboard does to a cluster: nothing without --allow-writes; with it what was shown, once it was confirmed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from kazoo.client import KazooClient

from tests.tui.conftest import Cluster
from tests.tui.dashboard import kdrill, opened, press, rows, text, type_in, until
from tui.app.screens.overlays import SIGN, Confirm
from tui.app.widgets.prompt_line import PromptLine

ELECTION = "/admin/preferred_replica_election"
REASSIGNMENT = "/admin/reassign_partitions"
WIDE = (150, 40)


@pytest.fixture
def znodes(cluster: Cluster) -> Iterator[Any]:
    """Somebody else's look at the cluster."""
    client: Any = KazooClient(cluster.address)  # kazoo has no types
    client.start()
    yield client
    client.stop()
    client.close()


def led_by_another(znodes: Any) -> tuple[str, int]:
    """A partition that its preferred replica could lead, and does not."""
    alive = set(map(int, znodes.get_children("/brokers/ids")))
    for topic in znodes.get_children("/brokers/topics"):
        for number, replicas in json.loads(znodes.get(f"/brokers/topics/{topic}")[0])["partitions"].items():
            state = json.loads(znodes.get(f"/brokers/topics/{topic}/partitions/{number}/state")[0])
            if state["leader"] != replicas[0] and replicas[0] in alive & set(state["isr"]):
                return topic, int(number)
    raise AssertionError("there is none")


async def command(pilot: Any, words: str) -> None:
    await type_in(pilot, f":{words}")
    await press(pilot, "enter")


async def proposed(pilot: Any, words: str) -> None:
    """The proposal is shown, and what confirms it can be typed."""
    await command(pilot, words)
    await until(pilot, lambda: isinstance(pilot.app.screen, Confirm) and kdrill(pilot).page is not None)
    await until(pilot, lambda: isinstance(pilot.app.screen.focused, PromptLine) and SIGN in text(pilot))


async def confirmed(pilot: Any, typed: str) -> None:
    await type_in(pilot, typed)
    await press(pilot, "enter")
    await until(pilot, lambda: not isinstance(pilot.app.screen, Confirm))


async def test_without_leave_one_line_says_what_is_missing(cluster: Cluster, znodes: Any) -> None:
    async with opened(cluster.address, size=WIDE) as pilot:
        assert "READ-ONLY" in text(pilot)
        await command(pilot, "elect orders")
        await until(pilot, lambda: "nothing is done to a cluster without --allow-writes" in text(pilot))
        assert not znodes.exists(ELECTION)


async def test_an_election_is_shown_confirmed_and_asked_for(cluster: Cluster, znodes: Any) -> None:
    async with opened(cluster.address, size=WIDE, allow_writes=True) as pilot:
        assert "WRITES ALLOWED" in text(pilot)
        topic, number = led_by_another(znodes)
        partition = f"{topic}-{number}"
        await proposed(pilot, f"elect {partition}")
        assert f"{partition}: leader" in text(pilot) and f"create {ELECTION}" in text(pilot)
        await confirmed(pilot, "no")
        await until(pilot, lambda: "nothing was done: yes was to be typed" in text(pilot))
        assert not znodes.exists(ELECTION)
        await proposed(pilot, f"elect {partition}")
        await confirmed(pilot, "yes")
        await until(pilot, lambda: "1 partition: done" in text(pilot))
        assert json.loads(znodes.get(ELECTION)[0])["partitions"] == [{"topic": topic, "partition": number}]


async def test_nothing_is_done_to_the_past(cluster: Cluster, znodes: Any) -> None:
    async with opened(cluster.address, size=WIDE, allow_writes=True) as pilot:
        await press(pilot, "p")
        await until(pilot, lambda: kdrill(pilot).past is not None)
        await command(pilot, "elect orders")
        await until(pilot, lambda: "this is a moment of the past: nothing can be done to it" in text(pilot))
        assert not znodes.exists(ELECTION)


async def test_a_plan_is_carried_out_from_its_screen(cluster: Cluster, znodes: Any) -> None:
    async with opened(cluster.address, size=WIDE, allow_writes=True) as pilot:
        await press(pilot, "9")
        await command(pilot, "reassign")
        await until(pilot, lambda: "no plan yet" in text(pilot))
        await press(pilot, "enter")
        await until(pilot, lambda: "Balance: spread" in text(pilot))
        await proposed(pilot, "reassign")
        await press(pilot, "escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, Confirm))
        assert not znodes.exists(REASSIGNMENT)
        await proposed(pilot, "reassign")
        number = text(pilot).partition("reassign ")[2].partition(" ")[0]
        await confirmed(pilot, number)
        await until(pilot, lambda: "reassigning: batch 1 of" in text(pilot) and znodes.exists(REASSIGNMENT))
        await command(pilot, "reassign pause")
        await until(pilot, lambda: "reassigning: paused" in text(pilot))
        await proposed(pilot, "reassign cancel")
        await confirmed(pilot, "yes")
        await until(pilot, lambda: "stops when" in text(pilot))
        for entry in json.loads(znodes.get(REASSIGNMENT)[0])["partitions"]:
            path = f"/brokers/topics/{entry['topic']}"
            topic = json.loads(znodes.get(path)[0])
            topic["partitions"][str(entry["partition"])] = entry["replicas"]
            znodes.set(path, json.dumps(topic).encode())
        znodes.delete(REASSIGNMENT)
        await until(pilot, lambda: "stopped in batch 1 of" in text(pilot))


async def test_a_topic_is_made_altered_and_deleted_in_the_words_of_the_command_line(
    cluster: Cluster, znodes: Any
) -> None:
    made, marked = "/brokers/topics/made", "/admin/delete_topics/made"
    async with opened(cluster.address, size=WIDE, allow_writes=True) as pilot:
        await proposed(pilot, "topics create --topic made --partitions 2 --replication-factor 2")
        assert f"create {made}" in text(pilot) and not znodes.exists(made)
        await confirmed(pilot, "yes")
        await until(pilot, lambda: "create topic made" in text(pilot) and ": done" in text(pilot))
        assert sorted(json.loads(znodes.get(made)[0])["partitions"]) == ["0", "1"]
        await command(pilot, "topics create --topic made --partitions 2 --replication-factor 2")
        await until(pilot, lambda: "already exists" in text(pilot))
        await command(pilot, "topics create --topic made --if-not-exists")
        await until(pilot, lambda: "topic made exists already: there is nothing to do" in text(pilot))

        await proposed(pilot, "configs alter --topic made --add-config retention.ms=5")
        await confirmed(pilot, "yes")
        await until(pilot, lambda: json.loads(znodes.get("/config/topics/made")[0])["config"] == {"retention.ms": "5"})

        await proposed(pilot, "topics delete --topic made")
        await confirmed(pilot, "yes")
        await until(pilot, lambda: "nothing was done: made was to be typed" in text(pilot))
        assert not znodes.exists(marked)
        await proposed(pilot, "topics delete --topic made")
        await confirmed(pilot, "made")
        await until(pilot, lambda: "delete topic made: done" in text(pilot))
        assert znodes.exists(marked)


async def test_what_the_cursor_is_on_need_not_be_named(cluster: Cluster, znodes: Any) -> None:
    znodes.ensure_path("/consumers/aaa/ids")
    znodes.create("/consumers/aaa/offsets/orders/0", b"5", makepath=True)
    async with opened(cluster.address, size=WIDE, allow_writes=True) as pilot:
        await press(pilot, "4")
        await until(pilot, lambda: rows(pilot, "groups").cursor_key == "aaa")
        await proposed(pilot, "act delete-group")
        assert "delete group aaa" in text(pilot) and znodes.exists("/consumers/aaa")
        await confirmed(pilot, "aaa")
        await until(pilot, lambda: not znodes.exists("/consumers/aaa"))


async def test_words_of_the_command_line_that_do_nothing_say_why(cluster: Cluster) -> None:
    refusals = {
        "topics list": ":partitions",
        "topics delete --topic orders": "nothing is done to a cluster without --allow-writes",
        "act": ":act needs VERB --OPTIONS",
    }
    async with opened(cluster.address, size=WIDE) as pilot:
        for words, said in refusals.items():
            await command(pilot, words)
            await until(pilot, lambda said=said: said in text(pilot))
