"""Every command on a cluster full of secrets, logging in with secrets: none is in anything it says or writes."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trust.canaries import FORMS, canary, forms_in
from tests.trust.ground import FOLDERS, SECRET_VARIABLES, Ground, ground
from tests.tui.data.pulses import Pulses, live
from tui.cli.main import COMMANDS
from tui.cli.options import opening_of
from tui.engine.config import load_config
from tui.engine.link import ProcessLink

LOOKS = (
    "status prod",
    "status prod --json",
    "status prod --prometheus",
    "topics prod list",
    "topics prod describe",
    "configs prod describe --entity-type topics",
    "configs prod describe --entity-type brokers",
    "configs prod describe --entity-type users",
    "configs prod describe --entity-type clients --json",
    "snapshot prod -o whole.json.zst",
    "record prod -o recording --for 1s",
    "drill prod --kill 2 --json -o drill.json",
    "drill prod --kill 2 --all",
    "drill prod --each-broker --json --engine here",
    "plan prod --rebalance -o plan.json --rollback back.json --json",
    "preview prod --json --engine here",
    "doctor --json",
    "keys --json",
    "assign",
)
"""Read, show, save; with a login by configuration and client.properties."""

AFTERWARDS = (
    "status whole.json.zst --json",
    "snapshot whole.json.zst -o again.json",
    "configs whole.json.zst describe --entity-type brokers",
    "status recording --json",
    "history recording --json --engine here",
    "plan whole.json.zst --remove-broker 2 --json",
    "forecast whole.json.zst --histories 20 --json --engine here",
)
"""Of what was saved."""

ADDED = f"ssl.key.password={canary('typed')},num.io.threads=7"
DEEDS = (
    f"configs prod alter --entity-type brokers --entity-name 2 --add-config {ADDED}",
    f"configs prod alter --entity-type brokers --entity-name 2 --add-config {ADDED} --json",
    f"configs prod alter --entity-type brokers --entity-name 2 --add-config {ADDED} --allow-writes --yes",
    f"configs prod alter --entity-type brokers --entity-name 2 --add-config {ADDED}0 --allow-writes --yes --json",
    "configs prod alter --entity-type brokers --entity-name 2 --delete-config ssl.key.password --allow-writes --yes",
    "configs prod alter --entity-type topics --entity-name orders --add-config retention.ms=9 --allow-writes --yes",
    "act prod elect-preferred --allow-writes --yes",
)
"""What is written down of them, in the audit log above all."""

REFUSED = (
    f"configs prod alter --entity-type topics --entity-name nobody --add-config {ADDED} --allow-writes --yes",
    f"configs prod alter --entity-type brokers --entity-name 2 --add-config ssl.key.password={canary('[')}=[,a --yes",
    "act prod elect-preferred --json",
    "status inline --connect-timeout 1",
    "status brokers --connect-timeout 1",
    "topics brokers describe --connect-timeout 1",
    f"status zk://alice:{canary('userinfo')}@127.0.0.1:1/kafka",
    f"status kafka://alice:{canary('userinfo of brokers')}@127.0.0.1:1",
    f"status https://alice:{canary('userinfo elsewhere')}@127.0.0.1:1",
    f"zk://alice:{canary('userinfo to open')}@127.0.0.1:1/kafka",
    "status prod --command-config {mine}/odd-1.properties",
    "status prod --command-config {mine}/odd-2.properties",
    "status prod --command-config {mine}/odd-3.properties",
    "status prod --config {mine}/odd-1.toml",
    "status prod --config {mine}/odd-2.toml",
    "status prod --config {mine}/odd-3.toml",
)
"""One line each."""

ODD = {
    "odd-1.properties": f'security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=x {canary("jaas")} "\n',
    "odd-2.properties": f"security.protocol=SSL\nssl.keystore.key={canary('key')}\nssl.keystore.type=PEM\n"
    f"ssl.keystore.certificate.chain={canary('chain')}\nssl.endpoint.identification.algorithm=x\n",
    "odd-3.properties": f"security.protocol=SSL\nssl.truststore.location=none.jks\n"
    f"ssl.truststore.password={canary('trust')}\nsasl.password\\u00zz={canary('escape')}\n",
    "odd-1.toml": f'[clusters.prod]\nzookeeper = ["a"]\nauth = "{canary("no scheme")}"\n',
    "odd-2.toml": f'[clusters.prod]\nzookeeper = ["a"]\nauth = "{canary("not closed")}\n',
    "odd-3.toml": f'[clusters.prod]\nzookeeper = ["a"]\nsasl = {{ username = "u", password = ["{canary("list")}"] }}\n',
}


@pytest.fixture
def here(tmp_path: Path, zookeeper: str) -> Iterator[Ground]:
    with ground(tmp_path, zookeeper) as here:
        for name, text in ODD.items():
            (here.mine / name).write_text(text)
        yield here


def test_nothing_that_any_command_says_or_writes_holds_a_secret(here: Ground) -> None:
    def run(words: str) -> tuple[str, int]:
        return words, here.run(*words.format(mine=here.mine).split())

    codes = dict(map(run, DEEDS))
    for round_ in (LOOKS, AFTERWARDS, REFUSED):
        codes |= dict(map(run, round_))
    every = [*LOOKS, *AFTERWARDS, *DEEDS]
    assert not {words: here.said for words in REFUSED if codes[words] == 0}
    assert {words.split()[0] for words in every} >= {*COMMANDS} - {"open", "sandbox", "scan", "dump-log", "guide"}
    assert not [words for words in every if codes[words] not in (0, 2)]
    kept = here.folder / FOLDERS["XDG_STATE_HOME"] / "kdrill"
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (kept, *kept.rglob("*"))}
    assert kept / "audit.jsonl" in modes and not {path: mode for path, mode in modes.items() if mode & 0o077}
    search = here.searched()
    print(f"{len(codes)} commands, {search.files} files, {search.searched_bytes:,} bytes, {len(FORMS)} forms")
    assert not search.found


async def test_the_data_process_gets_no_variable_that_holds_a_secret(
    here: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SECRET_VARIABLES.items():
        monkeypatch.setenv(name, value)
    opening = opening_of("prod", load_config(here.mine / "config.toml"))
    assert {*opening.login.variables} == {"CANARY_AUTH", "CANARY_ENV"}
    link, pulses = ProcessLink(opening), Pulses()
    await link.open(pulses.hear)
    try:
        await pulses.until(live)
        process = Path(f"/proc/{link.pid}")
        if process.exists():
            held = [*(process / "environ").read_bytes().split(b"\0"), (process / "cmdline").read_bytes()]
            assert [each.partition(b"=")[0] for each in held if forms_in(each)] == [b"CANARY_KEY"]
    finally:
        await link.close()
