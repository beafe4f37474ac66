"""The scripts that a report carries are what web/ builds, small, and tested there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from browser import WEB, needed, node_modules

DOCS = WEB.parent / "docs"
ASSETS = WEB.parent / "src" / "scorewise" / "show" / "assets"


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_bundle_is_what_the_sources_build(tmp_path: Path) -> None:
    node_modules()
    run(needed("node"), "build.mjs", str(tmp_path))
    built = sorted(path.name for path in tmp_path.iterdir())
    assert built == ["bar.css", "drop.html", "report.js", "widget.js"]
    for name in built:
        shipped = (DOCS if name == "drop.html" else ASSETS) / name
        assert (tmp_path / name).read_bytes() == shipped.read_bytes(), f"make bundle renews {name}"


def test_the_sources_pass_their_own_tests() -> None:
    modules = node_modules()
    run(needed("node"), str(modules / "typescript" / "bin" / "tsc"), "--noEmit")
    run(needed("node"), str(modules / "vitest" / "vitest.mjs"), "run")


def test_the_script_is_small_and_stays_within_the_page() -> None:
    script = (ASSETS / "report.js").read_text()
    assert len(script.encode()) <= 40_000
    assert "</script" not in script.lower()
    assert "eval(" not in script
    assert "new Function" not in script
    addresses = re.findall(r"https?://[^\"'`]+", script)
    assert all(address.startswith("http://www.w3.org/") for address in addresses), addresses


@pytest.mark.parametrize("word", ['"resolved"', "registry", "file:"])
def test_the_lock_file_names_no_place(word: str) -> None:
    assert word not in (WEB / "package-lock.json").read_text()
