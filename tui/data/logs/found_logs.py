"""The partition folders of one place, as they were listed last."""

import msgspec

from spark_tasks.scans.parameters import FoundLogFolder, FoundPartition


class FoundLogs(msgspec.Struct, frozen=True):
    """Log folders, and the partition folders in them, in the same order."""

    folders: tuple[FoundLogFolder, ...] = ()

    @property
    def rows(self) -> list[tuple[FoundLogFolder, FoundPartition]]:
        """Partition folders with their log folders; those of one log beside each other."""
        found = [(folder, each) for folder in self.folders for each in folder.partitions]
        return sorted(found, key=lambda pair: (pair[1].topic, pair[1].partition, pair[0].path))

    @property
    def bytes(self) -> int:
        """All segments together."""
        return sum(each.bytes for folder in self.folders for found in folder.partitions for each in found.segments)


def name_of(found: FoundPartition) -> str:
    """`orders-3`; where the folder's name tells no partition, that name."""
    return found.topic if found.partition < 0 else f"{found.topic}-{found.partition}"
