"""What files and `--json` hold, as Markdown: of structs by their schema, of documents by what one run printed."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from model.actions.proposal import ApiCall, Proposal
from model.analyses.fleets import store
from model.analyses.forecast import assumptions
from model.analyses.history.results import ClusterHistory
from model.analyses.scans.result import ScanResult
from model.cluster.findings import Finding
from model.cluster.snapshot_file import write_snapshot
from model.cluster.snapshot_format import SnapshotDocument
from model.drills.voters import StillServed, Turnout
from model.hosts import client_properties
from model.hosts.acting.carrying_out import AuditLog, WriteOutcome
from model.hosts.acting.reassigning import JournalFile
from model.hosts.properties_file import PROVIDERS, PropertiesFile
from model.planning import documents
from model.planning import documents as plan_document
from model.recordings.format import SCHEMA, PartHeader
from model.sandbox import scenario
from model.sandbox.messages import SandboxReady
from model.sandbox.scenario import SandboxOutcome
from tests.harness.command import kdrill
from tests.model.cluster.build import brokers, consumer, image, topic
from tui.cli.act import FORMAT as ACTED
from tui.cli.act import print_document
from tui.engine.config import ClusterConfig

FIXED_KEY = re.compile(r"[a-z_]+")
"""A field's name; topics and groups of the example are called otherwise."""
EXAMPLE = image(
    *brokers(1, 2, 3, 4), *topic("orders.eu", (1, 2, 3), partitions=4), consumer("g-1", "c-1", 1, "orders.eu")
)
RUNS: Mapping[str, tuple[str, ...]] = {
    "kdrill.status/1": ("status", "FILE", "--json"),
    "kdrill.drill/1": ("drill", "FILE", "--kill", "3", "--json"),
    "kdrill.drills/1": ("drill", "FILE", "--each-broker", "--json", "--engine", "here"),
    "kdrill.plan/1": ("plan", "FILE", "--remove-broker", "4", "--json"),
    "kdrill.plans/1": ("plan", "FILE", "--each-broker", "--json", "--engine", "here"),
    "kdrill.forecast/1": ("forecast", "FILE", "--json", "--histories", "50", "--engine", "here"),
    "kdrill.preview/1": ("preview", "FILE", "--json", "--engine", "here"),
    "kdrill.keys/1": ("keys", "--json"),
    "kdrill.doctor/1": ("doctor", "--json"),
}
"""Format → the command that prints it."""


ASSUMED = """\
format = "kdrill.assumptions/1"
[rates]
broker.mtbf_h = 2190
rack.mtbf_h = { value = 87600, low = 8760, high = 175200, source = "our own" }
[times]
detect_s = 9.0
elect_s = 0.1  # or "fleet": as long as in a drill of each broker's failure
rejoin = "proportional"  # or { fixed_s = 60 }
[groups.power-a]
brokers = [1, 2, 3]
kind = "power"           # or "zone", or "network": cut off, and nothing is lost
mtbf_h = 43800
mttr_h = 6
[[maintenance]]
every_d = 30
min_per_broker = 3
wait_for_isr = true
polite = true
[overrides.broker.7]
mtbf_h = 400
"""
"""A test reads it."""


def file_formats() -> Iterator[str]:
    """The parts of the page."""
    yield (
        "Every document of kdrill's own says in `format` what it is: a name and a version. Within a version fields are "
        "only added, and a reader leaves alone what it does not know. Times in `…_ms` are ms since epoch, UTC; sizes "
        "are bytes. What is about the demo cluster (`--demo`) begins with `demo`, which is true."
    )
    yield from _of_clusters()
    yield _of_groups()
    yield from _of_fleets()
    yield from _of_assumptions()
    yield from _of_acting()
    yield from _written_by_hand()
    yield from _of_json()


def _of_clusters() -> Iterator[str]:
    yield "## Snapshot: kdrill.snapshot/1\n\nWhat `kdrill snapshot` writes, `.json` or `.json.zst`."
    yield from _structs(SnapshotDocument)
    yield "A finding in it is as in `kdrill.status/1`:"
    yield from _structs(Finding)
    yield "## Recording: kdrill.recording/1\n\nA folder, `cluster=NAME/day=YYYY-MM-DD/*.parquet`. The columns:"
    yield "\n".join(f"- `{field.name}`: {_column(field.type)}" for field in SCHEMA)
    yield "What each file says of itself, as JSON under the key `kdrill` of its Parquet metadata:"
    yield from _structs(PartHeader)


