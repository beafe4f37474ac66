"""Everything that writes a file spares links, pipes, devices, modes and what was there before."""

import os
import signal
import stat
import subprocess
import sys
import threading
import time

import numpy as np
import polars as pl
import pytest

import scorewise as sw
from scorewise import BadInput
from scorewise.cli import run
from scorewise.writing import write
from view_documents import names

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes, links and pipes differ there")


def rows(many=60):
    p = np.random.default_rng(0).random(many).round(2)
    return pl.DataFrame({"y": (p > 0.5).astype(int) ^ (np.arange(many) % 5 == 0), "p": p})


def told(*args):
    """Run a command; what it refuses is raised, as in Python."""
    if run([str(a) for a in args]):
        raise BadInput("refused")


def tally(place):
    frame = rows()
    sw.Tally.of(frame["y"], frame["p"]).save(place)


def class_tally(place):
    sw.ClassTally.of([0, 1, 2, 2], np.eye(3)[[0, 1, 2, 0]], classes=[0, 1, 2]).save(place)


def recalibrator(place):
    frame = rows()
    sw.Recalibrator("platt").fit(frame["p"], frame["y"]).save(place)


def applied(place):
    home = place.parent / "home"
    home.mkdir(exist_ok=True)
    rows().write_csv(home / "rows.csv")
    recalibrator(home / "map.json")
    told("calibrate", "apply", home / "map.json", home / "rows.csv", "--score", "p", "-o", place)


def option(*flags):
    def write(place):
        home = place.parent / "home"
        home.mkdir(exist_ok=True)
        rows().write_csv(home / "rows.csv")
        told(flags[0], home / "rows.csv", "--label", "y", "--score", "p", flags[1], place)

    return write


SAVERS = {
    "tally.parquet": tally,
    "classes.parquet": class_tally,
    "map.json": recalibrator,
    "applied.csv": applied,
    "applied.parquet": applied,
    "evaluation.json": option("evaluate", "--json"),
    "report.md": option("evaluate", "--md"),
    "segments.csv": option("smroc", "--segments"),
}


@pytest.fixture(params=SAVERS)
def saver(request, tmp_path):
    """A function that saves, and a place of the right name for it."""
    return SAVERS[request.param], tmp_path / request.param


def content(path):
    data = path.read_bytes()
    assert data
    return data


def left(folder):
    """What a folder holds beside the input of commands."""
    return [name for name in names(folder) if name != "home"]


def test_a_link_stays_and_its_target_is_written(saver, tmp_path):
    save, place = saver
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / place.name
    target.write_text("old")
    place.symlink_to(target)
    save(place)
    assert place.is_symlink()
    assert content(target) != b"old"
    assert names(tmp_path / "there") == [place.name]


def test_a_link_to_nothing_yet_stays(saver, tmp_path):
    save, place = saver
    place.symlink_to(tmp_path / "new")
    save(place)
    assert place.is_symlink()
    assert content(tmp_path / "new")


def test_a_pipe_is_written_into(saver):
    save, place = saver
    save(place)
    wanted = content(place)
    place.unlink()
    os.mkfifo(place)
    got = []
    reader = threading.Thread(target=lambda: got.append(place.read_bytes()), daemon=True)
    reader.start()
    save(place)
    assert stat.S_ISFIFO(place.lstat().st_mode)
    reader.join(10)
    assert got == [wanted]


@pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="needs a device of its own")
def test_a_device_is_written_into(saver):
    save, place = saver
    try:
        os.mknod(place, stat.S_IFCHR | 0o666, os.makedev(1, 3))  # as /dev/null
        place.open("wb").close()
    except OSError:
        pytest.skip("devices cannot be made here")
    save(place)
    assert stat.S_ISCHR(place.lstat().st_mode)


def test_the_mode_is_kept(saver):
    save, place = saver
    place.write_text("old")
    place.chmod(0o600)
    save(place)
    assert content(place) != b"old"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


@pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="only root may give files away")
def test_the_owner_is_kept(saver):
    save, place = saver
    place.write_text("old")
    os.chown(place, 1234, 2345)
    save(place)
    found = place.stat()
    assert (found.st_uid, found.st_gid) == (1234, 2345)


def test_a_new_file_has_the_mode_that_the_user_asked_for(saver):
    save, place = saver
    before = os.umask(0o027)
    try:
        save(place)
    finally:
        os.umask(before)
    assert stat.S_IMODE(place.stat().st_mode) == 0o640


