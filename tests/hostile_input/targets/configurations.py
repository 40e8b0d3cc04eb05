"""Files that say how kdrill or a broker is to run: TOML and properties."""

from __future__ import annotations

from pathlib import Path
from random import Random

from model.broker.settings.server_properties import read_server_properties
from model.broker.settings.settings import Settings
from model.hosts.client_properties import read_client_properties
from model.hosts.client_security import SecurityError
from model.hosts.tls import tls_context
from model.sandbox import scenario
from model.sandbox.processes import SandboxError
from model.sandbox.scenario import read_scenario, scenario_text
from tests.hostile_input.broken_text import broken_text
from tests.hostile_input.shown import check_error
from tests.hostile_input.target import Target
from tui.engine.config import ConfigError, load_config
from tui.engine.keymap import remapped

_CONFIG = b"""default = "prod-eu1"
theme = "light"
notices = false
[clusters.prod-eu1]
zookeeper = ["zk1:2181", "zk2:2181"]
kafka = ["broker1:9093"]
chroot = "/kafka"
auth = { file = "~/.kdrill-auth" }
tls = { ca = "ca.pem", cert = "me.pem", key = "me.key", check_hostname = false }
sasl = { username = "kdrill", password = { env = "ZK_PASSWORD" } }
command_config = "client.properties"
poll = 1.5
max_reads_per_second = 2000
max_in_flight = 10
[keys]
sort = "o"
related = ["ctrl+o", "f5"]
"""
_SCENARIO = "\n".join(
    line.removeprefix("    ") for line in (scenario.__doc__ or "").partition("What can be done")[0].split("\n")[2:]
).encode()
_CLIENT = rb"""# a comment
security.protocol=SASL_SSL
sasl.mechanism = SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \
  username="ann" password="s3cr\u0065t";
ssl.truststore.type=PEM
ssl.truststore.certificates=-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----
ssl.endpoint.identification.algorithm=
ssl.enabled.protocols=TLSv1.2,TLSv1.3
config.providers=file,env
config.providers.file.class=org.apache.kafka.common.config.provider.FileConfigProvider
config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider
ssl.key.password=${env:HOME}
sasl.password=${file:/dev/null:key}
zookeeper.ssl.client.enable=true
zookeeper.ssl.truststore.type=PEM
"""
_SERVER = rb"""broker.id=1
listeners=PLAINTEXT://127.0.0.1:9092,SSL://:9093
advertised.listeners=PLAINTEXT://a:9092
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SSL:SSL
log.dirs=/a,/b
num.partitions=3
log.retention.ms=-1
log.segment.bytes=1073741824
log.cleanup.policy=compact,delete
auto.leader.rebalance.enable=true
leader.imbalance.check.interval.seconds=300
zookeeper.connect=127.0.0.1:2181/kafka
inter.broker.protocol.version=2.8
compression.type=zstd
offsets.topic.num.partitions=5
replica.lag.time.max.ms=10000
"""


def _file(folder: Path, name: str, case: bytes) -> Path:
    file = folder / name
    file.write_bytes(case)
    return file


def _judge_config(case: bytes, folder: Path) -> None:
    try:
        config = load_config(_file(folder, "config.toml", case))
        remapped(config)
        for name, cluster in config.clusters.items():
            for key, secret in (
                ("auth", cluster.auth),
                ("sasl.password", cluster.sasl.password if cluster.sasl else ""),
            ):
                config.secret(secret, f"clusters.{name}.{key}")
    except ConfigError as error:
        check_error(error)


def _judge_scenario(case: bytes, folder: Path) -> None:
    try:
        found = read_scenario(_file(folder, "drill.toml", case))
    except SandboxError as error:
        check_error(error)
        return
    assert read_scenario(_file(folder, "again.toml", scenario_text(found).encode())) == found


def _judge_client(case: bytes, folder: Path) -> None:
    try:
        security = read_client_properties(_file(folder, "client.properties", case), {"HOME": "/h"})
        for tls in filter(None, (security.kafka.tls, security.zookeeper)):
            if tls.truststore and tls.truststore.certificates:  # of nothing else OpenSSL has a say here
                tls_context(tls)
    except SecurityError as error:
        check_error(error)
    else:
        for warning in security.warnings:
            check_error(warning)


def _judge_server(case: bytes, _folder: Path) -> None:
    found = read_server_properties(case.decode("iso-8859-1"))
    assert isinstance(found.settings, Settings)
    for line in (*found.refusals, *found.remarks):
        check_error(line)


def _words(*examples: bytes) -> tuple[str, ...]:
    return tuple({word for example in examples for word in example.decode().split()})


def _target(name: str, example: bytes, judge: object) -> Target:
    words = _words(example)

    def make(random: Random) -> bytes:
        return broken_text(random, (example,), words)

    return Target(name, make, judge)  # pyright: ignore[reportArgumentType]


CONFIG = _target("config", _CONFIG, _judge_config)
SCENARIOS = _target("scenarios", _SCENARIO, _judge_scenario)
CLIENT = _target("client-properties", _CLIENT, _judge_client)
SERVER = _target("server-properties", _SERVER, _judge_server)
