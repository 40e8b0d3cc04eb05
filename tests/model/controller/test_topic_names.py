"""Names of topics, with the cases of Kafka's TopicTest and what 3.9.1 printed."""

import pytest

from model.controller import Refusal
from model.controller.topic_validation import colliding, has_collision_chars, topic_name_problem


@pytest.mark.parametrize("name", ["valid", "TOPIC", "nAmEs", "ar6", "VaL1d", "_0-9_.", "...", "x" * 249])
def test_good_names(name: str) -> None:
    assert topic_name_problem(name) is None


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "the empty string is not allowed"),
        (".", "'.' is not allowed"),
        ("..", "'..' is not allowed"),
        ("a b", "'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"),
        ("x" * 250, f"the length of '{'x' * 250}' is longer than the max allowed length 249"),
    ],
)
def test_bad_names_and_why(name: str, why: str) -> None:
    assert topic_name_problem(name) == Refusal("INVALID_TOPIC_EXCEPTION", f"Topic name is invalid: {why}")


@pytest.mark.parametrize("name", ["foo bar", "foo:bar", "foo=bar", "é", "a\n", "٣", "a/b"])
def test_characters_that_are_not_allowed(name: str) -> None:
    assert topic_name_problem(name) is not None


def test_names_could_once_be_longer() -> None:
    assert topic_name_problem("x" * 255, longest=255) is None
    assert topic_name_problem("x" * 256, longest=255) is not None


@pytest.mark.parametrize(("name", "has"), [("a.b", True), ("a_b", True), ("a-b", False), ("", False)])
def test_characters_that_metrics_cannot_tell_apart(name: str, has: bool) -> None:
    assert has_collision_chars(name) == has


@pytest.mark.parametrize(("one", "other"), [(".topic", "_topic"), ("to.pic", "to_pic"), ("topic.", "topic_")])
def test_names_that_collide(one: str, other: str) -> None:
    assert colliding(one, ["topic", other]) == [other]
    assert colliding(other, [one, other]) == [one]


@pytest.mark.parametrize(
    ("one", "other"),
    [(".topic", ".topic."), ("to.pic", "topic_"), ("topic.", "to_pic"), ("topic", "_topic"), ("topic", "topic")],
)
def test_names_that_do_not(one: str, other: str) -> None:
    assert colliding(one, [other]) == colliding(other, [one]) == []
