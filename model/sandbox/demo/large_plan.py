"""The cluster that `kdrill --demo` opens: a shop's topics on twelve brokers in three racks, with trouble of every kind.

A value only: forty topics of 500 partitions, one broker dead, another overloaded, a third so new that it holds little.
"""

from model.sandbox.demo.state import DemoPlan, DemoStep, DemoTopic, Incident, Reading
from model.sandbox.demo.tree import (
    client_joins,
    client_leaves,
    commit_offsets,
    consumer_joins,
    consumer_leaves,
    elect_preferred,
    expand_isr,
    move_controller,
    move_leader,
    rebalance_ends,
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
    DemoTopic("sms", 3, replication_factor=2, in_one_rack=True),
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
    Reading("order-warehouse", ("orders",), hosts=3, lag_s=6.0, swing=0.6),
    Reading("clickstream", ("clicks",), hosts=6, lag_s=180.0, swing=0.5, period_s=1_200.0),
    Reading("mailer", ("emails",), hosts=2),
    # Six threads for three partitions: half of them are idle.
    Reading("sms-gateway", ("sms",), hosts=3, lag_s=4.0),
    # One consumer that does not keep up.
    Reading("audit-archiver", ("audit-log",), hosts=1, lag_s=240.0, swing=0.4, period_s=1_500.0),
)


_CLASSIC = (
    Reading("checkout", ("orders", "payments", "carts"), hosts=5, lag_s=2.0, assignor="cooperative-sticky"),
    Reading(
        "search-indexer",
        ("inventory", "prices", "promotions", "reviews"),
        hosts=4,
        lag_s=60.0,
        swing=0.7,
        period_s=420.0,
    ),
    Reading("fraud-detector", ("payments", "chargebacks"), hosts=3, lag_s=3.0, assignor="cooperative-sticky"),
    Reading("recommender", ("page-views", "clicks"), hosts=8, lag_s=120.0, swing=0.5, period_s=1_300.0),
    Reading("courier-tracker", ("courier-positions",), hosts=6, lag_s=4.0),
    # Nobody reads any more, and nobody has deleted the group.
    Reading("report-2019", ("returns",), hosts=0),
)


def _round() -> tuple[DemoStep, ...]:
    """Three minutes: in every other step a group commits, and in between something happens to the cluster."""
    churn = (shrink_isr, shrink_isr, expand_isr, shrink_isr, expand_isr, expand_isr)
    leaving = (*churn, move_leader, client_leaves, rebalance_ends, consumer_leaves)
    joining = (*churn, elect_preferred, client_joins, rebalance_ends, consumer_joins)
    happens = (*leaving, *churn, *joining, *leaving, *joining, move_controller)
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
        ("page-views", 5): (Incident.OFF_PREFERRED, 0),
        ("page-views", 14): (Incident.OFF_PREFERRED, 0),
        ("reviews", 2): (Incident.OFF_PREFERRED, 0),
        ("inventory", 5): (Incident.UNREADABLE, 0),
        ("clicks", 3): (Incident.MOVING, 31),
        ("clicks", 12): (Incident.MOVING, 31),
        ("clicks", 21): (Incident.MOVING, 31),
        ("clicks", 30): (Incident.MOVING, 31),
        ("fraud-scores", 4): (Incident.UNCLEAN, 91),
        ("notifications", 8): (Incident.OFF_PREFERRED, 101),
        ("courier-positions", 9): (Incident.OFF_PREFERRED, 101),
        ("sessions", 5): (Incident.SLOW_FOLLOWER, 141),
        ("wishlists", 0): (Incident.STUCK, 161),
        ("carts", 11): (Incident.SLOW_FOLLOWER, 181),
        ("payments", 4): (Incident.ALONE, 221),
        ("payments", 17): (Incident.ALONE, 231),
        ("orders", 7): (Incident.SLOW_FOLLOWER, 241),
        ("ledger", 6): (Incident.ALONE, 267),
    },
    steps=_round(),
    classic=_CLASSIC,
    dies_at=81,
    deletion_at=121,
    past=300,
    age_ms=40 * 86_400_000,
    new_broker=12,
    favourites=(3,),
)
"""Each change of a round is undone by a later one, so that the cluster stays as healthy as it was."""
