"""Scores judged while a service runs: rows come in by POST /rows, Prometheus reads GET /metrics.

python serve.py --port 9300 --window-hours 24
"""

import argparse
import contextlib
import json
import math
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import scorewise as sw

MEASURES = ("auroc", "brier", "log_loss", "oe_ratio", "calibration_slope")
MOST = 16 << 20  # bytes of one request
HELP = {
    "rows": "Rows that count now, by class.",
    "measure": "Measure of the rows that count now.",
    "low": "Lower limit of its 95 % confidence interval.",
    "high": "Upper limit of its 95 % confidence interval.",
    "bound": "Most by which the grid can have moved the measure; 0 where it is exact.",
}


def metrics(monitor: sw.Monitor) -> str:
    """All that Prometheus is told, in its text format (version 0.0.4); what is undefined is left out."""
    t = monitor.snapshot()
    found: dict[str, list[tuple[str, str, float]]] = {name: [] for name in HELP}
    found["rows"] = [("class", "negative", t.origin.negatives)]
    found["rows"] += [("class", "positive", t.origin.positives)]
    e = sw.evaluate(t)
    for name, x in ((m, e[m]) for m in MEASURES):
        each = {"measure": x.value, "low": x.low, "high": x.high, "bound": x.bound or 0.0}
        if not math.isnan(x.value):
            for part, value in each.items():
                found[part].append(("name", name, value))
    lines = []
    for part, values in found.items():
        name = f"scorewise_{part}"
        lines += [f"# HELP {name} {HELP[part]}", f"# TYPE {name} gauge"]
        lines += [f'{name}{{{key}="{word}"}} {value!r}' for key, word, value in values]
    return "\n".join(lines) + "\n"


class Handler(BaseHTTPRequestHandler):
    """One request; each has a thread of its own, and all share the monitor."""

    monitor: sw.Monitor

    def do_GET(self) -> None:
        if self.path == "/metrics":
            self.answer(200, metrics(self.monitor), "text/plain; version=0.0.4; charset=utf-8")
        else:
            self.answer(404, "there is /metrics\n")

    def do_POST(self) -> None:
        if self.path != "/rows":
            return self.answer(404, "there is /rows\n")
        try:
            size = int(self.headers.get("Content-Length") or 0)
            if not 0 < size <= MOST:
                raise ValueError(f"a request has 1 to {MOST:,} bytes, not {size:,}")
            rows = json.loads(self.rfile.read(size))
            if not isinstance(rows, dict) or set(rows) != {"label", "score"}:
                raise ValueError('pass {"label": [0, 1], "score": [0.2, 0.9]}')
            self.monitor.update(rows["label"], rows["score"])
        except (ValueError, sw.BadInput) as e:
            return self.answer(400, f"{e}\n")
        return self.answer(204)

    def answer(self, code: int, text: str = "", kind: str = "text/plain; charset=utf-8") -> None:
        body = text.encode()
        self.send_response(code)
        if body:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *about: object) -> None:
        """Say nothing."""


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--port", type=int, default=9300, help="0 takes one that is free")
    asked.add_argument("--window-hours", type=float, help="how long a row counts; else for good")
    given = asked.parse_args()
    window = None if given.window_hours is None else timedelta(hours=given.window_hours)
    Handler.monitor = sw.Monitor(window=window)
    with ThreadingHTTPServer(("127.0.0.1", given.port), Handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/metrics", flush=True)  # noqa: T201
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


if __name__ == "__main__":
    main()
