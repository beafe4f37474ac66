"""What every kind of case shares: seeded chance, calls that succeed or are refused, and findings."""

import io
import math
import os
import signal
import tempfile
import threading
import traceback
import warnings
import zlib
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

import laws
from scorewise import BadInput

LONGEST = 120  # seconds that a case may take


class TooLong(Exception):  # noqa: N818
    """A case that does not end."""


@dataclass
class Finding:
    """What went wrong, under a name that is the same for the same fault."""

    what: str
    detail: str


@dataclass
class Case:
    """One case: its chance, what it looked at, and what it found."""

    kind: str
    seed: int
    found: list[Finding] = field(default_factory=list)
    covered: Counter = field(default_factory=Counter)
    inputs: dict = field(default_factory=dict)

    def __post_init__(self):
        self.rng = np.random.default_rng([zlib.crc32(self.kind.encode()), self.seed])

    def one(self, *options, p=None):
        """One of the options, as it is."""
        return options[self.rng.choice(len(options), p=p)]

    def chance(self, p):
        return self.rng.random() < p

    def wrong(self, what, detail=""):
        self.found.append(Finding(what, str(detail)[:4000]))

    def call(self, what, function, *args, **options):
        """The result, or the refusal; anything else that is raised or warned of is a finding."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # what every user is told is no fault
            warnings.filterwarnings("ignore", r".* left out: |.*: written |.* is read as ")
            try:
                return function(*args, **options)
            except BadInput as e:
                if not str(e).strip() or "\n" in str(e):
                    self.wrong(f"{what}: refused without a sentence", repr(str(e)))
                return e
            except TooLong:
                raise
            except BaseException as e:
                if isinstance(e, KeyboardInterrupt | SystemExit):
                    raise
                self.wrong(blamed(e), f"{what}\n{traceback.format_exc(limit=-6)}")
                return None

    def near(self, what, found, expected, rel=1e-9, most=1e-11):
        """Whether two numbers agree; both may be the same infinity."""
        same = found == expected or math.isclose(found, expected, rel_tol=rel, abs_tol=most)
        if not same:
            self.wrong(what, f"{found!r}, expected {expected!r}")
        return same

    def lawful(self, what, m, e, bounds=None):
        """A value or a reason, an interval around it, all within bounds; text where there is some."""
        try:
            laws.check_defined_or_explained(m if bounds is None else replace(m, bounds=bounds), e)
            assert e.baseline is None or math.isfinite(e.baseline)
            assert e.expected is None or math.isfinite(e.expected)
        except AssertionError:
            lines = traceback.format_exc(limit=-1).splitlines()
            shown = f"{e.value!r} [{e.low!r}, {e.high!r}] {e.method!r} {e.why!r} p {e.p!r}"
            line = next((x.strip() for x in lines if "assert " in x), "")
            self.wrong(f"{what}: {line}", f"{shown} expected {e.expected!r} base {e.baseline!r}")

    def nested(self, what, *estimates):
        try:
            laws.check_nested(*estimates)
        except AssertionError:
            self.wrong(
                f"{what}: levels are not nested", [(e.value, e.low, e.high) for e in estimates]
            )

    def alike(self, what, a, b, rel=1e-7, *, drawn=False):
        """Whether two estimates say the same, up to rounding, and to other draws if weights are drawn."""
        ok = bool(a.why) == bool(b.why) and (a.method == b.method or not a.defined)
        names = ("value", "low", "high", "bound", "baseline", "expected", "p")
        pairs = [(getattr(a, n), getattr(b, n)) for n in names]
        for name, (x, y) in zip(names, pairs, strict=True):
            near = max(rel, 0.05) if drawn and name in ("low", "high", "expected", "p") else rel
            if x is None or y is None:
                ok &= x is y
            elif not (math.isnan(x) and math.isnan(y)):
                ok &= x == y or math.isclose(x, y, rel_tol=near, abs_tol=near / 10)
        if not ok:
            self.wrong(what, f"{pairs} {a.method!r} {b.method!r} {a.why!r} {b.why!r}")


def blamed(error):
    """What was raised, and by which function of the package."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "/scorewise/" in f.filename] or frames
    return (
        f"{type(error).__name__} in {own[-1].filename.rpartition('/scorewise/')[2]}, {own[-1].name}"
    )


@contextmanager
def rust_apart():
    """What is written past sys.stderr, as polars does when it panics, in a file that can be read after."""
    kept = os.dup(2)
    with tempfile.TemporaryFile("w+", errors="replace") as seen:
        os.dup2(seen.fileno(), 2)
        text = io.StringIO()
        try:
            yield text
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            seen.seek(0)
            text.write(seen.read())
            text.seek(0)


@contextmanager
def at_most(seconds):
    """Raises TooLong after that many seconds, where the platform can."""

    def stop(*_):
        raise TooLong

    able = hasattr(signal, "SIGALRM") and threading.current_thread() is threading.main_thread()
    if able:
        old = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        if able:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, old)


def run(kind, function, seed):
    """The case of that kind and seed, run to its end."""
    case = Case(kind, seed)
    try:
        with at_most(LONGEST), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of oracles; `call` listens to those of the package
            function(case)
    except TooLong:
        case.wrong(f"{kind}: takes longer than {LONGEST} seconds", traceback.format_exc(limit=-6))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # of the fuzzer itself, a panic, or what cannot even be looked at
        case.wrong(f"{kind}: the fuzzer stumbles", traceback.format_exc())
    return case
