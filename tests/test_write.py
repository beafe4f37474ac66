"""Files are written whole or not at all."""

import os
from pathlib import Path

import pytest

from scorewise import BadInput
from scorewise.writing import check, write, write_all
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

    monkeypatch.setattr(os, "replace", interrupt)
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

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInput, match="a: No space left on device"):
        write(tmp_path / "a", "x")


def test_place_without_permission_is_refused(tmp_path, monkeypatch):
    # the mode of a folder does not stop every user; what the system answers does
    asked = []
    monkeypatch.setattr(os, "access", lambda path, mode: asked.append((Path(path), mode)))
    with pytest.raises(BadInput, match="no permission; name another place"):
        write(tmp_path / "a", "x")
    (tmp_path / "b").write_text("old")
    with pytest.raises(BadInput, match="no permission; name another place"):
        write(tmp_path / "b", "x")
    assert asked == [(tmp_path.resolve(), os.W_OK), (tmp_path.resolve() / "b", os.W_OK)]
    assert names(tmp_path) == ["b"]


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no place that nobody may write to")
def test_place_where_nobody_may_write_is_refused():
    with pytest.raises(BadInput, match="cannot write /proc/self/a"):
        write("/proc/self/a", "x")


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


def test_names_too_long_and_links_to_themselves_are_refused(tmp_path):
    with pytest.raises(BadInput, match=r"cannot write .*: File name too long"):
        check(tmp_path / ("x" * 300))
    with pytest.raises(BadInput, match=r"cannot write .*: embedded null"):
        check("a\0b")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(BadInput, match="it is a link to itself; name another file"):
        check(tmp_path / "loop")