def _of_groups() -> str:
    return (
        "## Results of kdrill assign\n\nA JSON object a line, for each case:\n\n"
        "- `id`: as in the case\n"
        "- `assignment`: member → its [topic, partition] pairs; null, as the next four are, where there is an `error`\n"
        "- `moves`: partitions that whoever owned them before does not keep\n"
        "- `moves_lower_bound`: the fewest that anybody could have done with for the same balance\n"
        "- `spread`: the most partitions of a member minus the fewest\n"
        "- `differs_from_kafka`: what Kafka 3.9.1 does instead because of a bug, and why, a sentence; null where it "
        "does the same, and with `--as-kafka`. `kdrill.preview/1` has the same field for each strategy\n"
        "- `error`: why there is no assignment, or null\n"
        "- `explanation`, with `--explain`: `balance`, a sentence, and `partitions`, each with `member`, `topic`, "
        "`partition`, `before`, `waits` and `why`"
    )


def _of_fleets() -> Iterator[str]:
    yield "## Fleet of drills: kdrill.fleet/1\n\nJSON lines: what was asked, then a FleetRow a scenario, without zeros."
    columns = ", ".join(f"`{field.name}` {field.type}" for field in store.SCHEMA)
    yield f"`--store` keeps rows as Parquet, `generator=KIND/part-FIRST-END.parquet`, with the columns {columns}."
    yield "Beside them, `manifest.json`:"
    yield from _structs(store.Manifest)


def _of_assumptions() -> Iterator[str]:
    yield (
        f"## Assumptions of a forecast: {assumptions.FORMAT}\n\nTOML, or JSON with the same keys; what it leaves out "
        "is as the defaults have it. A rate is a number, or a table of `value`, `low`, `high` and `source`; a share "
        'may be written `"1.5 %"`.'
    )
    yield f"```toml\n{ASSUMED}```"
    yield "The rates, their defaults, what `kdrill forecast` tries of them, and their sources:"
    rows = (
        f"| `{rate.key}` | {rate.value:g} | {rate.low:g} to {rate.high:g} | {rate.source} |"
        for rate in assumptions.RATES
    )
    yield "\n".join(("| rate | default | range | source |", "|---|---|---|---|", *rows))


def _of_acting() -> Iterator[str]:
    yield f"## Plan: {plan_document.PLAN_FORMAT}\n\nWhat `kdrill plan --json` prints."
    yield "\n".join(line for line in (plan_document.__doc__ or "").splitlines() if line.startswith("|"))
    yield (
        f"## Reassignment file: {documents.REASSIGNMENT_FORMAT}\n\nWhat `kdrill plan -o` writes: the file of "
        'kafka-reassign-partitions, `{"version":1,"partitions":[{"topic","partition","replicas"}]}`, with `kdrill` '
        "(`format`, `source`, `cluster_id`, `zxid`, `time_ms`, `batching`) and `current` of each partition, which "
        "Kafka does not look at."
    )
    yield "## Journal of a reassignment: kdrill.reassignment-run/1\n\nIn `reassignments/` of the folder for state."
    yield from _structs(JournalFile)
    yield "## audit.jsonl\n\nIn the folder for state: a line before each action and one after it, with the same `id`."
    yield "\n".join(f"- {line}" for line in _audited())


def _written_by_hand() -> Iterator[str]:
    yield "## Scenario of a sandbox\n\nTOML; the same as `kdrill sandbox --help-scenario`. `[sandbox]` may say"
    yield f"{', '.join(f'`{name}`' for name in scenario.OPTIONS)}."
    yield f"```text\n{(scenario.__doc__ or '').rstrip()}\n```"
    yield "What a headless run ends with, `kdrill.scenario/1`, and begins with, `kdrill.sandbox/1`:"
    yield from _structs(SandboxOutcome)
    yield from _structs(SandboxReady)
    yield (
        "## config.toml\n\n`default`, `theme`, `notices`, `tour`, `[keys]` (action = key, or a list), and "
        "`[clusters.NAME]` with:"
    )
    yield from _structs(ClusterConfig)
    yield "## client.properties\n\nOf Kafka's keys those that are looked at; others are named in a warning."
    yield "\n".join(f"- `{key}`" for key in _properties())


