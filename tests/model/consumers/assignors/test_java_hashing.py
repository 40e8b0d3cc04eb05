"""Java's hashes and the order of its hash tables, against values that Java itself printed."""

from __future__ import annotations

from model.consumers.assignors.balancing import topic_id_partition_code, topic_partition_code
from model.consumers.assignors.case import read_case
from model.consumers.assignors.java_hashing import HashSet, copied_table, grown_table, string_hashes, walk
from model.consumers.assignors.java_strings import in_name_order, signed, string_hash
from model.consumers.assignors.named_group import named_group


def test_hashes_of_strings() -> None:
    told = {"": 0, "a": 97, "consumer-10": -858448042, "ünïcode": -609351766, "𝄞": 1772394}
    assert {text: signed(string_hash(text)) for text in told} == told
    assert signed(string_hash("polygenelubricants")) == -(2**31)


def test_names_are_ordered_by_code_units() -> None:
    assert in_name_order(["\uffff", "𝄞", "z", "é"]) == ["z", "é", "𝄞", "\uffff"]
    assert in_name_order(["c-2", "c-10"]) == ["c-10", "c-2"]


def test_a_table_that_grew_and_one_that_was_copied() -> None:
    assert [grown_table(size) for size in (0, 12, 13, 24, 25)] == [16, 16, 32, 32, 64]
    assert [copied_table(size) for size in (0, 11, 12, 24)] == [16, 16, 32, 64]


def test_walking_a_table_of_members() -> None:
    members = [f"consumer-{number}" for number in range(1, 15)]
    walked = [members[place] for place in walk(string_hashes(members)).tolist()]
    assert walked == [f"consumer-{number}" for number in (11, 10, 6, 5, 4, 3, 2, 13, 1, 12, 14, 9, 8, 7)]


def test_the_first_element_of_a_set_that_grew_and_shrank() -> None:
    elements = HashSet()
    for element in range(13):
        elements.add(element, element * 16)
    assert elements.first() == 0
    elements.remove(0)
    assert (elements.first(), len(elements)) == (2, 12)


def test_hashes_of_partitions() -> None:
    """`TopicPartition.hashCode` has the partition before the topic, `TopicIdPartition.hashCode` behind its id."""
    names = ("a", "consumer-10")
    case = {"topics": dict.fromkeys(names, 3), "members": {"c": {"topics": [*names]}}}
    group = named_group(read_case(case), "sticky").group
    for topic, name in enumerate(names):
        for number in range(3):
            partition, code = int(group.first[topic]) + number, signed(string_hash(name))
            assert signed(topic_partition_code(group, partition)) == java_int(31 * (31 + number) + code)
            assert signed(topic_id_partition_code(group, partition)) == java_int(31 * (31 + code) + number)


def java_int(number: int) -> int:
    """As Java's arithmetic on 32 bits has it."""
    return (number + 2**31) % 2**32 - 2**31
