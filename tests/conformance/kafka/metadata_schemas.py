"""The schemas of Kafka's metadata records, taken out of its jars: `model/metadata_log/schemas.py` is made by this.

    uv run python -m tests.conformance.kafka.metadata_schemas

fetches the jars of all releases below by Maven, prints how a version of a record differs between them, and writes the
table anew. A record has the fields of the newest release that knows it: what older ones lack is said by versions.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.maven import jars_folder

RELEASES = (
    "3.3.2", "3.4.1", "3.5.2", "3.6.2", "3.7.2", "3.8.1", "3.9.1", "4.0.0", "4.1.0", "4.2.0", "4.3.1", "4.4.0",
)  # fmt: skip
CONTROL = {
    "LeaderChangeMessage": 2, "SnapshotHeaderRecord": 3, "SnapshotFooterRecord": 4, "KRaftVersionRecord": 5,
    "VotersRecord": 6,
}  # fmt: skip
"""Control records have no api key: their type stands in the record's key (`ControlRecordType`, 4.4)."""
TABLE = Path(__file__).parents[3] / "model" / "metadata_log" / "schemas.py"
_BEGIN = "# What follows is written by tests/conformance/kafka/metadata_schemas.py.\n"

Json = dict[str, Any]


def schemas_of(release: str) -> dict[str, Json]:
    """By name: Kafka's own descriptions of metadata records and of the control records that go with them."""
    jars = jars_folder(f"kafka-metadata-{release}", (f"org.apache.kafka:kafka-metadata:{release}",))
    found: dict[str, Json] = {}
    for artifact, folder in (("kafka-metadata", "common/metadata/"), ("kafka-clients", "common/message/")):
        with zipfile.ZipFile(jars / f"{artifact}-{release}.jar") as archive:
            for path in archive.namelist():
                if path.startswith(folder) and path.endswith(".json"):
                    text = re.sub(r"^\s*//.*$", "", archive.read(path).decode(), flags=re.MULTILINE)
                    schema = json.loads(text)
                    if schema["type"] == "metadata" or schema["name"] in CONTROL:
                        found[schema["name"]] = schema
    return found


def versions(text: str, newest: int) -> tuple[int, int]:
    """`0`, `2+`, `0-1` or `none` as first and last."""
    if text == "none":
        return 0, -1
    first, _, last = text.rstrip("+").partition("-")
    return int(first), newest if text.endswith("+") else int(last or first)


def rendered(name: str, schema: Json) -> str:
    """A schema as an entry of the table."""
    newest = versions(schema["validVersions"], 0)[1]
    common = {each["name"]: each["fields"] for each in schema.get("commonStructs", [])}
    key = schema.get("apiKey", CONTROL.get(name))
    return f"Schema({name!r}, {key}, {newest}, {_tuple(_fields(schema['fields'], newest, common))})"


def _tuple(parts: Iterable[str]) -> str:
    """Without a comma at its end, after which each part would get a line of its own."""
    parts = list(parts)
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _fields(fields: list[Json], newest: int, common: Mapping[str, list[Json]]) -> Iterator[str]:
    for field in fields:
        kind, is_array = field["type"].removeprefix("[]"), field["type"].startswith("[]")
        inner = field.get("fields", common.get(kind))
        first, last = versions(field["versions"], newest)
        tagged, nullable = (
            versions(field.get(each, "none"), newest) for each in ("taggedVersions", "nullableVersions")
        )
        words = [repr(field["name"]), repr("struct" if inner is not None else kind)]
        if is_array:
            words.append("is_array=True")
        if (first, last) != (0, newest):
            words.append(f"first={first}" + (f", last={last}" if last != newest else ""))
        if tagged[1] >= 0:
            assert tagged == (first, last), (field, "is tagged in some of its versions")
            words.append(f"tag={field['tag']}")
        if nullable[1] >= 0:
            assert nullable[1] == newest, (field, "is nullable in some of its versions")
            words.append("nullable=True")
        if (default := _default(field, kind, is_array)) is not ...:
            words.append(f"default={default!r}")
        if inner is not None:
            words.append(f"fields={_tuple(_fields(inner, newest, common))}")
        yield f"Field({', '.join(words)})"


def _default(field: Json, kind: str, is_array: bool) -> object:
    """What a tagged field has where it is absent; of the others nobody asks."""
    if "tag" not in field:
        return ...
    text = field.get("default")
    if is_array or text == "null":  # of arrays the reader knows: null where that is allowed
        assert not is_array or (text == "null") == ("nullableVersions" in field), field
        return ...
    if kind == "string":
        return text or ""
    return text == "true" if kind == "bool" else int(text or 0)


def table(releases: tuple[str, ...]) -> str:
    """The entries, control records last."""
    newest: dict[str, str] = {}
    shapes: dict[str, tuple[str, Json]] = {}
    for release in releases:
        for name, schema in schemas_of(release).items():
            shape = _shape_of_known_versions(name, schema, shapes)
            if shape:
                print(f"{release}: {name} {shape}", file=sys.stderr)
            shapes[name] = (release, schema)
            newest[name] = rendered(name, schema)
    records = sorted((name for name in newest if name not in CONTROL), key=lambda name: shapes[name][1]["apiKey"])
    return (
        f"RECORDS: Final = {_tuple(newest[name] for name in records)}\n"
        '"""By api key; what later releases lack was never written, or is no longer."""\n\n'
        f"CONTROL_RECORDS: Final = {_tuple(newest[name] for name in CONTROL)}\n"
        '"""By the type in the key of the record, which is their `key` here. Each begins with its version."""\n'
    )


def _shape_of_known_versions(name: str, schema: Json, before: Mapping[str, tuple[str, Json]]) -> str:
    """How versions that an earlier release knows as well have changed; empty as a rule."""
    if name not in before:
        return f"is new, versions {schema['validVersions']}"
    release, earlier = before[name]
    last = min(versions(each["validVersions"], 0)[1] for each in (earlier, schema))
    changed = [version for version in range(last + 1) if _names(schema, version) != _names(earlier, version)]
    grown = f"versions {schema['validVersions']}" if schema["validVersions"] != earlier["validVersions"] else ""
    return f"version {changed} is not that of {release}" if changed else grown


def _names(schema: Json, version: int) -> list[tuple[str, str]]:
    """The fields of a version that are not tagged, in order."""
    return [
        (field["name"], field["type"])
        for field in schema["fields"]
        if version in range(versions(field["versions"], 99)[0], versions(field["versions"], 99)[1] + 1)
        and "tag" not in field
    ]


def main() -> None:
    """Writes the table, formatted."""
    text = TABLE.read_text()
    TABLE.write_text(text.partition(_BEGIN)[0] + _BEGIN + "\n" + table(RELEASES))
    subprocess.run(["ruff", "format", "-q", str(TABLE)], check=True)


if __name__ == "__main__":
    main()
