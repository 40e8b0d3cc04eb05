"""All keys by name, those without effect here, those that run-time changes may name, and what an unknown one may mean.

Keys without effect are about security, KRaft's controllers, tiered storage, and threads and buffers of the Java
process: they are kept, checked and told as Kafka does. Source: `kafka.server.KafkaConfig`, `LogConfig`,
`DynamicBrokerConfig` (3.9.1).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import NamedTuple, cast

from model.broker.settings import keys
from model.broker.settings.keys import (
    INT_MAX,
    LONG_MAX,
    REAL_MAX,
    SHORT_MAX,
    Flag,
    Key,
    Matching,
    Optional,
    Real,
    Text,
    ValueKind,
    WholeNumber,
    WordList,
    long_from,
)

_KEPT = """
alter.config.policy.class.name CLASS - ; authorizer.class.name STRING '' ;
auto.include.jmx.reporter BOOLEAN true ; background.threads INT 10 1.. ;
broker.session.timeout.ms INT 9000 ; client.quota.callback.class CLASS - ;
compression.gzip.level INT -1 1..9|-1 =compression.gzip.level ;
compression.lz4.level INT 9 1..17 =compression.lz4.level ;
compression.zstd.level INT 3 -131072..22 =compression.zstd.level ;
connection.failed.authentication.delay.ms INT 100 0.. ; connections.max.reauth.ms LONG 0 ;
control.plane.listener.name STRING - ; controller.listener.names STRING - ; controller.quorum.append.linger.ms INT 25 ;
controller.quorum.election.backoff.max.ms INT 1000 ;
controller.quorum.election.timeout.ms INT 1000 ; controller.quorum.fetch.timeout.ms INT 2000 ;
controller.quorum.request.timeout.ms INT 2000 ; controller.quorum.retry.backoff.ms INT 20 ;
controller.quota.window.num INT 11 1.. ;
controller.quota.window.size.seconds INT 1 1.. ; controller.socket.timeout.ms INT 30000 ;
create.topic.policy.class.name CLASS - ; delegation.token.expiry.check.interval.ms LONG 3600000 1.. ;
delegation.token.expiry.time.ms LONG 86400000 1.. ; delegation.token.master.key PASSWORD - ;
delegation.token.max.lifetime.ms LONG 604800000 1.. ; delegation.token.secret.key PASSWORD - ;
delete.records.purgatory.purge.interval.requests INT 1 ; early.start.listeners STRING - ;
eligible.leader.replicas.enable BOOLEAN false ; fetch.purgatory.purge.interval.requests INT 1000 ;
group.consumer.assignors LIST ~coordinator.group.assignor.UniformAssignor,~coordinator.group.assignor.RangeAssignor ;
group.consumer.heartbeat.interval.ms INT 5000 1.. ; group.consumer.max.heartbeat.interval.ms INT 15000 1.. ;
group.consumer.max.session.timeout.ms INT 60000 1.. ; group.consumer.max.size INT 2147483647 1.. ;
group.consumer.migration.policy STRING disabled ; group.consumer.min.heartbeat.interval.ms INT 5000 1.. ;
group.consumer.min.session.timeout.ms INT 45000 1.. ; group.consumer.session.timeout.ms INT 45000 1.. ;
group.coordinator.append.linger.ms INT 10 0.. ; group.coordinator.new.enable BOOLEAN false ;
group.coordinator.rebalance.protocols LIST classic consumer|classic|share|unknown ;
group.coordinator.threads INT 1 1.. ; group.share.delivery.count.limit INT 5 2..10 ; group.share.enable BOOLEAN false ;
group.share.heartbeat.interval.ms INT 5000 1.. ; group.share.max.groups SHORT 10 1..100 ;
group.share.max.heartbeat.interval.ms INT 15000 1.. ; group.share.max.record.lock.duration.ms INT 60000 30000..3600000 ;
group.share.max.session.timeout.ms INT 60000 1.. ; group.share.max.size SHORT 200 10..1000 ;
group.share.min.heartbeat.interval.ms INT 5000 1.. ; group.share.min.record.lock.duration.ms INT 15000 1000..30000 ;
group.share.min.session.timeout.ms INT 45000 1.. ; group.share.partition.max.record.locks INT 200 100..10000 ;
group.share.record.lock.duration.ms INT 30000 1000..60000 ; group.share.session.timeout.ms INT 45000 1.. ;
kafka.metrics.polling.interval.secs INT 10 1.. ;
kafka.metrics.reporters LIST '' ; log.cleaner.dedupe.buffer.size LONG 134217728 ;
log.cleaner.io.buffer.load.factor DOUBLE 0.9 ; log.cleaner.io.buffer.size INT 524288 0.. ;
log.cleaner.io.max.bytes.per.second DOUBLE 1.7976931348623157E308 ; log.cleaner.threads INT 1 0.. ;
log.flush.interval.ms LONG - =flush.ms ;
log.flush.scheduler.interval.ms LONG 9223372036854775807 ; log.flush.start.offset.checkpoint.interval.ms INT 60000 0.. ;
log.initial.task.delay.ms LONG 30000 0.. ; log.local.retention.bytes LONG -2 -2.. =local.retention.bytes ;
log.local.retention.ms LONG -2 -2.. =local.retention.ms ;
log.message.timestamp.after.max.ms LONG 9223372036854775807 0.. =message.timestamp.after.max.ms ;
log.message.timestamp.before.max.ms LONG 9223372036854775807 0.. =message.timestamp.before.max.ms ;
log.message.timestamp.difference.max.ms LONG 9223372036854775807 0.. =message.timestamp.difference.max.ms ;
log.roll.jitter.hours INT 0 0.. ; log.roll.jitter.ms LONG - 0.. =segment.jitter.ms ;
max.connection.creation.rate INT 2147483647 0.. ; max.connections INT 2147483647 0.. ;
max.connections.per.ip INT 2147483647 0.. ; max.connections.per.ip.overrides STRING '' HOST:COUNT ;
max.request.partition.size.limit INT 2000 1.. ; metadata.log.dir STRING - ;
metadata.log.max.record.bytes.between.snapshots LONG 20971520 1.. ;
metadata.log.max.snapshot.interval.ms LONG 3600000 0.. ; metadata.log.segment.bytes INT 1073741824 12.. ;
metadata.log.segment.min.bytes INT 8388608 12.. ; metadata.log.segment.ms LONG 604800000 ;
metadata.max.idle.interval.ms INT 500 0.. ; metadata.max.retention.bytes LONG 104857600 ;
metadata.max.retention.ms LONG 604800000 ; metric.reporters LIST '' ~common.metrics.JmxReporter ;
metrics.num.samples INT 2 1.. ; metrics.recording.level STRING INFO ; metrics.sample.window.ms LONG 30000 1.. ;
num.io.threads INT 8 1.. ; num.network.threads INT 3 1.. ;
num.recovery.threads.per.data.dir INT 1 1.. ; num.replica.alter.log.dirs.threads INT - ;
offsets.commit.required.acks SHORT -1 ; offsets.load.buffer.size INT 5242880 1.. ;
offsets.topic.compression.codec INT 0 ; password.encoder.cipher.algorithm STRING AES/CBC/PKCS5Padding ;
password.encoder.iterations INT 4096 1024.. ; password.encoder.key.length INT 128 8.. ;
password.encoder.keyfactory.algorithm STRING - ; password.encoder.old.secret PASSWORD - ;
password.encoder.secret PASSWORD - ;
principal.builder.class CLASS ~common.security.authenticator.DefaultKafkaPrincipalBuilder ;
producer.id.expiration.check.interval.ms INT 600000 1.. ;
producer.purgatory.purge.interval.requests INT 1000 ; queued.max.request.bytes LONG -1 ;
queued.max.requests INT 500 1.. ; remote.fetch.max.wait.ms INT 500 1.. ;
remote.log.index.file.cache.total.size.bytes LONG 1073741824 1.. ; remote.log.manager.copier.thread.pool.size INT -1 ;
remote.log.manager.copy.max.bytes.per.second LONG 9223372036854775807 1.. ;
remote.log.manager.copy.quota.window.num INT 11 1.. ; remote.log.manager.copy.quota.window.size.seconds INT 1 1.. ;
remote.log.manager.expiration.thread.pool.size INT -1 ;
remote.log.manager.fetch.max.bytes.per.second LONG 9223372036854775807 1.. ;
remote.log.manager.fetch.quota.window.num INT 11 1.. ; remote.log.manager.fetch.quota.window.size.seconds INT 1 1.. ;
remote.log.manager.task.interval.ms LONG 30000 1.. ; remote.log.manager.task.retry.backoff.max.ms LONG 30000 1.. ;
remote.log.manager.task.retry.backoff.ms LONG 500 1.. ; remote.log.manager.task.retry.jitter DOUBLE 0.2 0..0.5 ;
remote.log.manager.thread.pool.size INT 10 1.. ; remote.log.metadata.custom.metadata.max.bytes INT 128 0.. ;
remote.log.metadata.manager.class.name STRING ~server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager ;
remote.log.metadata.manager.class.path STRING - ; remote.log.metadata.manager.impl.prefix STRING rlmm.config. ;
remote.log.metadata.manager.listener.name STRING - ; remote.log.reader.max.pending.tasks INT 100 1.. ;
remote.log.reader.threads INT 10 1.. ; remote.log.storage.manager.class.name STRING - ;
remote.log.storage.manager.class.path STRING - ; remote.log.storage.manager.impl.prefix STRING rsm.config. ;
remote.log.storage.system.enable BOOLEAN false ; replica.selector.class STRING - ;
replica.socket.receive.buffer.bytes INT 65536 ; sasl.client.callback.handler.class CLASS - ;
sasl.enabled.mechanisms LIST GSSAPI ; sasl.jaas.config PASSWORD - ; sasl.kerberos.kinit.cmd STRING /usr/bin/kinit ;
sasl.kerberos.min.time.before.relogin LONG 60000 ; sasl.kerberos.principal.to.local.rules LIST DEFAULT ;
sasl.kerberos.service.name STRING - ; sasl.kerberos.ticket.renew.jitter DOUBLE 0.05 ;
sasl.kerberos.ticket.renew.window.factor DOUBLE 0.8 ; sasl.login.callback.handler.class CLASS - ;
sasl.login.class CLASS - ; sasl.login.connect.timeout.ms INT - ; sasl.login.read.timeout.ms INT - ;
sasl.login.refresh.buffer.seconds SHORT 300 ; sasl.login.refresh.min.period.seconds SHORT 60 ;
sasl.login.refresh.window.factor DOUBLE 0.8 ; sasl.login.refresh.window.jitter DOUBLE 0.05 ;
sasl.login.retry.backoff.max.ms LONG 10000 ; sasl.login.retry.backoff.ms LONG 100 ;
sasl.mechanism.controller.protocol STRING GSSAPI ; sasl.mechanism.inter.broker.protocol STRING GSSAPI ;
sasl.oauthbearer.clock.skew.seconds INT 30 ; sasl.oauthbearer.expected.audience LIST - ;
sasl.oauthbearer.expected.issuer STRING - ; sasl.oauthbearer.jwks.endpoint.refresh.ms LONG 3600000 ;
sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms LONG 10000 ;
sasl.oauthbearer.jwks.endpoint.retry.backoff.ms LONG 100 ; sasl.oauthbearer.jwks.endpoint.url STRING - ;
sasl.oauthbearer.scope.claim.name STRING scope ; sasl.oauthbearer.sub.claim.name STRING sub ;
sasl.oauthbearer.token.endpoint.url STRING - ; sasl.server.callback.handler.class CLASS - ;
sasl.server.max.receive.size INT 524288 ;
security.inter.broker.protocol STRING PLAINTEXT PLAINTEXT|SSL|SASL_PLAINTEXT|SASL_SSL ; security.providers STRING - ;
server.max.startup.time.ms LONG 9223372036854775807 0.. ; socket.connection.setup.timeout.max.ms LONG 30000 ;
socket.connection.setup.timeout.ms LONG 10000 ; socket.listen.backlog.size INT 50 1.. ;
socket.receive.buffer.bytes INT 102400 ; socket.send.buffer.bytes INT 102400 ; ssl.allow.dn.changes BOOLEAN false ;
ssl.allow.san.changes BOOLEAN false ; ssl.cipher.suites LIST '' ; ssl.client.auth STRING none required|requested|none ;
ssl.enabled.protocols LIST TLSv1.2,TLSv1.3 ; ssl.endpoint.identification.algorithm STRING https ;
ssl.engine.factory.class CLASS - ; ssl.key.password PASSWORD - ; ssl.keymanager.algorithm STRING SunX509 ;
ssl.keystore.certificate.chain PASSWORD - ; ssl.keystore.key PASSWORD - ; ssl.keystore.location STRING - ;
ssl.keystore.password PASSWORD - ; ssl.keystore.type STRING JKS ; ssl.principal.mapping.rules STRING DEFAULT ;
ssl.protocol STRING TLSv1.3 ; ssl.provider STRING - ; ssl.secure.random.implementation STRING - ;
ssl.trustmanager.algorithm STRING PKIX ; ssl.truststore.certificates PASSWORD - ; ssl.truststore.location STRING - ;
ssl.truststore.password PASSWORD - ; ssl.truststore.type STRING JKS ; telemetry.max.bytes INT 1048576 1.. ;
transaction.abort.timed.out.transaction.cleanup.interval.ms INT 10000 1.. ; transaction.max.timeout.ms INT 900000 1.. ;
transaction.partition.verification.enable BOOLEAN true ;
transaction.remove.expired.transaction.cleanup.interval.ms INT 3600000 1.. ;
transaction.state.log.load.buffer.size INT 5242880 1.. ; transaction.state.log.min.isr INT 2 1.. ;
transaction.state.log.num.partitions INT 50 1.. ; transaction.state.log.replication.factor SHORT 3 1.. ;
transaction.state.log.segment.bytes INT 104857600 1.. ; transactional.id.expiration.ms INT 604800000 1.. ;
unclean.leader.election.interval.ms LONG 300000 1.. ; unstable.api.versions.enable BOOLEAN false ;
unstable.feature.versions.enable BOOLEAN false ; zookeeper.clientCnxnSocket STRING - ;
zookeeper.metadata.migration.enable BOOLEAN false ; zookeeper.metadata.migration.min.batch.size INT 200 1.. ;
zookeeper.set.acl BOOLEAN false ; zookeeper.ssl.cipher.suites LIST - ; zookeeper.ssl.client.enable BOOLEAN false ;
zookeeper.ssl.crl.enable BOOLEAN false ; zookeeper.ssl.enabled.protocols LIST - ;
zookeeper.ssl.endpoint.identification.algorithm STRING HTTPS ; zookeeper.ssl.keystore.location STRING - ;
zookeeper.ssl.keystore.password PASSWORD - ; zookeeper.ssl.keystore.type STRING - ;
zookeeper.ssl.ocsp.enable BOOLEAN false ; zookeeper.ssl.protocol STRING TLSv1.2 ;
zookeeper.ssl.truststore.location STRING - ; zookeeper.ssl.truststore.password PASSWORD - ;
zookeeper.ssl.truststore.type STRING -
"""
"""Name, type, default (- for none), check (least..most, or words) and = the name by which topics override it;
a semicolon ends each, and ~ is org.apache.kafka."""

_KEPT_OF_TOPICS = """
remote.log.copy.disable BOOLEAN false false ; remote.log.delete.on.disable BOOLEAN false false ;
remote.storage.enable BOOLEAN false false
"""
"""Of topics alone; tiered storage cannot be switched on where brokers have none."""

_CLUSTER_WIDE = """
background.threads compression.gzip.level compression.lz4.level compression.type compression.zstd.level
log.cleaner.backoff.ms log.cleaner.dedupe.buffer.size log.cleaner.delete.retention.ms
log.cleaner.io.buffer.load.factor log.cleaner.io.buffer.size log.cleaner.io.max.bytes.per.second
log.cleaner.max.compaction.lag.ms log.cleaner.min.cleanable.ratio log.cleaner.min.compaction.lag.ms
log.cleaner.threads log.cleanup.policy log.flush.interval.messages log.flush.interval.ms log.index.interval.bytes
log.index.size.max.bytes log.local.retention.bytes log.local.retention.ms log.message.downconversion.enable
log.message.timestamp.after.max.ms log.message.timestamp.before.max.ms log.message.timestamp.difference.max.ms
log.message.timestamp.type log.preallocate log.retention.bytes log.retention.ms log.roll.jitter.ms log.roll.ms
log.segment.bytes log.segment.delete.delay.ms max.connection.creation.rate max.connections max.connections.per.ip
max.connections.per.ip.overrides message.max.bytes metric.reporters min.insync.replicas num.io.threads
num.network.threads num.recovery.threads.per.data.dir num.replica.fetchers producer.id.expiration.ms
remote.fetch.max.wait.ms remote.log.index.file.cache.total.size.bytes remote.log.manager.copy.max.bytes.per.second
remote.log.manager.fetch.max.bytes.per.second transaction.partition.verification.enable unclean.leader.election.enable
"""
_OF_ONE_BROKER = """
advertised.listeners listener.security.protocol.map listeners principal.builder.class sasl.enabled.mechanisms
sasl.jaas.config sasl.kerberos.kinit.cmd sasl.kerberos.min.time.before.relogin sasl.kerberos.principal.to.local.rules
sasl.kerberos.service.name sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor
sasl.login.refresh.buffer.seconds sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor
sasl.login.refresh.window.jitter sasl.mechanism.inter.broker.protocol ssl.cipher.suites ssl.client.auth
ssl.enabled.protocols ssl.endpoint.identification.algorithm ssl.engine.factory.class ssl.key.password
ssl.keymanager.algorithm ssl.keystore.certificate.chain ssl.keystore.key ssl.keystore.location ssl.keystore.password
ssl.keystore.type ssl.protocol ssl.provider ssl.secure.random.implementation ssl.trustmanager.algorithm
ssl.truststore.certificates ssl.truststore.location ssl.truststore.password ssl.truststore.type
"""
_UNTOLD = """
replica.lag.max.messages
group.consumer.migration.policy group.coordinator.new.enable group.share.enable metadata.log.segment.min.bytes
producer.id.expiration.check.interval.ms remote.log.manager.task.retry.backoff.max.ms
remote.log.manager.task.retry.backoff.ms remote.log.manager.task.retry.jitter server.max.startup.time.ms
unclean.leader.election.interval.ms unstable.api.versions.enable unstable.feature.versions.enable
zookeeper.metadata.migration.min.batch.size
"""

CLUSTER_WIDE = frozenset(_CLUSTER_WIDE.split())
"""What may be set on brokers that run, on one of them or on all (`DynamicBrokerConfig.AllDynamicConfigs`, 3.9.1)."""
OF_ONE_BROKER = frozenset(_OF_ONE_BROKER.split())
"""What may be set on one broker that runs, and not on all."""
OF_LISTENERS_OF_ALL = frozenset({"max.connections", "max.connection.creation.rate", "num.network.threads"})
"""Keys that may be set for a listener of all brokers (`listener.name.outside.max.connections`)."""
DYNAMIC_KEYS = CLUSTER_WIDE | OF_ONE_BROKER
WITH_PREFIX_ALONE = frozenset(
    name for name in OF_ONE_BROKER if name.startswith(("ssl.keystore.", "ssl.truststore.", "ssl.key.", "ssl.engine."))
)
"""What must name the listener (`SslConfigs.RECONFIGURABLE_CONFIGS`)."""
UNTOLD_KEYS = frozenset(_UNTOLD.split())
"""Kafka's internal keys, which DescribeConfigs leaves out unless they are set, and one that Kafka dropped in 0.9."""
READ_AT_THE_START = frozenset({"advertised.listeners", "listener.security.protocol.map", "listeners"})
"""These brokers keep what is set while they run, and go on listening where the file said."""

