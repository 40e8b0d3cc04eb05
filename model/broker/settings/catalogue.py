"""All keys by name, those without effect here, and what a name that is none of them may have been meant for.

Keys without effect are about security, quotas, KRaft, tiered storage, and threads and buffers of the Java process;
they are listed so that they are told apart from typing errors. Source: `kafka.server.KafkaConfig`, `LogConfig`
(3.9.1).
"""

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import cast

from model.broker.settings import keys
from model.broker.settings.kinds import Key

_OF_BROKERS = """
alter.config.policy.class.name alter.log.dirs.replication.quota.window.num
alter.log.dirs.replication.quota.window.size.seconds authorizer.class.name auto.include.jmx.reporter
background.threads broker.heartbeat.interval.ms broker.session.timeout.ms client.quota.callback.class
compression.gzip.level compression.lz4.level compression.zstd.level connection.failed.authentication.delay.ms
connections.max.reauth.ms control.plane.listener.name controller.listener.names controller.quorum.append.linger.ms
controller.quorum.bootstrap.servers controller.quorum.election.backoff.max.ms controller.quorum.election.timeout.ms
controller.quorum.fetch.timeout.ms controller.quorum.request.timeout.ms controller.quorum.retry.backoff.ms
controller.quorum.voters controller.quota.window.num controller.quota.window.size.seconds controller.socket.timeout.ms
create.topic.policy.class.name delegation.token.expiry.check.interval.ms delegation.token.expiry.time.ms
delegation.token.master.key delegation.token.max.lifetime.ms delegation.token.secret.key
delete.records.purgatory.purge.interval.requests early.start.listeners eligible.leader.replicas.enable
fetch.purgatory.purge.interval.requests group.consumer.assignors group.consumer.heartbeat.interval.ms
group.consumer.max.heartbeat.interval.ms group.consumer.max.session.timeout.ms group.consumer.max.size
group.consumer.migration.policy group.consumer.min.heartbeat.interval.ms group.consumer.min.session.timeout.ms
group.consumer.session.timeout.ms group.coordinator.append.linger.ms group.coordinator.new.enable
group.coordinator.rebalance.protocols group.coordinator.threads group.share.delivery.count.limit group.share.enable
group.share.heartbeat.interval.ms group.share.max.groups group.share.max.heartbeat.interval.ms
group.share.max.record.lock.duration.ms group.share.max.session.timeout.ms group.share.max.size
group.share.min.heartbeat.interval.ms group.share.min.record.lock.duration.ms group.share.min.session.timeout.ms
group.share.partition.max.record.locks group.share.record.lock.duration.ms group.share.session.timeout.ms
initial.broker.registration.timeout.ms kafka.metrics.polling.interval.secs kafka.metrics.reporters
log.cleaner.dedupe.buffer.size log.cleaner.io.buffer.load.factor log.cleaner.io.buffer.size
log.cleaner.io.max.bytes.per.second log.cleaner.threads log.dir.failure.timeout.ms log.flush.interval.ms
log.flush.scheduler.interval.ms log.flush.start.offset.checkpoint.interval.ms log.initial.task.delay.ms
log.local.retention.bytes log.local.retention.ms
log.message.timestamp.after.max.ms log.message.timestamp.before.max.ms log.message.timestamp.difference.max.ms
log.roll.jitter.hours log.roll.jitter.ms max.connection.creation.rate max.connections max.connections.per.ip
max.connections.per.ip.overrides max.request.partition.size.limit metadata.log.dir
metadata.log.max.record.bytes.between.snapshots metadata.log.max.snapshot.interval.ms metadata.log.segment.bytes
metadata.log.segment.min.bytes metadata.log.segment.ms metadata.max.idle.interval.ms metadata.max.retention.bytes
metadata.max.retention.ms metric.reporters metrics.num.samples metrics.recording.level metrics.sample.window.ms
node.id num.io.threads num.network.threads num.recovery.threads.per.data.dir num.replica.alter.log.dirs.threads
offsets.commit.required.acks offsets.load.buffer.size offsets.topic.compression.codec
password.encoder.cipher.algorithm password.encoder.iterations password.encoder.key.length
password.encoder.keyfactory.algorithm password.encoder.old.secret password.encoder.secret principal.builder.class
process.roles producer.id.expiration.check.interval.ms producer.purgatory.purge.interval.requests
queued.max.request.bytes queued.max.requests quota.window.num quota.window.size.seconds remote.fetch.max.wait.ms
remote.log.index.file.cache.total.size.bytes remote.log.manager.copier.thread.pool.size
remote.log.manager.copy.max.bytes.per.second remote.log.manager.copy.quota.window.num
remote.log.manager.copy.quota.window.size.seconds remote.log.manager.expiration.thread.pool.size
remote.log.manager.fetch.max.bytes.per.second remote.log.manager.fetch.quota.window.num
remote.log.manager.fetch.quota.window.size.seconds remote.log.manager.task.interval.ms
remote.log.manager.task.retry.backoff.max.ms remote.log.manager.task.retry.backoff.ms
remote.log.manager.task.retry.jitter remote.log.manager.thread.pool.size remote.log.metadata.custom.metadata.max.bytes
remote.log.metadata.manager.class.name remote.log.metadata.manager.class.path remote.log.metadata.manager.impl.prefix
remote.log.metadata.manager.listener.name remote.log.reader.max.pending.tasks remote.log.reader.threads
remote.log.storage.manager.class.name remote.log.storage.manager.class.path remote.log.storage.manager.impl.prefix
remote.log.storage.system.enable replica.selector.class replica.socket.receive.buffer.bytes
replication.quota.window.num replication.quota.window.size.seconds sasl.client.callback.handler.class
sasl.enabled.mechanisms sasl.jaas.config sasl.kerberos.kinit.cmd sasl.kerberos.min.time.before.relogin
sasl.kerberos.principal.to.local.rules sasl.kerberos.service.name sasl.kerberos.ticket.renew.jitter
sasl.kerberos.ticket.renew.window.factor sasl.login.callback.handler.class sasl.login.class
sasl.login.connect.timeout.ms sasl.login.read.timeout.ms sasl.login.refresh.buffer.seconds
sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor sasl.login.refresh.window.jitter
sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms sasl.mechanism.controller.protocol
sasl.mechanism.inter.broker.protocol sasl.oauthbearer.clock.skew.seconds sasl.oauthbearer.expected.audience
sasl.oauthbearer.expected.issuer sasl.oauthbearer.jwks.endpoint.refresh.ms
sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.ms
sasl.oauthbearer.jwks.endpoint.url sasl.oauthbearer.scope.claim.name sasl.oauthbearer.sub.claim.name
sasl.oauthbearer.token.endpoint.url sasl.server.callback.handler.class sasl.server.max.receive.size
security.inter.broker.protocol security.providers server.max.startup.time.ms socket.connection.setup.timeout.max.ms
socket.connection.setup.timeout.ms socket.listen.backlog.size socket.receive.buffer.bytes socket.send.buffer.bytes
ssl.allow.dn.changes ssl.allow.san.changes ssl.cipher.suites ssl.client.auth ssl.enabled.protocols
ssl.endpoint.identification.algorithm ssl.engine.factory.class ssl.key.password ssl.keymanager.algorithm
ssl.keystore.certificate.chain ssl.keystore.key ssl.keystore.location ssl.keystore.password ssl.keystore.type
ssl.principal.mapping.rules ssl.protocol ssl.provider ssl.secure.random.implementation ssl.trustmanager.algorithm
ssl.truststore.certificates ssl.truststore.location ssl.truststore.password ssl.truststore.type telemetry.max.bytes
transaction.abort.timed.out.transaction.cleanup.interval.ms transaction.max.timeout.ms
transaction.partition.verification.enable transaction.remove.expired.transaction.cleanup.interval.ms
transaction.state.log.load.buffer.size transaction.state.log.min.isr transaction.state.log.num.partitions
transaction.state.log.replication.factor transaction.state.log.segment.bytes transactional.id.expiration.ms
unclean.leader.election.interval.ms unstable.api.versions.enable unstable.feature.versions.enable
zookeeper.clientCnxnSocket zookeeper.metadata.migration.enable zookeeper.metadata.migration.min.batch.size
zookeeper.set.acl zookeeper.ssl.cipher.suites zookeeper.ssl.client.enable zookeeper.ssl.crl.enable
zookeeper.ssl.enabled.protocols zookeeper.ssl.endpoint.identification.algorithm zookeeper.ssl.keystore.location
zookeeper.ssl.keystore.password zookeeper.ssl.keystore.type zookeeper.ssl.ocsp.enable zookeeper.ssl.protocol
zookeeper.ssl.truststore.location zookeeper.ssl.truststore.password zookeeper.ssl.truststore.type
"""

