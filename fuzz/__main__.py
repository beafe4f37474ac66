"""Draw cases until the time is up, report what was looked at and found, and keep the seeds of findings.

python -m fuzz --minutes 5              every kind, in turn
python -m fuzz --only classes --seed 7  one case again
"""

import argparse
import secrets
import shutil
import sys
import time
from collections import Counter, defaultdict

from fuzz import HERE
from fuzz.kinds import KINDS, kept_seeds, lacking, run_case

FOUND = HERE / "found"
MOST = 5  # files for each fault


class Report:
    """Cases, what they covered and what they found, by kind."""

    def __init__(self):
        self.cases, self.seconds = Counter(), Counter()
        self.covered = defaultdict(Counter)
        self.found = defaultdict(list)

    def add(self, kind, seed):
        begin = time.perf_counter()
        case = run_case(kind, seed)
        self.seconds[kind] += time.perf_counter() - begin
        self.cases[kind] += 1
        self.covered[kind] += case.covered
        for what in dict.fromkeys(f.what for f in case.found):
            self.found[kind, what].append(seed)
            if len(self.found[kind, what]) <= MOST:
                keep(case, what)
        return case

    def show(self):
        for kind in self.cases:
            n, spent = self.cases[kind], self.seconds[kind]
            faults = {what: seeds for (k, what), seeds in self.found.items() if k == kind}
            speed, things = 60 * n / max(spent, 1e-9), len(self.covered[kind])
            print(
                f"{kind:11}{n:7,} cases, {speed:6.0f} a minute, {things} things, {len(faults)} faults"
            )
            never = [name for name in KINDS[kind].measures if not self.covered[kind][name]]
            if never:
                print(f"    not looked at this time: {', '.join(never)}")
            for what, seeds in sorted(faults.items(), key=lambda item: -len(item[1])):
                print(
                    f"    {len(seeds):5,} x {what}: python -m fuzz --only {kind} --seed {seeds[0]}"
                )


def keep(case, what):
    """The finding in a file of its own."""
    FOUND.mkdir(exist_ok=True)
    name = "".join(c if c.isalnum() else "-" for c in what)[:60]
    details = [f"{f.what}\n{f.detail}\n" for f in case.found if f.what == what]
    inputs = [f"{k} = {v!r}\n" for k, v in case.inputs.items()]
    head = f"python -m fuzz --only {case.kind} --seed {case.seed}\n\n"
    text = head + "\n".join(details) + "\n" + "".join(inputs)
    (FOUND / f"{case.kind}-{case.seed}-{name}.txt").write_text(
        text, encoding="utf-8", errors="backslashreplace"
    )


def draw(report, kinds, minutes, seed):
    """Kept seeds first, then cases of the kind that has had the least of its part of the time."""
    for kind, kept, _ in kept_seeds():
        if kind in kinds:
            report.add(kind, kept)
    end = time.monotonic() + 60 * minutes
    next_seed = dict.fromkeys(kinds, seed)
    while time.monotonic() < end:
        kind = min(kinds, key=lambda k: report.seconds[k] / KINDS[k].part)
        report.add(kind, next_seed[kind])
        next_seed[kind] += 1


def main():
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, help="how long to draw cases; else 5")
    parser.add_argument(
        "--seed", type=int, help="the first; with --only and without --minutes, that case alone"
    )
    parser.add_argument("--only", choices=KINDS, help="one kind of cases")
    given = parser.parse_args()
    shutil.rmtree(FOUND, ignore_errors=True)
    report, faults = Report(), [f"no oracle for {name}" for name in lacking()]
    print(*faults, sep="\n", end="\n" * bool(faults))
    if given.only and given.seed is not None and given.minutes is None:
        case = report.add(given.only, given.seed)
        print(*(f"{k} = {v!r}" for k, v in case.inputs.items()), sep="\n")
        print(*(f"\n{f.what}\n{f.detail}" for f in case.found))
    else:
        first = secrets.randbelow(10**9) if given.seed is None else given.seed
        print(f"first seed {first}")
        draw(report, [given.only] if given.only else list(KINDS), given.minutes or 5.0, first)
        report.show()
    sys.exit(bool(faults or report.found))


if __name__ == "__main__":
    main()
