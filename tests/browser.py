"""The system's chromium, driven by Playwright, which sees every request and every complaint of a page."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

WEB = Path(__file__).resolve().parent.parent / "web"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def needed(*programs: str) -> str:
    """The path of the first program there is; else the test is skipped, or fails where it must not be."""
    found = next(filter(None, map(shutil.which, programs)), None)
    if found is None:
        why = f"{programs[0]} is not installed; as root, `make test` installs it with apt-get"
        (pytest.fail if os.geteuid() == 0 or os.environ.get("CI") else pytest.skip)(why)
    return found


def node_modules() -> Path:
    """What the lock file names, installed once whatever number of processes ask for it."""
    npm = needed("npm")
    folder = WEB / "node_modules"
    with (WEB / "package-lock.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / ".package-lock.json").exists():
            done = subprocess.run([npm, "ci"], cwd=WEB, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
    return folder


@contextmanager
def chromium() -> Iterator:
    from playwright.sync_api import sync_playwright

    path = needed("chromium", "chromium-browser", "google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS, timeout=60_000)
        yield browser
        browser.close()


class Watch:
    """What a page asks the network for, beside itself, and what it complains of."""

    def __init__(self, page) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda r: self.requests.append(r.url))
        page.on(
            "console",
            lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda e: self.complaints.append(str(e)))


@contextmanager
def served(folder: Path, policy: str = "") -> Iterator[str]:
    """The address of a folder on this machine, under a content security policy."""

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/favicon.ico":  # which browsers ask every server for
                self.send_response(204)
                self.end_headers()
            else:
                super().do_GET()

        def end_headers(self) -> None:
            if policy:
                self.send_header("Content-Security-Policy", policy)
            super().end_headers()

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def axe_violations(page) -> list[tuple[str, list[str]]]:
    """What axe-core finds against WCAG A and AA, each with the elements."""
    page.evaluate((node_modules() / "axe-core" / "axe.min.js").read_text())
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
    found = page.evaluate("tags => axe.run(document, {runOnly: tags})", tags)
    assert len(found["passes"]) > 10
    return [(v["id"], [n["html"][:200] for n in v["nodes"]]) for v in found["violations"]]