_OF_TOPICS = """
compression.gzip.level compression.lz4.level compression.zstd.level flush.ms follower.replication.throttled.replicas
leader.replication.throttled.replicas local.retention.bytes local.retention.ms
message.timestamp.after.max.ms message.timestamp.before.max.ms
message.timestamp.difference.max.ms remote.log.copy.disable remote.log.delete.on.disable remote.storage.enable
segment.jitter.ms
"""

UNSERVED_KEYS = frozenset(_OF_BROKERS.split())
UNSERVED_TOPIC_KEYS = frozenset(_OF_TOPICS.split())


OURS = "kdrill."
"""What the names of our own keys begin with: what drills do to a broker while it runs. Kafka knows none of them."""

_KEYS = tuple(cast(Key[object], value) for value in vars(keys).values() if isinstance(value, Key))

KEYS: Mapping[str, Key[object]] = MappingProxyType({key.name: key for key in _KEYS if not key.name.startswith(OURS)})
"""Keys that have an effect here."""

OWN_KEYS: Mapping[str, Key[object]] = MappingProxyType({key.name: key for key in _KEYS if key.name.startswith(OURS)})
"""Keys that Kafka does not know."""

TOPIC_KEYS: Mapping[str, Key[object]] = MappingProxyType({key.topic: key for key in KEYS.values() if key.topic})
"""The same by the names under which topics override them."""

REPLACED_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "advertised.host.name": "advertised.listeners",
        "advertised.port": "advertised.listeners",
        "host.name": "listeners",
        "port": "listeners",
    }
)
"""Keys that Kafka dropped in 3.0, and what to use instead."""


def remark_on(name: str, *, of_topic: bool = False) -> str | None:
    """What to tell a user about a key that has no effect; None for one that has."""
    known, unserved = (TOPIC_KEYS, UNSERVED_TOPIC_KEYS) if of_topic else (KEYS, UNSERVED_KEYS)
    if name in known or name in OWN_KEYS:
        return None
    if name in unserved or name.startswith("listener.name."):
        return f"{name} has no effect here"
    if not of_topic and name in REPLACED_KEYS:
        return f"{name} is no key of Kafka any more: use {REPLACED_KEYS[name]}"
    near = get_close_matches(name, [*known, *unserved], n=1, cutoff=0.6)
    what = "a topic's configuration" if of_topic else "server.properties"
    return f"{name[:80]!r} is no key of {what}" + (f": did you mean {near[0]}?" if near else "")