OURS = "kdrill."
"""What the names of our own keys begin with: what drills do to a broker while it runs. Kafka knows none of them."""

_BOUNDS = re.compile(r"(-?[\d.]+)\.\.([\d.]*)(?:\|(-?\d+))?")
_MOST = {"INT": INT_MAX, "LONG": LONG_MAX, "SHORT": SHORT_MAX}


def _kind(type_: str, check: str, default: str) -> ValueKind[object]:
    bounds, words = _BOUNDS.fullmatch(check), tuple(filter(None, check.split("|")))
    if type_ in _MOST:
        most = _MOST[type_]
        if bounds is None:
            return WholeNumber(-most - 1, most, type_)
        also = None if bounds[3] is None else int(bounds[3])
        return WholeNumber(int(bounds[1]), int(bounds[2] or most), type_, also)
    if type_ == "DOUBLE":
        return Real(float(bounds[1]), float(bounds[2])) if bounds else Real(-REAL_MAX, REAL_MAX)
    if type_ == "BOOLEAN":
        return Flag(only_false=bool(words))
    if type_ == "LIST":
        return WordList(words)
    if check == "HOST:COUNT":
        return Matching(r".+:\d+", f"{check}, with commas", type_)
    if type_ == "CLASS":
        words = (default.strip("-"),)  # no other class is known here
    return Text(words, type_)