def _of_json() -> Iterator[str]:
    yield "## What --json prints\n\nThe fields; those of objects and of the objects in a list behind the colon."
    yield from _printed()
    yield (
        "Of a KRaft cluster drills say behind `format`, in `not_forecast`, what they do not forecast, and "
        "`kdrill.drill/1` has `quorum`, where the voters are known, and without a majority `still_served`:"
    )
    yield from _structs(Turnout)
    yield from _structs(StillServed)
    yield "### kdrill.scan/1"
    yield from _structs(ScanResult)
    yield "### kdrill.history/1\n\n`clusters`, each of them:"
    yield from _structs(ClusterHistory)
    yield (
        "### Others\n\n"
        "- `kdrill.dump-log/1`: lines of `kind` `file`, one for each entry, `damage`, `remark` and `end`.\n"
        f"- `{ACTED}`: {_acted()}.\n"
        "- `kdrill.view/1`: what `e` on a screen writes: `columns`, and `rows` of `key`, `mark` and `cells`.\n"
        "- `kdrill.look/1`, `kdrill.views/1`, `kdrill.tour/1`: what the dashboard remembers; of no use elsewhere.\n"
        "- `kdrill.engines/1`: how long analyses took on this machine, in this process and on Spark.\n"
        "- `kdrill.audit/1`: what became of a sandbox's acknowledged records, within `kdrill.scenario/1`.\n"
        "- `kdrill.sandbox-folder/1`: what has to be the same when `--keep` goes on in a folder."
    )


def _structs(root: type) -> Iterator[str]:
    """A list of fields for the struct, and for each struct in it."""
    _, parts = msgspec.json.schema_components([root])
    for name, schema in parts.items():
        if fields := schema.get("properties"):
            needed = schema.get("required", ())
            rows = (
                f"- `{key}`: {_type(its, parts)}{'' if key in needed else '; may be left out'}"
                for key, its in fields.items()
            )
            yield f"**{name}**. {' '.join(schema.get('description', '').split())}".rstrip()
            yield "\n".join(rows)


def _type(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    match schema:
        case {"$ref": ref}:
            name = ref.rpartition("/")[2]
            return name if "properties" in parts[name] else _type(parts[name], parts)
        case {"anyOf": choices}:
            return " or ".join(_type(each, parts) for each in choices)
        case {"enum": values}:
            return " or ".join(f"`{json.dumps(value)}`" for value in values)
        case {"prefixItems": items}:
            return f"[{', '.join(_type(each, parts) for each in items)}]"
        case {"type": "array", "items": item}:
            return f"list of {_type(item, parts)}"
        case {"additionalProperties": {**item}}:
            return f"object of {_type(item, parts)}"
        case _:
            return schema.get("type", "anything")


def _column(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        return f"{kind.value_type}, as a dictionary"
    return f"list of {kind.value_type}" if pa.types.is_list(kind) else str(kind)


def _audited() -> Iterator[str]:
    """The fields of the lines of one action."""
    with tempfile.TemporaryDirectory() as folder:
        log = AuditLog(Path(folder), "zk://zk1:2181/kafka", lambda: 0)
        log.end(log.begin(Proposal("title", (ApiCall("ElectLeaders", {}),))), WriteOutcome("done"))
        for when, line in zip(("before", "after"), log.file.read_text().splitlines(), strict=True):
            yield f"{when}: {', '.join(f'`{key}`' for key in json.loads(line))}"


def _acted() -> str:
    """The fields of what `kdrill act --json` prints."""
    printed = StringIO()
    with redirect_stdout(printed):
        print_document(Proposal("title", ()), {"kind": "proposed", "said": ""})
    return ", ".join(f"`{key}`{_within(value)}" for key, value in json.loads(printed.getvalue()).items())


def _properties() -> list[str]:
    """Every key that an empty file was asked for."""
    asked: set[str] = set()

    class Noted(PropertiesFile):
        def text(self, key: str, default: str = "") -> str:
            asked.add(key)
            return super().text(key, default)

    with tempfile.NamedTemporaryFile() as empty, pytest.MonkeyPatch.context() as patch:
        patch.setattr(client_properties, "PropertiesFile", Noted)
        client_properties.read_client_properties(Path(empty.name), {})
    return sorted({*asked, client_properties.JAAS, PROVIDERS})


def _printed() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "example.json"
        write_snapshot(file, EXAMPLE, ())
        for form, words in RUNS.items():
            document = json.loads(kdrill(*(file if word == "FILE" else word for word in words)).stdout)
            assert document["format"] == form
            rows = "\n".join(f"- `{key}`{_within(value)}" for key, value in document.items())
            yield f"### {form}\n\n`kdrill {' '.join(words)}`"
            yield rows


def _within(value: Any) -> str:
    inner = value[0] if isinstance(value, list) and value else value
    if isinstance(inner, dict) and inner and all(map(FIXED_KEY.fullmatch, inner)):
        return ": " + ", ".join(f"`{key}`" for key in inner)
    return ""
