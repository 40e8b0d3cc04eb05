"""Changes of brokers and of the controller."""

from collections.abc import Iterator

from model.cluster.changes.change import Change, Step, differing
from model.cluster.cluster_image import BrokerImage


def broker_changes(step: Step) -> Iterator[Change]:
    """Registered, fenced, unfenced, lost, bounced, changed."""
    known = ({**image.fenced, **image.brokers} for image in (step.before, step.after))
    for broker, old, new in sorted(differing(*known), key=lambda one: one[0]):
        subject, path = f"broker {broker}", f"/brokers/ids/{broker}"
        if new is None:
            yield step.change("broker-lost", subject, f"b{broker} gone: {_end(step, old)}", path)
        elif new.fenced and (old is None or not old.fenced):
            yield step.change("broker-fenced", subject, f"b{broker} {_fenced(old)}", path)
        elif old is None:
            yield step.change("broker-registered", subject, f"b{broker} registered{_at(new)}", path)
        elif old.fenced and not new.fenced:
            yield step.change("broker-unfenced", subject, f"b{broker} unfenced: it serves{_epochs(old, new)}", path)
        elif (old.epoch, old.registered_ms) != (new.epoch, new.registered_ms):
            text = f"b{broker} bounced: registered anew{_epochs(old, new)}"
            yield step.change("broker-bounced", subject, text, path)
        elif old != new:
            yield step.change("broker-changed", subject, f"b{broker} {_difference(old, new)}", path)


def _end(step: Step, old: BrokerImage | None) -> str:
    if step.after.generation != "kraft" or (old is not None and old.fenced is not None):
        return "its registration was removed"
    return "it is fenced, or its registration was removed"


def _fenced(old: BrokerImage | None) -> str:
    if old is None:
        return "registered, and fenced: it serves nothing yet"
    if old.in_controlled_shutdown:
        return "fenced after its controlled shutdown: it is registered and serves nothing"
    return "fenced: it is registered and serves nothing (no heartbeats, or a controlled shutdown)"


def _at(broker: BrokerImage) -> str:
    rack = f" in rack {broker.rack}" if broker.rack else ""
    return f" at {', '.join(broker.endpoints)}{rack}" if broker.endpoints else rack


def _epochs(old: BrokerImage, new: BrokerImage) -> str:
    return f", broker epoch {old.epoch} -> {new.epoch}" if old.epoch != new.epoch else ""


def _difference(old: BrokerImage, new: BrokerImage) -> str:
    parts: list[str] = []
    if old.endpoints != new.endpoints:
        parts.append(f"endpoints {', '.join(old.endpoints) or 'none'} -> {', '.join(new.endpoints) or 'none'}")
    if old.rack != new.rack:
        parts.append(f"rack {old.rack or 'none'} -> {new.rack or 'none'}")
    return "; ".join(parts)


def controller_changes(step: Step) -> Iterator[Change]:
    """Moved, lost, elected; epoch raised. One line where both happened."""
    old, new = step.before.controller, step.after.controller
    epochs = f", epoch {_number(old.epoch)} -> {_number(new.epoch)}" if old.epoch != new.epoch else ""
    if new.broker is None and old.broker is not None:
        text = f"b{old.broker} is no longer the controller{step.because(old.broker)}{epochs}"
        yield step.change("controller-lost", "controller", text, "/controller", time_ms=new.since_ms)
    elif old.broker is None and new.broker is not None:
        text = f"b{new.broker} elected controller{epochs}"
        yield step.change("controller-elected", "controller", text, "/controller", time_ms=new.since_ms)
    elif old.broker != new.broker:
        cause = "" if old.broker is None else step.because(old.broker)
        text = f"controller b{old.broker} -> b{new.broker}{epochs}{cause}"
        yield step.change("controller-moved", "controller", text, "/controller", time_ms=new.since_ms)
    elif epochs:
        yield step.change("controller-epoch", "controller", f"controller{epochs[1:]}", "/controller_epoch")
    if step.before.cluster_id != step.after.cluster_id:
        yield step.change("cluster-identified", "cluster", f"cluster id {step.after.cluster_id}", "/cluster/id")


def _number(epoch: int | None) -> str:
    return "none" if epoch is None else str(epoch)