def test_it_is_on_the_disk_before_it_is_in_place(saver, monkeypatch):
    save, place = saver
    happened = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (happened.append("sync"), fsync(fd))[1])

    def replaced(source, target, **options):
        happened.append("replace")
        replace(source, target, **options)

    monkeypatch.setattr(os, "replace", replaced)
    save(place)
    assert happened[-2:] == ["sync", "replace"]


def test_a_full_disk_leaves_the_old_file_and_one_sentence(saver, tmp_path, capsys):
    import resource

    save, place = saver
    save(place)
    old = content(place)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    capsys.readouterr()
    # room for the input of commands is made already; none for the output
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(BadInput) as refused:
            again(save, place)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    said = str(refused.value) if str(refused.value) != "refused" else capsys.readouterr().err
    assert f"cannot write {place}" in said or f"cannot write {place.name}" in said
    assert "File too large" in said
    assert "\n" not in said.strip()
    assert place.read_bytes() == old
    assert left(tmp_path) == [place.name]


def again(save, place):
    """Save once more, over the input that is there."""
    if save is applied:
        home = place.parent / "home"
        told(
            "calibrate", "apply", home / "map.json", home / "rows.csv", "--score", "p", "-o", place
        )
    elif save in (tally, class_tally, recalibrator):
        save(place)
    else:
        flags = {".json": ("evaluate", "--json"), ".md": ("evaluate", "--md")}
        command, flag = flags.get(place.suffix, ("smroc", "--segments"))
        data = place.parent / "home" / "rows.csv"
        told(command, data, "--label", "y", "--score", "p", flag, place)


@pytest.mark.parametrize("save", [tally, class_tally, recalibrator])
@pytest.mark.parametrize("path", ["", "a\0b"])
def test_a_path_that_is_none_is_refused(save, path):
    with pytest.raises(BadInput, match="cannot write"):
        save(path)


KILLED = """
import os, sys
from scorewise.writing import write
if sys.argv[2] == "named":
    vars(os).pop("O_TMPFILE", None)
print("ready", flush=True)
while True:
    write(sys.argv[1], b"x" * 10_000_000)
"""


def killed(place, how, form, pauses):
    """How many files a writer leaves behind that is stopped again and again."""
    many = 0
    for pause in pauses:
        before = set(names(place.parent))
        writer = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(place), form],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        writer.stdout.readline()
        time.sleep(pause)
        writer.send_signal(how)
        writer.wait()
        writer.stdout.close()
        assert not place.exists() or place.stat().st_size == 10_000_000
        many += len({*names(place.parent)} - before - {place.name})
    return many


@pytest.mark.parametrize("form", ["unnamed", "named"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_writer_leaves_the_file_whole_and_nothing_else(tmp_path, how, form):
    place = tmp_path / "t.parquet"
    many = killed(place, how, form, np.linspace(0.02, 0.1, 5))
    if how != signal.SIGKILL or (form, sys.platform) == ("unnamed", "linux"):
        assert many <= 1  # one may be caught between getting a name and being put in place
    write(place, "x")
    assert names(tmp_path) == [place.name]


def test_what_another_writer_is_writing_stays(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    place = tmp_path / "a"
    seen = []

    def slowly(file):
        write(place, "second")
        seen.extend(names(tmp_path))
        file.write(b"first")

    write(place, slowly)
    assert [name.endswith(".part") for name in seen] == [True, False]
    assert place.read_text() == "first"
    assert names(tmp_path) == ["a"]


def test_what_was_left_for_another_file_stays(tmp_path):
    (tmp_path / ".0123456789ab.00.part").write_text("not ours")
    write(tmp_path / "a", "x")
    assert names(tmp_path) == [".0123456789ab.00.part", "a"]


def test_a_link_to_a_device_is_written_through(tmp_path):
    link = tmp_path / "none.json"
    link.symlink_to("/dev/null")
    write(link, "x")
    assert link.is_symlink()
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(BadInput, match="a link to itself"):
        write(loop, "x")


def test_a_sum_beyond_the_floats_is_kept(tmp_path):
    rows = [-1e308, -1e308, 0.1, 0.3] * 50  # sums of tenths leave something to rounding
    t = sw.Tally.of([1, 1, 0, 0] * 50, rows).coarsen()
    assert np.isinf(t.coarse.sum).any()
    assert t.coarse.rest is not None
    t.save(tmp_path / "t.tally")
    assert sw.Tally.load(tmp_path / "t.tally") == t
