"""What a file of assumptions may say, and the one line that is said of what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.analyses import AnalysisError
from model.analyses.forecast.assumptions import (
    RATES,
    USUAL,
    AssumptionError,
    Calendar,
    FailureGroup,
    check,
    learnt,
    read,
)
from model.analyses.forecast.figures import YEAR_MS
from model.analyses.forecast.given import elections_of, learnt_from
from model.analyses.forecast.playing import Playing
from model.drills.drill import run
from model.drills.scenario import of_brokers, ruled_by
from tests.architecture.source_tree import ROOT
from tests.model.analyses.forecast.test_as_the_controller import FIVE
from tests.model.drills.test_voters import kraft
from tests.model.recordings.lives import record
from tests.spark.history.months import BUSY

HEAD = 'format = "kdrill.assumptions/1"\n'
EVERYTHING = """
[rates]
broker.mtbf_h = 1000
disk.afr = "2 %"
rack.mtbf_h = { value = 50000, low = 8760, high = 100000, source = "our own" }
[times]
detect_s = 9.0
elect_s = 0.2
rejoin = { fixed_s = 60 }
elr = true
[groups.power-a]
brokers = [1, 2, 3]
mtbf_h = 43800
[[maintenance]]
every_d = 30
min_per_broker = 4
polite = false
[overrides.broker.7]
mtbf_h = 400
"""


def test_a_file_says_what_it_says_and_leaves_the_rest() -> None:
    found = read((HEAD + EVERYTHING).encode(), "a.toml")
    assert found["broker.mtbf_h"] == 1000
    assert found["disk.afr"] == 0.02
    rack = found.rates["rack.mtbf_h"]
    assert (rack.value, rack.low, rack.high, rack.source, rack.given) == (50000, 8760, 100000, "our own", True)
    assert found.rates["broker.mttr_min"] == USUAL.rates["broker.mttr_min"]
    assert (found.detect_s, found.elect_s, found.rejoin_s, found.elr) == (9.0, 0.2, 60.0, True)
    assert found.groups == (FailureGroup(name="power-a", brokers=(1, 2, 3), mtbf_h=43_800.0),)
    assert found.calendars == (Calendar(every_d=30, min_per_broker=4, polite=False),)
    assert found.mtbf_h == {7: 400.0}


def test_elections_take_as_long_as_a_fleets_drills_say() -> None:
    assumed = read((HEAD + '[times]\nelect_s = "fleet"\n').encode(), "a.toml")
    assert (assumed.elect_s, assumed.elects_by_fleet) == (None, True)
    played, playing = elections_of(FIVE), Playing([FIVE], assumed, YEAR_MS)
    drill = run(ruled_by(FIVE, 5), of_brokers([1]))
    (outage,) = (each for each in drill.timeline.outages if each.partition.topic == "three")
    elsewhere = outage.lasted_ms(drill.timeline.end_ms) - 18_000
    assert 5 < played[1] < 200 and played[1] >= elsewhere * 0.8
    times = playing.cluster(FIVE, assumed).times
    assert times.elect_ms[playing.brokers.index(1)] == round(played[1])
    lonely, assumed_ms = playing.brokers.index(3), Playing([FIVE], USUAL, YEAR_MS).cluster(FIVE, USUAL).times.elect_ms
    assert 3 not in played and times.elect_ms[lonely] == assumed_ms[lonely]


def test_voters_that_are_brokers_are_out_with_them() -> None:
    image = kraft()
    playing = Playing([image], USUAL, YEAR_MS)
    times = playing.cluster(image, USUAL).times
    assert image.quorum is not None
    assert [playing.brokers[place] for place in times.voters] == [each.id for each in image.quorum.voters]
    assert times.spare_voters == len(image.quorum.voters) - image.quorum.majority
    assert Playing([FIVE], USUAL, YEAR_MS).cluster(FIVE, USUAL).times.voters == ()


def test_the_example_of_the_reference_is_read() -> None:
    page = (ROOT / "tui/guides/file-formats.md").read_text(encoding="utf-8")
    text = page.partition("## Assumptions of a forecast")[2].partition("```toml\n")[2].partition("```")[0]
    found = read(text.encode(), "a.toml")
    check(found, range(1, 9), pytest.fail)
    assert (found.groups[0].name, found.mtbf_h) == ("power-a", {7: 400.0})


def test_json_has_the_same_keys() -> None:
    text = b'{"format": "kdrill.assumptions/1", "rates": {"broker.mtbf_h": 1000, "rack": {"mttr_h": 1}}}'
    found = read(text, "a.json")
    assert (found["broker.mtbf_h"], found["rack.mttr_h"]) == (1000, 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", 'a.toml: format: it has to say format = "kdrill.assumptions/1"'),
        ("[rates", "a.toml: neither TOML nor JSON"),
        (HEAD + "[rates]\nbroker.mtbf = 9", "a.toml: rates.broker.mtbf: no such rate; did you mean broker.mtbf_h?"),
        (HEAD + "[rates]\ndisk.afr = 1.5", 'rates.disk.afr: 1.5 is no share; write 0.015 or "1.5 %"'),
        (HEAD + "[rates]\nbroker.mtbf_h = { value = 4, low = 9 }", "rates.broker.mtbf_h: low 9 is above value 4"),
        (
            HEAD + "[rates]\nbroker.mtbf_h = { value = 4, hihg = 9 }",
            "rates.broker.mtbf_h.hihg: no such key; did you mean high?",
        ),
        (HEAD + "[rates]\nbroker.mtbf_h = 0", "rates.broker.mtbf_h: 0 h between failures; write more than 0"),
        (HEAD + "[rates]\nbroker.mtbf_h = 0.5", "more than 10,000 outages a year are too many to play"),
        (HEAD + "[rates]\nbroker.mttr_min = -1", "rates.broker.mttr_min: -1 is no number from 0 on"),
        (HEAD + "[rates]\nbroker.mttr_min = nan", "rates.broker.mttr_min: nan is no number from 0 on"),
        (HEAD + "[rates]\nbroker.mttr_min = {value = true}", "rates.broker.mttr_min: True is no number from 0 on"),
        (HEAD + "[rates]\nbroker.mttr_min = {low = 1, value = 2, source = 3}", "source is no text"),
        (HEAD + "[time]\ndetect_s = 9", "time: no such part; did you mean times?"),
        (HEAD + "[times]\nrejoin = 'fair'", "times.rejoin: 'fair' is neither \"proportional\" nor { fixed_s = 60 }"),
        (HEAD + "[groups.a]\nbrokers = 3", "groups.a.brokers: write the ids of brokers, as in [1, 2, 3]"),
        (HEAD + "[groups.a]\nbrokers = [1]\nkind = 'fire'", "groups.a.kind: 'fire' is none of power, zone, network"),
        (HEAD + "[maintenance]\nevery_d = 3", "maintenance: write [[maintenance]], a table for each calendar"),
        (HEAD + "[[maintenance]]\nevery_d = 0.1", "maintenance 1.every_d: 0.1 days between restarts; write 1 or more"),
        (HEAD + "[overrides.broker.x]\nmtbf_h = 4", "overrides.broker.x: no id of a broker"),
        (HEAD + "[overrides.broker.1]", "overrides.broker.1.mtbf_h: None is no number from 0 on"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text: str, said: str) -> None:
    with pytest.raises(AssumptionError) as raised:
        read(text.encode(), "a.toml")
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_brokers_of_groups_are_of_the_cluster() -> None:
    told: list[str] = []
    found = read((HEAD + EVERYTHING).encode(), "a.toml")
    with pytest.raises(AssumptionError, match=r"groups.power-a: broker 1 is not in this cluster \(2-8\)"):
        check(found, range(2, 9), told.append)
    check(found, range(1, 8), told.append)
    assert not told


def test_what_is_odd_is_told() -> None:
    told: list[str] = []
    odd = USUAL.with_rate("broker.mttr_min", 100_000).with_rate("rereplicate.MBps", 5)
    check(odd, [1], told.append)
    assert [line.partition(":")[0] for line in told] == [
        "rates.broker.mttr_min",
        "rates.rereplicate.MBps is not above rates.ingress.MBps",
    ]


def test_every_default_names_its_source_and_range() -> None:
    assert all(rate.source and rate.low <= rate.value <= rate.high and not rate.given for rate in RATES)


@pytest.mark.parametrize(("events", "exposure_h", "hours"), [(9, 25_920, 2_811), (0, 0, 2_190), (0, 25_920, 28_110)])
def test_f_a_recording_outweighs_the_default_the_longer_it_is(events: int, exposure_h: float, hours: float) -> None:
    assert learnt(USUAL.rates["broker.mtbf_h"], events, exposure_h, "90 d").value == pytest.approx(hours)


def test_f_what_a_recording_tells_of_its_brokers(tmp_path: Path) -> None:
    """Three brokers for three hours and 22 minutes; one of them is away from 23:10 to 00:20."""
    record(tmp_path, BUSY, cluster="busy")
    found = learnt_from(tmp_path, USUAL)
    rate = found.rates["broker.mtbf_h"]
    assert rate.given
    assert rate.source.startswith(f"{tmp_path}: 1 outage in 0.")
    assert 2_190 / 2 < rate.value < 2_200 / 2
    assert found["broker.mttr_min"] == pytest.approx((15 + 70) / 2, rel=0.01)


def test_what_is_no_recording_is_said(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match="no recording here"):
        learnt_from(tmp_path, USUAL)
