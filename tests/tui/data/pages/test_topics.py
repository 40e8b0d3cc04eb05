"""The topic list."""

from model.broker.settings.catalogue import kept_alone
from model.cluster.records import ConfigChanged
from tests.tui.data.small_cluster import NOW_MS, keys_of, moment_of, rows_of, small_image
from tui.engine.listing import AnswerMemo
from tui.engine.partitions.topics import topic_text, topics_window
from tui.engine.queries import TopicList, TopicTextQuery

MOMENT = moment_of(small_image())


def test_every_topic_has_its_counts_and_its_own_settings():
    shown = topics_window(MOMENT, TopicList(), NOW_MS, AnswerMemo())
    assert rows_of(shown) == [
        "! | orders | 3 | 3 | 2 | 0 | ! under | min.insync.replicas=2",
        "X | payments | 3 | 3 | 1 | 2 | X OFFLINE | ",
    ]


def test_topics_are_sorted_and_filtered():
    memory = AnswerMemo()
    by_offline = TopicList(sort="offline", reverse=True, key="orders")
    shown = topics_window(MOMENT, by_offline, NOW_MS, memory)
    assert (keys_of(shown), shown.cursor) == (["payments", "orders"], 1)
    assert keys_of(topics_window(MOMENT, TopicList(filter="insync"), NOW_MS, memory)) == ["orders"]


def test_secrets_among_the_settings_are_hidden():
    image = small_image(ConfigChanged(entity="topics/payments", config={"my.password": "hunter2"}))
    shown = topics_window(moment_of(image), TopicList(), NOW_MS, AnswerMemo())
    assert "my.password=" in rows_of(shown)[1]
    assert "hunter2" not in rows_of(shown)[1]


def test_a_sandbox_says_which_settings_of_a_topic_its_brokers_keep_alone():
    image = small_image(ConfigChanged(entity="topics/payments", config={"flush.ms": "5", "retention.ms": "7"}))
    query = TopicTextQuery(key="payments", width=120)
    said = topic_text(moment_of(image), query, NOW_MS, AnswerMemo(), kept=kept_alone).plain
    assert "flush.ms: the sandbox's brokers keep it and do not obey it" in said
    assert "retention.ms: " not in said
    assert "do not obey" not in topic_text(moment_of(image), query, NOW_MS, AnswerMemo()).plain
