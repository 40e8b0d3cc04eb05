"""How racks are looked at where not every broker names its own."""

from collections.abc import Mapping, Sequence

Racks = Mapping[int, str | None]


def rack_rule(staying: Sequence[int], racks: Racks, widest: int) -> Racks | None:
    """The racks as plans go by them; None: they cannot. `widest` is the largest replication factor.

    Where nobody names a rack, there is one. Where only some do, each of the others counts as a rack of its own, as
    long as the named ones are enough for every partition: else too much would be put on a broker because nobody
    knows where it is.
    """
    silent = [broker for broker in staying if racks.get(broker) is None]
    if len(silent) in (0, len(staying)):
        return racks
    named = {racks.get(broker) for broker in staying} - {None}
    return None if len(named) < widest else {**racks, **{broker: f"\0{broker}" for broker in silent}}
