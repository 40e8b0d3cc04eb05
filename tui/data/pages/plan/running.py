"""How a plan is run by Kafka's own tools, in words of the release at hand. Runs nothing.

Tools: `ReassignPartitionsCommand` takes a broker's address from 2.6 on and no ZooKeeper from 3.0 on (KIP-455, KIP-555),
and a throttle from 0.10.1 on (KIP-73); `LeaderElectionCommand` is there from 2.4 on (KIP-460).
"""

from model.cluster.kafka_generations import KafkaGeneration
from model.planning.plan import Plan
from tui.data.pages.sheets import Sheet

BROKER, ZOOKEEPER = "--bootstrap-server HOST:9092", "--zookeeper HOST:2181/CHROOT"
OLD = ("0.8", "0.9-1.x")


def how_to_run(sheet: Sheet, generation: KafkaGeneration, plan: Plan, batches: int) -> None:
    """The steps, each with its command, and the way back."""
    sheet.say("how to run it: kdrill sends nothing to the cluster", "heading")
    at = ZOOKEEPER if generation in OLD else BROKER
    throttle = f" --throttle {plan.pace.rate}" if plan.pace is not None and generation != "0.8" else ""
    tool = f"kafka-reassign-partitions.sh {at} --reassignment-json-file"
    if batches > 1:
        sheet.fact("1", ":batches P.json writes P-1.json, P-2.json ... with P-rollback-1.json ...")
        sheet.fact("2", f"for each: {tool} P-1.json --execute{throttle}")
    else:
        sheet.fact("1", ":plan P.json writes it with its way back, P-rollback.json")
        sheet.fact("2", f"{tool} P.json --execute{throttle}")
    sheet.fact("3", "the same with --verify until all is done; it takes a throttle off again")
    if generation in OLD:
        sheet.fact("4", f"kafka-preferred-replica-election.sh {ZOOKEEPER}")
    else:
        sheet.fact("4", f"kafka-leader-election.sh {BROKER} --election-type preferred --all-topic-partitions")
    sheet.fact("back", "step 2 with the rollback's file" + (", the last batch first" if batches > 1 else ""))
    if generation == "2.x":
        sheet.fact(
            "note",
            f"before 2.6 step 2 and 3 take {ZOOKEEPER}; before 2.4 step 4 is kafka-preferred-replica-election.sh",
        )
