"""The search finds what it is to find: each form of a canary, and whatever it is packed in."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from tests.trust.canaries import FORMS, canary, forms_in, written_as
from tests.trust.leaks import Search


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_seen(form: str) -> None:
    for place in ("a", "broker ssl.key.password", "é"):
        found = forms_in(b'{"x":"' + written_as(form, canary(place)) + b'"}')
        assert form.split(",", maxsplit=1)[0] in [each.split(",")[0] for each in found]
    assert not forms_in(written_as(form, "Kanarie, vogel"))


def test_packed_files_and_names_are_looked_into(tmp_path: Path) -> None:
    secret = canary("packed")
    table, parquet, packed = pa.table({"x": [secret]}), io.BytesIO(), io.BytesIO()
    pq.write_table(table, parquet, compression="zstd")  # pyright: ignore[reportUnknownMemberType]
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside", gzip.compress(secret.encode()))
    told = PngInfo()
    told.add_itxt("text", secret, zip=True)
    Image.new("1", (1, 1)).save(tmp_path / "png", "PNG", pnginfo=told)
    with pa.OSFile(str(tmp_path / "arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    for name, data in (
        ("zstd", zstandard.compress(secret.encode())),
        ("parquet", parquet.getvalue()),
        ("zip", packed.getvalue()),
        (f"{secret}.empty", b""),
    ):
        (tmp_path / name).write_bytes(data)
    search = Search()
    search.look_into(tmp_path)
    for name in ("zstd", "parquet", "zip", "arrow", "png", "empty"):
        assert [each for each in search.found if name in each], name


def test_what_is_only_begun_is_looked_into_as_it_is() -> None:
    table, whole = pa.table({"x": [canary("begun")]}), io.BytesIO()
    with pa.ipc.new_file(whole, table.schema) as writer:
        writer.write_table(table)
    search = Search()
    for cut in range(len(whole.getvalue())):
        search.look(f"arrow of {cut} B", whole.getvalue()[:cut])
    assert len(search.found) > 1
