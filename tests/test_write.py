"""Files are written whole or not at all."""

import os
from pathlib import Path

import pytest

from scorewise import BadInput
from scorewise.views.write import write, write_all
from view_documents import names


def test_text_is_put_in_place(tmp_path):
    write(tmp_path / "a.txt", "größe\n")
    assert (tmp_path / "a.txt").read_bytes() == "größe\n".encode()
    write(str(tmp_path / "a.txt"), "new")
    assert (tmp_path / "a.txt").read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


def test_all_or_nothing(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(BadInput, match=r"no folder .*absent; make it first"):
        write_all({tmp_path / "a": "new", tmp_path / "absent" / "b": "new"})
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_interrupted_run_leaves_the_old_file(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "a", "new")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_folder_is_refused(tmp_path):
    with pytest.raises(BadInput, match="it is a folder"):
        write(tmp_path, "x")


def test_refusal_of_the_system_is_told(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(BadInput, match="a: No space left on device"):
        write(tmp_path / "a", "x")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="this user may write everywhere")
def test_place_without_permission_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(BadInput, match="no permission"):
        write(tmp_path / "a", "x")
    tmp_path.chmod(0o700)


@pytest.mark.skipif(os.name == "nt", reason="modes and links differ there")
def test_mode_and_links_are_kept(tmp_path):
    real = tmp_path / "real"
    real.write_text("old")
    real.chmod(0o640)
    (tmp_path / "link").symlink_to(real)
    write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="no null device")
def test_device_is_written_directly():
    write("/dev/null", "x")
    assert not Path("/dev/null").is_file()
