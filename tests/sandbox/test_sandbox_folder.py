"""The sandbox's folder: one sandbox at a time, of one shape, and gone afterwards unless it is kept."""

from pathlib import Path

import msgspec
import pytest

from model.sandbox.options import SandboxOptions
from model.sandbox.processes import SandboxError
from model.sandbox.sandbox_folder import SandboxFolder, mode_in


@pytest.fixture
def kept(tmp_path: Path) -> SandboxOptions:
    return SandboxOptions(folder=str(tmp_path / "lab"), keep=True)


def test_a_temporary_folder_goes_with_its_sandbox():
    folder = SandboxFolder(SandboxOptions())
    (folder.path / "broker-1").mkdir()
    folder.close()
    assert not folder.path.exists()
    folder.close()


def test_a_named_folder_goes_too_unless_it_is_kept(kept: SandboxOptions):
    folder = SandboxFolder(msgspec.structs.replace(kept, keep=False))
    assert folder.is_new
    folder.close()
    assert not folder.path.exists()
    folder = SandboxFolder(kept)
    folder.close()
    assert folder.path.exists()


def test_a_kept_folder_is_gone_on_with(kept: SandboxOptions):
    SandboxFolder(kept).close()
    folder = SandboxFolder(kept)
    assert not folder.is_new
    folder.close()


def refused(options: SandboxOptions) -> str:
    with pytest.raises(SandboxError) as refusal:
        SandboxFolder(options)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def test_a_folder_in_use(kept: SandboxOptions):
    folder = SandboxFolder(kept)
    assert refused(kept) == f"{kept.folder} is in use by another sandbox. End that one, or choose another folder."
    folder.close()
    SandboxFolder(kept).close()


def test_a_folder_of_another_shape(kept: SandboxOptions):
    SandboxFolder(kept).close()
    assert refused(msgspec.structs.replace(kept, brokers=5)) == (
        f"{kept.folder} holds another sandbox. Use it with --mode zookeeper --brokers 3 --racks 3 --zookeepers 1, "
        "or choose another folder."
    )
    SandboxFolder(kept).close()


def test_a_folder_is_of_one_mode_and_says_which(tmp_path: Path):
    kraft = SandboxOptions(mode="kraft", controllers=5, folder=str(tmp_path / "lab"), keep=True)
    assert mode_in(tmp_path / "lab") is None
    SandboxFolder(kraft).close()
    assert mode_in(tmp_path / "lab") == "kraft"
    assert refused(msgspec.structs.replace(kraft, mode="zookeeper")) == (
        f"{kraft.folder} holds another sandbox. Use it with --mode kraft --brokers 3 --racks 3 --controllers 5, "
        "or choose another folder."
    )
    SandboxFolder(kraft).close()


def test_a_folder_from_before_there_were_modes_is_one_of_zookeeper(kept: SandboxOptions):
    SandboxFolder(kept).close()
    file = Path(kept.folder or "", "sandbox.json")
    file.write_text('{"format":"kdrill.sandbox-folder/1","brokers":3,"racks":3,"zookeepers":1}')
    SandboxFolder(kept).close()


def test_a_folder_that_is_not_empty(kept: SandboxOptions):
    SandboxFolder(kept).close()
    assert "Give --keep" in refused(msgspec.structs.replace(kept, keep=False))
    assert Path(kept.folder or "", "sandbox.json").exists()


def test_a_folder_of_somebody_else(tmp_path: Path):
    (tmp_path / "thesis.tex").touch()
    assert "no sandbox" in refused(SandboxOptions(folder=str(tmp_path), keep=True))
    assert (tmp_path / "thesis.tex").exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path):
    (tmp_path / "file").touch()
    assert refused(SandboxOptions(folder=str(tmp_path / "file" / "lab"))).startswith(f"can't use {tmp_path}/file")
