"""ISR changes and log folder events."""

from model.znodes.codec import decode, encode
from model.znodes.payload import Unreadable
from model.znodes.topics import LOG_DIR_FAILURE, IsrChange, LogDirEvent


def test_an_isr_change_names_partitions():
    golden = b'{"version":1,"partitions":[{"topic":"foo","partition":0},{"topic":"bar","partition":1}]}'
    change = decode("/isr_change_notification/isr_change_0000000000", golden)
    assert isinstance(change, IsrChange)
    assert [(entry.topic, entry.partition) for entry in change.partitions] == [("foo", 0), ("bar", 1)]
    assert encode(change) == golden


def test_a_log_dir_event_names_its_broker():
    golden = b'{"version":1,"broker":2,"event":1}'
    event = LogDirEvent(broker=2, event=LOG_DIR_FAILURE)
    assert decode("/log_dir_event_notification/log_dir_event_0000000000", golden) == event
    assert encode(event) == golden


def test_a_broker_id_below_zero_is_unusable():
    event = decode("/log_dir_event_notification/log_dir_event_0000000000", b'{"version":1,"broker":-1,"event":1}')
    assert isinstance(event, Unreadable)
    assert event.reason == "broker is below 0"
