"""Processes of studies end with the command that started them, however it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from studies._tools import done

ROOT = Path(__file__).parents[1]

LONG = """
import os, sys, time
from pathlib import Path
from studies._tools import done

def work(i):
    (Path(sys.argv[1]) / str(os.getpid())).touch()
    time.sleep(60)

if __name__ == "__main__":
    list(done(work, list(range(8)), 2))
"""


def double(i):
    return 2 * i


def alive(pid):
    """Whether a process runs, and is not one that only waits to be forgotten."""
    try:
        return " Z" not in " ".join(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1:])
    except FileNotFoundError:
        return False


def wait(what, seconds=30):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.05)
    return what()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_the_command(sent, tmp_path):
    script, pids = tmp_path / "long.py", tmp_path / "pids"
    script.write_text(LONG)
    pids.mkdir()
    where = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    main = subprocess.Popen(
        [sys.executable, script, pids], env=where, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        assert wait(lambda: len(list(pids.iterdir())) == 2)
        workers = [int(path.name) for path in pids.iterdir()]
        assert all(map(alive, workers))
        main.send_signal(sent)
        assert main.wait(30) != 0
        assert wait(lambda: not any(map(alive, workers)), 10)
    finally:
        main.kill()


def test_all_jobs_are_done_and_none_is_left_when_one_stops_early():
    assert sorted(done(double, [1, 2, 3], 2)) == [(1, 2), (2, 4), (3, 6)]
    some = done(double, list(range(50)), 2)
    first = next(some)
    assert first[1] == 2 * first[0]
    some.close()
