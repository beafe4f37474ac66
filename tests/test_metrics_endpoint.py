"""The example that Prometheus reads: run as it is, fed by threads, read by Prometheus' own parser."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

import scorewise as sw

SERVE = Path(__file__).parents[1] / "examples" / "metrics-endpoint" / "serve.py"


@pytest.fixture
def address():
    line = [sys.executable, str(SERVE), "--port", "0"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().strip().removesuffix("/metrics")
        finally:
            server.terminate()


def post(address, body, path="/rows"):
    with urllib.request.urlopen(address + path, data=body, timeout=30) as answer:
        return answer.status


def read(address):
    with urllib.request.urlopen(address + "/metrics", timeout=30) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        families = list(text_string_to_metric_families(answer.read().decode()))
    assert {f.type for f in families} == {"gauge"}
    return {
        (s.name.removeprefix("scorewise_"), *s.labels.values()): s.value
        for f in families
        for s in f.samples
    }


def test_rows_go_in_and_measures_come_out(address):
    assert read(address) == {("rows", "negative"): 0, ("rows", "positive"): 0}
    rng = np.random.default_rng(0)
    p = rng.random(2000).round(6)
    y = (rng.random(2000) < p).astype(int)
    bodies = [
        json.dumps({"label": y[i::20].tolist(), "score": p[i::20].tolist()}).encode()
        for i in range(20)
    ]
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda body: post(address, body), bodies)) == {204}
    found, e = read(address), sw.evaluate(y, p)
    assert found["rows", "positive"] == y.sum()
    assert found["rows", "negative"] == 2000 - y.sum()
    for name in ("auroc", "brier", "log_loss", "oe_ratio", "calibration_slope"):
        assert found["measure", name] == pytest.approx(e[name].value, rel=1e-12)
        assert found["low", name] == pytest.approx(e[name].low, rel=1e-12)
        assert found["high", name] == pytest.approx(e[name].high, rel=1e-12)
        assert found["bound", name] == 0


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b'{"label": [0, 1], "score": [0.5, 1.5]}', "score is outside [0, 1] in 1 row"),
        (b'{"label": [0, 1], "score": [0.5, null]}', "score is missing in 1 row"),
        (b'{"label": [0, 1]}', 'pass {"label"'),
        (b"[", "Expecting value"),
        (b"", "a request has 1 to"),
    ],
)
def test_bad_requests_change_nothing(address, body, sentence):
    post(address, b'{"label": [0], "score": [0.5]}')
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(address, body)
    with refused.value as answer:
        assert answer.code == 400
        assert sentence in answer.read().decode()
    assert read(address)["rows", "negative"] == 1
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(address, body or b" ", "/elsewhere")
    with refused.value as answer:
        assert answer.code == 404
