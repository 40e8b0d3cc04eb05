"""Every list and every text, on any cluster: an answer comes whatever is asked, and it travels."""

from hypothesis import given
from hypothesis import strategies as st

from model.cluster.changes import changes_between
from model.cluster.cluster_image import EMPTY, ClusterImage
from tests.model.cluster.strategies import images
from tests.tui.data.asked import MOMENT_LISTS, MOMENT_TEXTS, list_query, rows_shown, text_query, text_shown
from tests.tui.data.small_cluster import NOW_MS, moment_of, small_image
from tui.engine.listing import AnswerMemo
from tui.engine.messages import ListQuery

TITLES = ("topic", "state", "age", "leader", "isr", "lag", "idle", "severity", "subject", "under", "id", "made up")

queries = st.builds(
    list_query,
    st.sampled_from(MOMENT_LISTS),
    first=st.integers(-1, 5),
    count=st.integers(0, 5),
    filter=st.sampled_from(["", "o", "!o", "state:ok", "age:<1m", "re:(", "lag:none", "id:>1", "~od"]),
    sort=st.sampled_from(["", *TITLES]),
    reverse=st.booleans(),
    key=st.sampled_from(["", "orders-1", "1", "billing", "c1-0", "no owner"]),
    width=st.integers(0, 200),
    scope=st.sampled_from(["", "billing", "[red]audit"]),
    offset=st.integers(0, 5),
    view=st.sampled_from(["", "matrix", "list", "graph", "table"]),
)


@given(images, st.lists(queries, max_size=6))
def test_a_window_is_right_in_itself(image: ClusterImage, asked: list[ListQuery]):
    memory, moment = AnswerMemo(), moment_of(image, *changes_between(EMPTY, image))
    for query in asked:
        window = rows_shown(moment, query, NOW_MS, memory)
        assert window.first >= 0
        assert window.first + len(window.rows) <= window.total
        assert window.total <= window.unfiltered_total
        assert -1 <= window.cursor < max(window.total, 1)
        assert {len(row.cells) for row in window.rows} <= {len(window.columns)}
        if window.cursor >= 0 and window.first <= window.cursor < window.first + len(window.rows):
            assert window.rows[window.cursor - window.first].key == query.key


@given(images, st.sampled_from(MOMENT_TEXTS), st.sampled_from(["", "orders-1", "1", "billing", "brokers"]))
def test_a_text_is_there_for_anything(image: ClusterImage, about: str, key: str):
    answer = text_shown(moment_of(image), text_query(about, key=key, width=40))
    assert "\x1b" not in answer.plain


def test_sorting_by_each_column_that_says_it_can_be_sorted():
    memory, moment = AnswerMemo(), moment_of(small_image())
    for name in MOMENT_LISTS:
        for view in ("list", "table", "graph", ""):
            columns = rows_shown(moment, list_query(name, scope="billing", view=view), NOW_MS, memory).columns
            for sort in {column.sort for column in columns if column.sort}:
                up = rows_shown(moment, list_query(name, scope="billing", view=view, sort=sort), NOW_MS, memory)
                known = list_query(name, scope="billing", view=view, filter=f"{sort}:none | !{sort}:none")
                seen = rows_shown(moment, known, NOW_MS, memory)
                assert up.total == seen.total, "a column sorted by is a field as well"
                assert not seen.note.startswith("no field")
