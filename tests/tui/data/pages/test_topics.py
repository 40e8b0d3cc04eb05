"""The topic list."""

from model.cluster.records import ConfigChanged
from tests.tui.data.small_cluster import NOW_MS, keys_of, moment_of, rows_of, small_image
from tui.engine.listing import Memory
from tui.engine.partitions.topics import topics_window
from tui.engine.queries import TopicList

MOMENT = moment_of(small_image())


def test_every_topic_has_its_counts_and_its_own_settings():
    shown = topics_window(MOMENT, TopicList(), NOW_MS, Memory())
    assert rows_of(shown) == [
        "! | orders | 3 | 3 | 2 | 0 | ! under | min.insync.replicas=2",
        "X | payments | 3 | 3 | 1 | 2 | X OFFLINE | ",
    ]


def test_topics_are_sorted_and_filtered():
    memory = Memory()
    by_offline = TopicList(sort="offline", reverse=True, key="orders")
    shown = topics_window(MOMENT, by_offline, NOW_MS, memory)
    assert (keys_of(shown), shown.cursor) == (["payments", "orders"], 1)
    assert keys_of(topics_window(MOMENT, TopicList(filter="insync"), NOW_MS, memory)) == ["orders"]


def test_secrets_among_the_settings_are_hidden():
    image = small_image(ConfigChanged(entity="topics/payments", config={"my.password": "hunter2"}))
    shown = topics_window(moment_of(image), TopicList(), NOW_MS, Memory())
    assert "my.password=" in rows_of(shown)[1]
    assert "hunter2" not in rows_of(shown)[1]
