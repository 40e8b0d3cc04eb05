"""The cluster that `kdrill --demo` opens: a shop's topics on twelve brokers in three racks, with trouble of every kind.

A value only: forty topics of 500 partitions, one broker dead, another overloaded, a third so new that it holds little.
"""

from model.sandbox.demo.plan import DemoPlan, DemoStep, DemoTopic, Incident, Reading
from model.sandbox.demo.tree import (
    commit_offsets,
    consumer_joins,
    consumer_leaves,
    elect_preferred,
    expand_isr,
    move_controller,
    move_leader,
    shrink_isr,
)

_COMPACT = {"cleanup.policy": "compact"}
_DAY = {"retention.ms": "86400000"}
_SAFE = {"min.insync.replicas": "2"}
_WEEK = {"min.insync.replicas": "2", "retention.ms": "604800000"}

_TOPICS = (
    DemoTopic("orders", 24, _WEEK),
    DemoTopic("payments", 24, {**_SAFE, "unclean.leader.election.enable": "false"}),
    DemoTopic("shipments", 18, _SAFE, on_dead_broker=True),
    DemoTopic("returns", 12, _SAFE),
    DemoTopic("refunds", 6, _SAFE, on_new_broker=True),
    DemoTopic("invoices", 12, _SAFE),
    DemoTopic("customers", 12, _COMPACT),
    DemoTopic("addresses", 6, _COMPACT),
    DemoTopic("sessions", 18, {**_DAY, "compression.type": "lz4"}),
    DemoTopic("inventory", 12, _COMPACT),
    DemoTopic("warehouses", 3, _COMPACT),
    DemoTopic("stock-levels", 12, _COMPACT, on_dead_broker=True),
    DemoTopic("prices", 12, {"cleanup.policy": "compact,delete"}),
    DemoTopic("promotions", 6),
    DemoTopic("coupons", 6, on_new_broker=True),
    DemoTopic("clicks", 36, {**_DAY, "compression.type": "lz4"}),
    DemoTopic("page-views", 30, _DAY),
    DemoTopic("search-queries", 18, on_dead_broker=True),
    DemoTopic("recommendations", 12, on_new_broker=True),
    DemoTopic("carts", 18),
    DemoTopic("wishlists", 6, _COMPACT),
    DemoTopic("reviews", 9),
    DemoTopic("ratings", 6, _COMPACT),
    DemoTopic("fraud-scores", 12, {"unclean.leader.election.enable": "true"}),
    DemoTopic("chargebacks", 6, _SAFE),
    DemoTopic("ledger", 12, {**_SAFE, "retention.ms": "-1"}),
    DemoTopic("audit-log", 6, {**_SAFE, "retention.ms": "-1"}),
    DemoTopic("emails", 9, on_dead_broker=True),
    DemoTopic("notifications", 12),
    DemoTopic("sms", 3),
    DemoTopic("courier-positions", 18, _DAY),
    DemoTopic("delivery-slots", 6),
    DemoTopic("support-tickets", 6),
    DemoTopic("app-metrics", 24, _DAY, replication_factor=2),
    DemoTopic("app-logs", 18, _DAY, on_dead_broker=True, replication_factor=2),
    DemoTopic("feature-flags", 3, {**_COMPACT, "min.insync.replicas": "3"}),
    DemoTopic("experiments", 6, on_new_broker=True),
    DemoTopic("dead-letters", 4, on_dead_broker=True, replication_factor=1),
    DemoTopic("legacy-events", 12, on_dead_broker=True),
    DemoTopic("__consumer_offsets", 25, {**_COMPACT, "segment.bytes": "104857600"}),
)

_READINGS = (
    # Eight threads for 24 partitions.
    Reading("billing", ("payments",), hosts=4, abandoned=frozenset({23})),
    Reading("order-warehouse", ("orders",), hosts=3, lag_s=20.0, swing=0.6),
    Reading("clickstream", ("clicks",), hosts=6, lag_s=180.0, swing=0.5, period_s=1_200.0),
    Reading("mailer", ("emails",), hosts=2),
    # Six threads for three partitions: half of them are idle.
    Reading("sms-gateway", ("sms",), hosts=3, lag_s=4.0),
    # One consumer that does not keep up.
    Reading("audit-archiver", ("audit-log",), hosts=1, lag_s=240.0, swing=0.4, period_s=1_500.0),
)


def _round() -> tuple[DemoStep, ...]:
    """Three minutes: in every other step a group commits, and in between something happens to the cluster."""
    shrinking = (shrink_isr, shrink_isr, expand_isr, shrink_isr, expand_isr, expand_isr)
    quarter = (*shrinking, move_leader, *shrinking, consumer_leaves, *shrinking, elect_preferred, consumer_joins)
    happens = (*quarter, *quarter, move_controller)
    return tuple(step for each in happens for step in (commit_offsets, each))


LARGE = DemoPlan(
    cluster_id="kdrill-demo-cluster-00",
    racks={"rack-a": (1, 4, 7, 10), "rack-b": (2, 5, 8, 11), "rack-c": (3, 6, 9, 12)},
    dead_broker=5,
    controller=4,
    controller_epoch=40,
    topics=_TOPICS,
    topic_being_deleted="legacy-events",
    readings=_READINGS,
    incidents={
        ("payments", 4): Incident.ALONE,
        ("payments", 17): Incident.ALONE,
        ("ledger", 6): Incident.ALONE,
        ("orders", 7): Incident.SLOW_FOLLOWER,
        ("carts", 11): Incident.SLOW_FOLLOWER,
        ("sessions", 5): Incident.SLOW_FOLLOWER,
        ("page-views", 5): Incident.OFF_PREFERRED,
        ("page-views", 14): Incident.OFF_PREFERRED,
        ("reviews", 2): Incident.OFF_PREFERRED,
        ("notifications", 8): Incident.OFF_PREFERRED,
        ("courier-positions", 9): Incident.OFF_PREFERRED,
        ("fraud-scores", 4): Incident.UNCLEAN,
        ("inventory", 5): Incident.UNREADABLE,
        ("clicks", 3): Incident.MOVING,
        ("clicks", 12): Incident.MOVING,
        ("clicks", 21): Incident.MOVING,
        ("clicks", 30): Incident.MOVING,
    },
    steps=_round(),
    new_broker=12,
    favourites=(3,),
)
"""Each change of a round is undone by a later one, so that the cluster stays as healthy as it was."""
