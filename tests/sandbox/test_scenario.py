"""Scenario files: read, refused in one line, written, saved from a session."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.sandbox import faults
from model.sandbox import scenario as scenarios
from model.sandbox.options import SandboxOptions
from model.sandbox.processes import SandboxError
from model.sandbox.scenario import (
    Expectation,
    SandboxScenario,
    ScenarioStep,
    check_mode,
    parse_scenario,
    read_scenario,
    scenario_text,
    session_text,
)


def test_the_example_that_is_documented_is_understood():
    documented = (scenarios.__doc__ or "").partition("What can be done")[0].partition("\n\n")[2]
    scenario = parse_scenario("\n".join(line.strip() for line in documented.splitlines()))
    assert scenario.name == "the leader of orders-0 dies"
    assert scenario.sandbox == {"brokers": 3, "load": True}
    assert scenario.steps[0] == ScenarioStep(5, faults.Kill("leader of orders-0"))
    assert scenario.steps[1] == ScenarioStep(6, Expectation(expect="led", within_s=15))
    assert [step.at_s for step in scenario.steps] == [5, 6, 20, 21, 25]


def test_every_deed_and_every_expectation_is_documented():
    text = scenarios.__doc__ or ""
    deeds = [each.__struct_config__.tag for each in faults.Deed.__args__]
    kinds = Expectation.__annotations__["expect"].__args__
    assert not [name for name in (*deeds, *kinds) if name not in text.replace(",", " ").split()]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("steps = [", "this is no scenario: "),
        ("steps = " + "[" * 100_000, "this is no scenario: "),
        ("steps = " + "9" * 5_000, "this is no scenario: "),
        ('[[steps]]\nat_s = nan\nexpect = "led"', "this is no scenario: nan is no number to count with"),
        ('[[steps]]\nexpect = "led"\nwithin_s = 1e999', "this is no scenario: 1e999 is no number to count with"),
        ('[[steps]]\nat_s = "inf"\nexpect = "led"', "step 1: Expected `float`, got `str`"),
        ('nmae = "x"', "this is no scenario: Object contains unknown field `nmae`"),
        ("", r"there are no \[\[steps\]\]"),
        ("[sandbox]\nbrookers = 3", r"\[sandbox\] has 'brookers'; it may have mode, brokers, "),
        ('[sandbox]\nbrokers = "3"', r"\[sandbox\] brokers: Expected `int`, got `str`"),
        ("[[steps]]\nat_s = 1", "step 1 needs either do or expect"),
        ('[[steps]]\ndo = "kill"\nbroker = 1\n[[steps]]\ndo = "kil"', "step 2: Invalid value 'kil'"),
        ('[[steps]]\ndo = "kill"', "step 1: Object missing required field `broker`"),
        ('[[steps]]\ndo = "kill"\nbroker = 1\nhard = true', "step 1: Object contains unknown field `hard`"),
        ('[[steps]]\nat_s = "soon"\nexpect = "led"', "step 1: "),
        ('[[steps]]\nexpect = "peace"', "step 1: Invalid enum value 'peace'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, text: str, complaint: str):
    file = tmp_path / "drill.toml"
    file.write_text(text)
    with pytest.raises(SandboxError, match=f"drill.toml: {complaint}") as refusal:
        read_scenario(file)
    assert "\n" not in str(refusal.value)


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(SandboxError, match=r"nowhere.toml: No such file or directory$"):
        read_scenario(tmp_path / "nowhere.toml")


@pytest.mark.parametrize("name", ["herd-effect", "split-brain", "failed-rebalance"])
def test_what_is_for_zookeeper_alone_says_so_in_one_line(name: str):
    scenario = read_scenario(Path(name))
    check_mode(scenario, "zookeeper")
    with pytest.raises(SandboxError, match=r"^'.*' is for ZooKeeper alone: step \d+, [\w-]+, means nothing in KRaft"):
        check_mode(scenario, "kraft")


@pytest.mark.parametrize(
    "deed",
    [
        faults.ExpireSession(1),
        faults.KillZooKeeper(1),
        faults.StartZooKeeper(1),
        faults.KillController("loaded"),
        faults.CutLink(("1", "zookeeper")),
        faults.SlowLink(("reports/z1", "zookeeper"), 5),
    ],
)
def test_no_deed_to_zookeeper_is_begun_in_kraft_mode(deed: faults.Deed):
    with pytest.raises(SandboxError, match="step 1, "):
        check_mode(SandboxScenario(steps=(ScenarioStep(0, deed),)), "kraft")


def test_what_both_modes_know_is_played_in_both():
    check_mode(read_scenario(Path("isr-by-time")), "kraft")
    deeds = [faults.Kill("controller"), faults.KillController(), faults.CutLink(("101", "controllers"))]
    check_mode(SandboxScenario(steps=tuple(ScenarioStep(0, deed) for deed in deeds)), "kraft")


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
BROKERS = st.integers(1, 5) | st.sampled_from(["controller", "leader of a-0"])
DEEDS = st.one_of(
    st.builds(faults.Kill, BROKERS),
    st.builds(faults.SlowLink, st.tuples(NAMES, NAMES), st.floats(0.1, 1000)),
    st.builds(faults.FillLogDir, BROKERS, st.none() | st.integers(0, 10**9)),
    st.builds(faults.CorruptSegment, BROKERS, NAMES, st.sampled_from(["last", "oldest"])),
    st.builds(faults.KillController, st.sampled_from(["", "loaded"])),
    st.just(faults.UndoAll()),
)
EXPECTATIONS = st.builds(Expectation, expect=st.sampled_from(["led", "leader"]), partition=NAMES, moved=st.booleans())
STEPS = st.builds(ScenarioStep, st.floats(0, 1000), DEEDS | EXPECTATIONS)


@settings(max_examples=40)
@given(NAMES, st.lists(STEPS, min_size=1, max_size=4), st.dictionaries(NAMES, NAMES, max_size=2))
def test_what_is_written_reads_back_the_same(name: str, steps: list[ScenarioStep], lines: dict[str, str]):
    scenario = SandboxScenario(name=name, sandbox={"brokers": 3, "set": lines}, steps=tuple(steps))
    assert parse_scenario(scenario_text(scenario)) == scenario


def test_a_session_in_kraft_mode_is_saved_as_one():
    saved = parse_scenario(session_text(SandboxOptions(mode="kraft", controllers=5), [], ready_ms=0))
    assert saved.sandbox == {"mode": "kraft", "controllers": 5}


def test_a_session_is_saved_with_what_one_hopes_for():
    options = SandboxOptions(brokers=5, load=True, settings={"num.partitions": "2"})
    history = [(11_000, faults.Kill("controller")), (15_500, faults.Start(2))]
    saved = parse_scenario(session_text(options, history, ready_ms=10_000))
    assert saved.sandbox == {"brokers": 5, "load": True, "set": {"num.partitions": "2"}}
    assert saved.steps == (
        ScenarioStep(1.0, faults.Kill("controller")),
        ScenarioStep(5.5, faults.Start(2)),
        ScenarioStep(6.5, Expectation(expect="led")),
        ScenarioStep(6.5, Expectation(expect="none-lost")),
    )