def _table(text: str, *, in_files: bool = True, of_topics: bool = False) -> Iterator[Key[object]]:
    for row in text.replace("~", "org.apache.kafka.").split(";"):
        name, type_, default, *more = row.split()
        topic = next((word[1:] for word in more if word.startswith("=")), name if of_topics else "")
        kind = _kind(type_, next((word for word in more if not word.startswith("=")), ""), default)
        if default == "-":
            yield Key(name, Optional(kind), None, topic, in_files)
        else:
            yield Key(name, kind, kind.read(default.strip("'")), topic, in_files)


_KEYS = tuple(cast(Key[object], value) for value in vars(keys).values() if isinstance(value, Key))


def _named(keys: Iterable[Key[object]]) -> Mapping[str, Key[object]]:
    return MappingProxyType({key.name: key for key in keys})


KEYS = _named(key for key in _KEYS if key.in_files and not key.name.startswith(OURS))
"""Keys of server.properties that have an effect here."""
OWN_KEYS = _named(key for key in _KEYS if key.name.startswith(OURS))
"""Keys that Kafka does not know."""
RATE_KEYS = _named(key for key in _KEYS if not key.in_files and not key.topic)
"""Keys that are set on brokers that run, and stand in no file (`kafka.server.DynamicConfig.Broker`, 3.9.1)."""
KEPT_KEYS = _named(_table(_KEPT))
"""The other keys of server.properties: kept, checked when they are changed, and without effect here."""
_FOR_TOPICS: Mapping[str, ValueKind[object]] = {
    "log.retention.ms": Optional(long_from(-1)),
    "log.flush.interval.ms": Optional(long_from(0)),
}
"""Where topics take less than brokers do."""


