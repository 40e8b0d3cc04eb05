"""Every list and text of the lab by its name, and what the lab says as a whole."""

from model.cluster.cluster_image import ClusterImage
from model.cluster.words import listed
from model.consumers.no_groups import not_previewed
from tui.data.analyses.look import Look
from tui.data.messages import ListQuery, TextAnswer, TextQuery
from tui.data.pages.ages import clock_text
from tui.data.pages.lab.bars import lab_bars
from tui.data.pages.lab.bench import made_up_keys, preview_of
from tui.data.pages.lab.consumers import lab_consumers
from tui.data.pages.lab.graph import lab_graph
from tui.data.pages.lab.groups import lab_groups
from tui.data.pages.lab.partitions import lab_partition_text, lab_partitions
from tui.data.pages.lab.strategies import lab_strategies
from tui.data.pages.listing import Memory, window
from tui.data.pages.sheets import Sheet
from tui.rows import Window, span

MADE_UP = "it is not there: its consumers are taken to have what range deals them, and no lag is known"
LONGER = {"lab-partition": lab_partition_text, "lab-bars": lab_bars}


def lab_window(look: Look, query: ListQuery, now_ms: int, memory: Memory) -> Window:
    """The rows asked for."""
    if query.list == "lab-graph":
        return lab_graph(look, query, now_ms, memory)
    if query.list == "lab-groups":
        listing = lab_groups(look, query)
    elif query.list == "lab-strategies":
        listing = lab_strategies(look, query, memory)
    elif query.list == "lab-consumers":
        listing = lab_consumers(look, query, memory)
    else:
        listing = lab_partitions(look, query, memory)
    return window(listing, query, memory, now_ms)


def lab_texts(look: Look, query: TextQuery, now: ClusterImage, memory: Memory) -> TextAnswer:
    """The text asked for; `now` is the cluster as it is."""
    if query.about in LONGER:
        return LONGER[query.about](look, query, memory)
    sheet = Sheet("Lab", query.width)
    if look.is_stale(now):
        sheet.draw(span("the cluster has changed since: ", "warn"), span("r", "key"), span(" asks anew", "warn"))
    if look.note:
        sheet.say(look.note)
    bench, found = query.bench, preview_of(look, query.key)
    if found is not None:
        sheet.fact("group", f"{found.names.key}, {found.names.kind} {found.names.state}".rstrip())
        if found.names.key in made_up_keys(look):
            sheet.fact("made up", MADE_UP, "added")
            sheet.fact(
                "reads", listed(found.names.topics, 8) or "no topic: none matches", "" if found.names.topics else "warn"
            )
        for note in found.names.notes:
            sheet.fact("note", note, "warn")
    if others := not_previewed(look.image):
        sheet.say(others, "dim")
    sheet.fact("dies", bench.leaves or "nobody", "dead" if bench.leaves else "")
    sheet.fact("joins", f"{bench.joins or 'nobody'}", "added" if bench.joins else "")
    if look.engine:
        sheet.fact("engine", f"{look.engine}, {look.seconds:.2f} s")
    if look.spark:
        sheet.fact("Spark", look.spark.removeprefix("Spark "))
    return sheet.fact("image of", f"{clock_text(look.image.provenance.time_ms)} UTC").answer()
