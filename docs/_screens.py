"""Take the pictures of reports that the docs show: `python docs/_screens.py`; it needs chromium."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

import scorewise as sw

IMG = Path(__file__).resolve().parent / "img"
WIDTHS = {"": (1200, 700), "-phone": (390, 844)}
rng = np.random.default_rng(7)


def patients(n: int, drift: float = 0.0) -> dict[str, np.ndarray]:
    """Outcomes, and the scores of a calibrated model, of one too sure of itself and of a weaker one."""
    x = rng.normal(-2.2, 1.3, n)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-x - drift)), "ill", "well")
    rough = x + rng.normal(0, 0.9, n)
    odds = {"risk": x, "sharp": 2.2 * (x + rng.normal(0, 0.4, n)) + 1, "nurse": 0.7 * rough - 0.6}
    return {"outcome": y, **{k: np.round(1 / (1 + np.exp(-v)), 6) for k, v in odds.items()}}


def payments() -> dict[str, np.ndarray]:
    """20,000 payments, about 1 in 250 of which is a fraud."""
    x = rng.normal(-7.2, 1.8, 20_000)
    p = 1 / (1 + np.exp(-x))
    return {"fraud": (rng.random(20_000) < p).astype(int), "p": p}


def ratings() -> dict[str, np.ndarray]:
    """Five raters of 120 slides, one of whom is less careful."""
    truth = rng.choice(["benign", "atypical", "malignant"], 120, p=[0.6, 0.25, 0.15])
    kinds = np.array(["benign", "atypical", "malignant"])
    careful = {"ana": 0.92, "ben": 0.9, "cho": 0.88, "dia": 0.9, "eli": 0.6}
    return {
        name: np.where(rng.random(120) < p, truth, rng.choice(kinds, 120))
        for name, p in careful.items()
    }


def results() -> dict[str, object]:
    """Each kind of report, by the name of its picture."""
    rows, later = patients(2_000), patients(1_500, drift=0.8)
    three = ["risk", "sharp", "nurse"]
    said = {"label": "outcome", "positive": "ill"}
    return {
        "good": sw.report(rows, score="risk", **said),
        "overconfident": sw.report(rows, score="sharp", **said),
        "rare": sw.report(payments(), label="fraud", score="p"),
        "comparison": sw.report(rows, score=three, **said),
        "drift": sw.drift(rows, later, score="risk", **said),
        "raters": sw.agree(ratings()),
    }


def main() -> None:
    """Write each picture, at the width of a desk and of a phone."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, result in results().items():
            file = Path(folder) / f"{name}.html"
            result.report(file)  # type: ignore[attr-defined]
            for suffix, (width, height) in WIDTHS.items():
                page = browser.new_page(viewport={"width": width, "height": height})
                page.goto(file.as_uri())
                page.wait_for_timeout(400)
                shot = Image.open(io.BytesIO(page.screenshot()))
                shot.save(IMG / f"report-{name}{suffix}.webp", quality=40, method=6)
                page.close()
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