def _of_topics(keys: Iterable[Key[object]]) -> Mapping[str, Key[object]]:
    taken = {key.topic: replace(key, kind=_FOR_TOPICS.get(key.name, key.kind)) for key in keys if key.topic}
    return MappingProxyType(taken)


TOPIC_KEYS = _of_topics(_KEYS)
"""Keys by the names under which topics override them."""
KEPT_TOPIC_KEYS = _of_topics((*KEPT_KEYS.values(), *_table(_KEPT_OF_TOPICS, in_files=False, of_topics=True)))
"""Those of topics that are kept, and have no effect here."""
ALL_TOPIC_KEYS: Mapping[str, Key[object]] = MappingProxyType({**TOPIC_KEYS, **KEPT_TOPIC_KEYS})
NEWER_TOPIC_KEYS = frozenset(
    {
        "errors.deadletterqueue.group.enable",
        "internal.segment.bytes",
        "max.decompressed.message.bytes",
        "remote.copy.lag.bytes",
        "remote.copy.lag.ms",
    }
)
"""What 4.0 to 4.4 added (`LogConfig.configNames`): controllers take these, and brokers here do not know them."""

REPLACED_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "advertised.host.name": "advertised.listeners",
        "advertised.port": "advertised.listeners",
        "host.name": "listeners",
        "port": "listeners",
    }
)
"""Keys that Kafka dropped in 3.0, and what to use instead."""

