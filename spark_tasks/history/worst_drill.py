"""What a drill says of a cluster's worst moment: the image of then, and each broker in turn that dies too."""

import msgspec

from model.recordings.errors import RecordingError
from model.recordings.folder import ClusterFolder
from model.recordings.playing import image_at
from spark_tasks import here
from spark_tasks.drills.analysis import DRILLS
from spark_tasks.drills.results import Parameters
from spark_tasks.errors import AnalysisError
from spark_tasks.history.results import ClusterHistory, WorstDrill
from spark_tasks.image_arrays import arrays_of, racks_of


def with_drill(history: ClusterHistory) -> ClusterHistory:
    """The history, its worst moment drilled. Raises AnalysisError where the recording cannot be read any more."""
    if history.worst is None:
        return history
    folder = ClusterFolder(history.cluster, history.worst.source.rpartition("@")[0])
    drill = _drill(folder, history.worst.at_ms)
    return msgspec.structs.replace(history, worst=msgspec.structs.replace(history.worst, drill=drill))


def _drill(folder: ClusterFolder, at_ms: int) -> WorstDrill:
    try:
        image = image_at(folder, at_ms)
    except RecordingError as error:
        raise AnalysisError(str(error)) from None
    parameters = Parameters(kind="brokers", racks=racks_of(image), listed=1, detailed=0)
    try:
        played = here.run(DRILLS, arrays_of(image), parameters)
    except AnalysisError as error:
        return WorstDrill(0, 0, note=str(error))
    if not played.hurting:
        return WorstDrill(played.scenarios, 0)
    worst = played.listed[0]
    counts = worst.counts
    return WorstDrill(played.scenarios, played.hurting, worst.kill[0], counts.newly_offline, counts.newly_under_min_isr)