_OF_LISTENER = re.compile(r"listener\.name\.[^.]*\.(.+)")


def of_listener(name: str) -> str | None:
    """The key that a name stands for as to one listener (`listener.name.outside.ssl.protocol`)."""
    found = _OF_LISTENER.fullmatch(name)
    return None if found is None else found[1]


def key_in_files(name: str) -> Key[object] | None:
    """A key of server.properties by its very name; None for a name that none has."""
    return KEYS.get(name) or KEPT_KEYS.get(name)


def broker_key(name: str) -> Key[object] | None:
    """A key of brokers, of one listener too, however it may be set; None for a name that Kafka does not know."""
    for each in filter(None, (name, of_listener(name))):
        key = key_in_files(each) or RATE_KEYS.get(each)
        if key is not None:
            return key
    return None


def remark_on(name: str, *, of_topic: bool = False) -> str | None:
    """What to tell a user about a key that has no effect; None for one that has."""
    known, unserved = (TOPIC_KEYS, KEPT_TOPIC_KEYS) if of_topic else (KEYS, KEPT_KEYS)
    if name in unserved or name.startswith("listener.name."):
        return f"{name} has no effect here"
    if name in known or name in OWN_KEYS or name in RATE_KEYS:
        return None
    if not of_topic and name in REPLACED_KEYS:
        return f"{name} is no key of Kafka any more: use {REPLACED_KEYS[name]}"
    near = get_close_matches(name, [*known, *unserved], n=1, cutoff=0.6)
    what = "a topic's configuration" if of_topic else "server.properties"
    return f"{name[:80]!r} is no key of {what}" + (f": did you mean {near[0]}?" if near else "")


def kept_alone(names: Iterable[str], /, *, of_topic: bool) -> tuple[str, ...]:
    """Those of these settings that our brokers keep, tell and do not obey."""
    return tuple(
        name
        for name in sorted(names)
        if name in READ_AT_THE_START or remark_on(name, of_topic=of_topic) == f"{name} has no effect here"
    )


class CheckedSettings(NamedTuple):
    """`refusals`: values that no broker takes; `remarks`: names that look wrong."""

    refusals: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def said_of(kind: str, wanted: Mapping[str, str]) -> CheckedSettings:
    """Of settings of `topics` or `brokers`; keys of others, and of plug-ins, are the operator's own to know."""
    of_topic = kind == "topics"
    refusals: list[str] = []
    remarks: list[str] = []
    for name, value in wanted.items():
        key = TOPIC_KEYS.get(name) if of_topic else KEYS.get(name) or RATE_KEYS.get(name)
        if key is None:
            remark = remark_on(name, of_topic=of_topic) or ""
            if remark and not remark.endswith("has no effect here"):
                remarks.append(remark)
            continue
        try:
            key.read(value, name)
        except ValueError as error:
            refusals.append(str(error))
        if not of_topic and name not in DYNAMIC_KEYS and name not in RATE_KEYS:
            remarks.append(f"{name} is read at the start: brokers that run do not take it from here")
    return CheckedSettings(tuple(refusals), tuple(remarks))
