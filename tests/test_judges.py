"""Automatic judges against humans, by loops and by outside packages."""

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binomtest, norm
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

import scorewise as sw
from beside import agreement
from judge_cases import both, kappa, majority, panel, without_one
from scorewise.inference.differences import holm
from scorewise.inference.shares import sign_test, tango_limits
from scorewise.judging import kappas as resampling
from scorewise.judging.panel import read_swap
from simulated import held_often

FEW = {"replicates": 200}
SEEDS = range(12)


def close(e, value, low=None, high=None, rel=1e-9):
    assert e.value == pytest.approx(value, rel=rel, abs=1e-12)
    if low is not None:
        assert (e.low, e.high) == pytest.approx((low, high), rel=rel, abs=1e-9)


# the truth


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("humans", [1, 2, 3, 4])
def test_the_truth_is_what_most_humans_say(seed, humans):
    people, judges = panel(seed, humans=humans, missing=0.3)
    truth = majority(people.values())
    found = sw.judge(people, judges, **FEW)
    data = found.to_dict()["data"]
    rated = sum(any(x is not None for x in row) for row in zip(*people.values(), strict=True))
    assert data["labelled"] == sum(t is not None for t in truth)
    assert data["tied"] == rated - data["labelled"]
    assert data["unlabelled"] == 120 - rated
    for name, column in judges.items():
        a, b = both(truth, column)
        right = sum(x == y for x, y in zip(a, b, strict=True))
        limits = proportion_confint(right, len(a), method="wilson")
        close(found.judges[name].accuracy, right / len(a), *limits)
        assert found.judges[name].items == len(a)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", ["identity", "linear", "quadratic"])
def test_kappa_is_that_of_statsmodels(seed, weights):
    people, judges = panel(seed, humans=1, categories=4)
    scale = "nominal" if weights == "identity" else "ordinal"
    words = [f"c{k}" for k in range(4)]
    found = sw.judge(people, judges, scale=scale, weights=weights, categories=words, **FEW)
    for name, column in judges.items():
        a, b = both(people["h0"], column)
        table = pd.crosstab(a, b).reindex(index=words, columns=words, fill_value=0).to_numpy()
        wt = {"identity": None, "linear": "linear", "quadratic": "quadratic"}[weights]
        known = cohens_kappa(table, wt=wt)
        e = found.judges[name].kappa
        close(e, known.kappa)
        assert e.p == pytest.approx(known.pvalue_two_sided, rel=1e-7, abs=1e-12)
        assert e.high - e.low == pytest.approx(2 * norm.ppf(0.975) * known.std_kappa, rel=0.25)


def test_weights_follow_the_scale():
    a, b = [1, 2, 3, 3, 2, 1, 2], [1, 3, 3, 2, 2, 1, 1]
    for scale, weights in [("nominal", None), ("ordinal", "linear"), ("interval", "quadratic")]:
        found = sw.judge(a, b, scale=scale, **FEW).judges["judge"].kappa
        assert found.value == pytest.approx(kappa(a, b, weights=weights))
    own = [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]
    found = sw.judge(a, b, weights=own, **FEW)
    assert found.judges["judge"].kappa.value == pytest.approx(kappa(a, b, weights="linear"))


def test_each_category():
    people, judges = panel(3, humans=1)
    found = sw.judge(people, judges, **FEW).judges["j0"].categories
    a, b = (np.array(c) for c in both(people["h0"], judges["j0"]))
    for c in found:
        truth, said = a == c.category, b == c.category
        assert (c.truth, c.judge) == (truth.mean(), said.mean())
        close(c.precision, truth[said].mean())
        close(c.recall, said[truth].mean())
        table = [[(truth & said).sum(), (truth & ~said).sum()], [(~truth & said).sum(), 0]]
        assert c.p == pytest.approx(mcnemar(table, exact=True).pvalue)


# the ceiling


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("humans", [2, 3, 4])
def test_the_ceiling_is_what_humans_reach_with_the_others(seed, humans):
    people, judges = panel(seed, humans=humans)
    found = sw.judge(people, judges, **FEW)
    pairs = [kappa(a, b) for a, b in itertools.combinations(people.values(), 2)]
    assert [p.kappa.value for p in found.ceiling.pairs] == pytest.approx(pairs)
    assert found.ceiling.kappa.value == pytest.approx(np.mean(pairs))
    for name, column in judges.items():
        beside = found.judges[name].ceiling
        single = [kappa(column, h) for h in people.values()]
        assert beside.single.value == pytest.approx(np.mean(single))
        assert beside.single_gap.value == pytest.approx(np.mean(single) - np.mean(pairs))
        human, machine = without_one(people, column)
        assert (beside.human.value, beside.judge.value) == pytest.approx((human, machine))
        assert beside.gap.value == pytest.approx(machine - human)


def test_a_human_dressed_as_a_judge_is_at_the_ceiling():
    people, _ = panel(5, n=400, humans=4)
    judge = people.pop("h3")
    found = sw.judge(people, {"bot": judge})
    gap = found.judges["bot"].ceiling.gap
    assert gap.low < 0 < gap.high
    assert gap.p > 0.05
    trusted = found.document().verdict[0]
    assert trusted.finding == "yes"
    assert "about as well as they do with one another" in trusted.sentence


def test_resampling_is_that_of_rows():
    """Rows drawn with replacement, and kappas of scikit-learn, give the same interval."""
    people, judges = panel(7, n=150)
    found = sw.judge(people, judges, interval="bootstrap", replicates=4000)
    found = found.judges["j1"].ceiling.gap
    rng, n, drawn = np.random.default_rng(1), 150, []
    for _ in range(300):
        at = rng.integers(0, n, n)
        again = {k: [v[i] for i in at] for k, v in people.items()}
        human, machine = without_one(again, [judges["j1"][i] for i in at])
        drawn.append(machine - human)
    assert found.high - found.low == pytest.approx(3.92 * np.std(drawn), rel=0.12)
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.2 * (high - low))


def test_resampling_says_the_same_as_the_formula(monkeypatch):
    people, judges = panel(8, n=600)
    usual = sw.judge(people, judges, interval="bootstrap", replicates=4000)
    quick = sw.judge(people, judges)
    monkeypatch.setattr(resampling, "_MAX_DRAWN", 0)
    assert sw.judge(people, judges, interval="bootstrap").ceiling.kappa == quick.ceiling.kappa
    for a, b in [
        (usual.ceiling.kappa, quick.ceiling.kappa),
        (usual.judges["j0"].ceiling.gap, quick.judges["j0"].ceiling.gap),
        (usual.differences[0].kappa, quick.differences[0].kappa),
    ]:
        assert (a.method.split(";")[0], b.method) == (resampling.BOOTSTRAP, resampling.MOVER)
        assert a.value == b.value
        assert b.high - b.low == pytest.approx(a.high - a.low, rel=0.08)
        assert (a.p is None) == (b.p is None)


def test_resampling_stays_around_the_value():
    """Of judges with base rates of their own, too."""
    people, judges = panel(12, n=800, missing=0)
    judges["j1"] = ["c0" if k % 2 else x for k, x in enumerate(judges["j1"])]
    found = sw.judge(people, judges)
    for e in (found.differences[0].kappa, found.judges["j1"].ceiling.gap, found.ceiling.kappa):
        assert (e.low + e.high) / 2 == pytest.approx(e.value, abs=0.15 * (e.high - e.low))


# two judges


@pytest.mark.parametrize("seed", SEEDS)
def test_two_judges_by_mcnemar(seed):
    people, judges = panel(seed, humans=3, judges=3)
    found = sw.judge(people, judges, **FEW).differences
    truth, p = majority(people.values()), []
    for d, (a, b) in zip(found, itertools.combinations(judges, 2), strict=True):
        t, x, y = (np.array(c) for c in both(truth, judges[a], judges[b]))
        one, two = ((x == t) & (y != t)).sum(), ((x != t) & (y == t)).sum()
        p.append(mcnemar([[0, one], [two, 0]], exact=True).pvalue)
        assert (d.first, d.second, d.items) == (a, b, len(t))
        assert (d.only_first, d.only_second) == pytest.approx((one / len(t), two / len(t)))
        assert d.accuracy.p == pytest.approx(p[-1])
        close(d.accuracy, (one - two) / len(t), *tango(one, two, len(t)), rel=1e-6)
        assert d.kappa.value == pytest.approx(kappa(t, x) - kappa(t, y))
    assert [d.accuracy_adjusted for d in found] == pytest.approx(holm(p))


def tango(one, two, n, level=0.95):
    """The differences that a score test keeps; the rest of the likelihood is maximised by search."""

    def spread(gap):
        def loss(less):
            more = less + gap
            rest = 1 - more - less
            terms = [(one, more), (two, less), (n - one - two, rest)]
            return -sum(k * math.log(max(share, 1e-300)) for k, share in terms if k)

        best = minimize_scalar(
            loss, bounds=(max(0.0, -gap), (1 - gap) / 2), method="bounded", options={"xatol": 1e-13}
        ).x
        return math.sqrt(max(2 * best + gap - gap**2, 1e-300) / n)

    z, middle = norm.ppf((1 + level) / 2), (one - two) / n
    score = lambda gap, end: (middle - gap) / spread(gap) - end  # noqa: E731
    return (
        brentq(score, -0.9999, middle, args=(z,)),
        brentq(score, middle, 0.9999, args=(-z,)),
    )


@pytest.mark.parametrize(("one", "two", "n"), [(150, 86, 1600), (3, 9, 40), (5, 0, 20), (0, 4, 12)])
def test_tango(one, two, n):
    assert tango_limits(one, two, n, 0.95) == pytest.approx(tango(one, two, n), abs=2e-5)
    low, high = tango_limits(two, one, n, 0.95)
    assert (-high, -low) == pytest.approx(tango_limits(one, two, n, 0.95), abs=1e-12)


@pytest.mark.parametrize("n", [1, 10, 1000])
def test_no_discordant_item_is_no_certainty(n):
    """With none, the interval is Wilson's of a share of 0 to both sides."""
    _, high = proportion_confint(0, n, method="wilson")
    assert tango_limits(0, 0, n, 0.95) == pytest.approx((-high, high), abs=1e-12)


@pytest.mark.parametrize(("one", "two"), [(0, 0), (5, 0), (7, 7), (12, 4), (300, 340)])
def test_sign_test(one, two):
    known = binomtest(one, one + two).pvalue if one + two else 1.0
    assert sign_test(one, two, one, two) == pytest.approx(known)
    # equal weights of any size
    assert sign_test(0.3 * one, 0.3 * two, 0.09 * one, 0.09 * two) == pytest.approx(known)
    assert 0 <= sign_test(one, two, 2 * one, 3 * two) <= 1


# positions


@pytest.mark.parametrize("seed", SEEDS)
def test_positions_exchanged(seed):
    rng = np.random.default_rng(seed)
    once, again = rng.integers(0, 3, 90), rng.choice(3, 90, p=[0.2, 0.5, 0.3])
    truth = rng.integers(0, 3, 90)
    found = sw.judge(truth, {"bot": once}, swapped={"bot": again}, **FEW).judges["bot"].swap
    back = np.array([0, 2, 1])[again]
    same = int((once == back).sum())
    close(found.consistent, same / 90, *proportion_confint(same, 90, method="wilson"))
    assert found.kappa.value == pytest.approx(kappa(once.tolist(), back.tolist()))
    lean = np.array([0, 1, -1])
    tilt = [lean[a] + lean[b] for a, b in zip(once, again, strict=True) if a != [0, 2, 1][b]]
    first, second = sum(t > 0 for t in tilt), sum(t < 0 for t in tilt)
    assert found.leaning == (first, second)
    assert found.first.p == pytest.approx(binomtest(first, first + second).pvalue)


def test_words_of_ones_own_change_places():
    once, again = ["A>>B", "A>B", "B>A", "tie"] * 3, ["B>>A", "B>A", "B>A", "tie"] * 3
    options = {"swapped": {"bot": again}, "swap": "A>>B=B>>A, A>B=B>A", **FEW}
    with pytest.raises(sw.BadInput, match="pass swap="):
        sw.judge(once, {"bot": once}, swapped={"bot": again})
    found = sw.judge(once, {"bot": once}, **options).judges["bot"].swap
    assert found.consistent.value == 0.75
    assert found.leaning == (0, 3)
    both_ways = {"A>>B": "B>>A", "B>>A": "A>>B", "A>B": "B>A", "B>A": "A>B"}
    same = sw.judge(once, {"bot": once}, **{**options, "swap": both_ways}).judges["bot"].swap
    assert same.leaning == found.leaning


# shares of all items


@pytest.mark.parametrize("seed", SEEDS)
def test_prevalence_by_the_textbook(seed):
    people, judges = panel(seed, n=300, humans=1, categories=3, unlabelled=0.7)
    truth, said = people["h0"], judges["j0"]
    found = sw.judge(people, judges, **FEW).judges["j0"].prevalence
    told = np.array([t is not None for t in truth])
    n, more = told.sum(), (~told).sum()
    spread, shared, wide = 0, 0, []
    for p in found:
        spoken = np.mean([s == p.category for s in said if s is not None])
        f = np.array([spoken if s is None else float(s == p.category) for s in said])
        y = np.array([float(t == p.category) for t in truth if t is not None])
        f, g, every = f[told], f[~told], f
        value = np.mean(g) + np.mean(y - f)
        reach = norm.ppf(0.975) * math.sqrt(np.var(g) / more + np.var(y - f) / n)
        close(p.powered, value, max(0, value - reach), min(1, value + reach))
        spread, shared = spread + np.var(every), shared + np.cov(y, f, ddof=0)[0, 1]
        assert p.tuned.value == pytest.approx(np.mean(y) + p.tuning * (np.mean(g) - np.mean(f)))
        close(p.labelled, np.mean(y), *proportion_confint(sum(y), n, method="wilson"))
        close(p.judge, spoken)
        hits, slips = (np.average(f, weights=w) for w in (y, 1 - y))
        corrected = (np.mean(every) - slips) / (hits - slips)
        assert p.rates.value == pytest.approx(min(max(corrected, 0), 1))
        wide.append([p.tuned.high - p.tuned.low, p.labelled.high - p.labelled.low])
    power = shared / spread / (1 + n / more)
    assert [p.tuning for p in found] == pytest.approx([min(max(power, 0), 1)] * 3)
    alone, with_judge = np.square(wide).sum(0)[::-1]
    assert with_judge <= 1.04 * alone


@pytest.mark.parametrize(("share", "right"), [(0.5, 0.9), (0.2, 0.8), (0.05, 0.95)])
def test_corrected_shares_hold(share, right):
    """The interval of the tuned estimate covers the truth, which that of the judge alone does not."""
    rng = np.random.default_rng(2)
    held, naive, width = 0, 0, []
    runs = 120
    for _ in range(runs):
        y = rng.random(600) < share
        said = np.where(rng.random(600) < right, y, ~y).astype(int)
        told = [int(t) if k < 100 else None for k, t in enumerate(y)]
        p = sw.judge(told, said, replicates=100).judges["judge"].prevalence[1]
        held += p.tuned.low <= share <= p.tuned.high
        naive += p.judge.low <= share <= p.judge.high
        width.append((p.tuned.high - p.tuned.low) / (p.labelled.high - p.labelled.low))
    assert held_often(held, runs)
    assert share == 0.5 or naive / runs < 0.8
    assert np.mean(width) < 1


def test_no_shares_where_no_item_is_unlabelled():
    assert sw.judge([1, 2, 1, 2], [1, 2, 2, 2]).judges["judge"].prevalence == []
    tied = {"h": [1, 2, 1, 1], "g": [1, 2, 1, 2]}
    assert sw.judge(tied, [1, 2, 2, 2]).judges["judge"].prevalence == []


def half_tied(rng, n=150, more=600, errors=0.1, share=0.3):
    """Two humans who err, so that they tie on 2 errors (1 - errors) of the items, and a judge."""
    y = rng.random(n + more) < share
    people = [np.where(rng.random(n + more) < errors, ~y, y).astype(int) for _ in range(2)]
    told = [[int(t) if k < n else None for k, t in enumerate(h)] for h in people]
    said = np.where(rng.random(n + more) < 0.15, ~y, y).astype(int)
    return {"h0": told[0], "h1": told[1]}, said, share * (1 - errors) + (1 - share) * errors


def test_ties_are_half_of_each_and_intervals_hold():
    """18 % ties: shares of votes are covered, with errors of the right size."""
    rng = np.random.default_rng(5)
    held, found, sizes = (
        dict.fromkeys(("labelled", "powered", "tuned", "rates"), x) for x in (0, (), ())
    )
    runs = 150
    for _ in range(runs):
        people, said, votes = half_tied(rng)
        p = sw.judge(people, said, replicates=100).judges["judge"].prevalence[1]
        for name in held:
            e = getattr(p, name)
            held[name] += e.low <= votes <= e.high
            found[name] += (e.value,)
            sizes[name] += ((e.high - e.low) / 2 / norm.ppf(0.975),)
    for name in held:
        assert held_often(held[name], runs), name
        assert np.mean(sizes[name]) == pytest.approx(np.std(found[name]), rel=0.15), name
        assert np.mean(found[name]) == pytest.approx(votes, abs=0.01), name


def test_shares_of_votes_by_a_loop():
    people, judges = panel(4, humans=3, missing=0.2, unlabelled=0.5)
    rows = [[x for x in row if x is not None] for row in zip(*people.values(), strict=True)]
    for p in sw.judge(people, judges, **FEW).judges["j0"].prevalence:
        votes = [row.count(p.category) / len(row) for row in rows if row]
        assert p.labelled.value == pytest.approx(np.mean(votes))


def test_shares_add_up_to_1_where_a_judge_is_silent():
    people, judges = panel(14, n=400, humans=2, missing=0.2, unlabelled=0.6)
    assert None in judges["j0"]
    for how in ("drop", "wrong"):
        shares = sw.judge(people, judges, no_answer=how, **FEW).judges["j0"].prevalence
        for name in ("judge", "labelled", "powered", "tuned"):
            assert sum(getattr(p, name).value for p in shares) == pytest.approx(1), name


def test_hints_tell_what_matters():
    rng = np.random.default_rng(3)
    y = (rng.random(900) < 0.4).astype(int)
    lax = np.where(rng.random(900) < 0.3, 1, y)
    told = [int(t) if k < 300 else None for k, t in enumerate(y)]
    once, again = np.where(y == 1, 1, 2), np.where(y == 1, 1, 2)
    found = sw.judge(told, {"lax": lax, "good": y})
    said = " ".join(found.to_dict()["hints"])
    assert "'lax' says '1' more often than the humans" in said
    assert "of all items in '1'; corrected by the labelled items it is 0.4" in said
    verdict = " ".join(c.sentence for c in found.document().verdict)
    assert "'good' is right more often than 'lax' on the same 300 items" in verdict
    words = np.where(y == 1, 1, 2)
    bound = sw.judge(words, {"bot": once}, swapped={"bot": again}).to_dict()["hints"]
    assert any("'bot' leans to the second position: of 900 verdicts" in h for h in bound)
    chance = sw.judge(words, {"bot": rng.permutation(words)}).to_dict()["hints"]
    assert any("'bot' is worse than always saying '2': accuracy 0." in h for h in chance)


# items needed


@pytest.mark.parametrize(
    ("known", "shares", "raters"),
    [(0.6, 0.5, 2), (0.4, 0.2, 2), (0.7, [0.2, 0.3, 0.5], 2), (0.5, 0.3, 3), (0.5, 0.5, 5)],
)
def test_items_needed_give_that_width(known, shares, raters):
    rng, width = np.random.default_rng(4), 0.2
    n = sw.items_needed(width, kappa=known, prevalence=shares, raters=raters)
    p = [1 - shares, shares] if isinstance(shares, float) else shares
    found = []
    for _ in range(12):
        sure = (rng.random(n) < known)[:, None]
        rated = np.where(
            sure, rng.choice(len(p), (n, 1), p=p), rng.choice(len(p), (n, raters), p=p)
        )
        said = sw.judge(rated, rated[:, 0] * 0 + rng.integers(0, 2, n), replicates=800)
        e = said.ceiling.kappa if raters > 2 else said.ceiling.pairs[0].kappa
        found.append(e.high - e.low)
    assert np.mean(found) == pytest.approx(width, rel=0.08)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("width", [0.02, 0.1, 0.3])
def test_items_for_a_share_are_the_fewest(share, width):
    n = sw.items_needed(width, "share", share=share)
    wide = [np.diff(proportion_confint(share * k, k, method="wilson"))[0] for k in (n - 1, n)]
    assert wide[1] <= width + 1e-12
    assert wide[0] > width or n == 2


def test_items_for_a_difference_are_the_fewest():
    n = sw.items_needed(0.05, "difference", difference=0.04, discordant=0.26)
    low, high = tango(0.15 * n, 0.11 * n, n)
    assert high - low == pytest.approx(0.05, abs=1e-4)


def test_a_pilot_tells_the_items_needed():
    people, judges = panel(6, n=250, humans=1, missing=0)
    found = sw.judge(people, judges, **FEW)
    e = found.judges["j0"].kappa
    assert found.items_needed(e.high - e.low)["j0"] == pytest.approx(250, rel=0.05)
    assert found.items_needed((e.high - e.low) / 2)["j0"] == pytest.approx(1000, rel=0.05)
    a = found.judges["j1"].accuracy
    assert found.items_needed(a.high - a.low + 1e-9, "share")["j1"] == 250
    d = found.differences[0].accuracy
    assert found.items_needed(d.high - d.low + 1e-9, "difference") == {"j0 - j1": 250}


# what may not matter


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_items_does_not_matter(seed):
    people, judges = panel(seed, unlabelled=0.2)
    at = np.random.default_rng(seed).permutation(120)
    mixed = [{k: [v[i] for i in at] for k, v in group.items()} for group in (people, judges)]
    assert sw.judge(people, judges, **FEW).to_dict() == sw.judge(*mixed, **FEW).to_dict()


@pytest.mark.parametrize("seed", range(4))
def test_only_ratios_of_weights_matter(seed):
    people, judges = panel(seed, unlabelled=0.2)
    w = np.random.default_rng(seed).uniform(0.5, 2, 120)
    one, two = (sw.judge(people, judges, weight=x, **FEW) for x in (w, 1024 * w))
    for name in judges:
        a, b = one.judges[name], two.judges[name]
        for x, y in [(a.accuracy, b.accuracy), (a.kappa, b.kappa), (a.ceiling.gap, b.ceiling.gap)]:
            assert (x.value, x.low, x.high) == pytest.approx((y.value, y.low, y.high))
        t, u = (p.prevalence[0].tuned for p in (a, b))
        assert (t.value, t.low, t.high) == pytest.approx((u.value, u.low, u.high))
    assert one.differences[0].accuracy.p == pytest.approx(two.differences[0].accuracy.p)
    perfect = [sw.judge([1, 2] * 60, [1, 2] * 60, weight=x, **FEW) for x in (w, 1024 * w)]
    assert perfect[0].items_needed(0.05) == perfect[1].items_needed(0.05)


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_extreme_weights_survive(size):
    people, judges = panel(1, unlabelled=0.2)
    w = np.random.default_rng(1).uniform(0.5, 2, 120)
    one, two = (sw.judge(people, judges, weight=x, **FEW) for x in (w, size * w))
    for name in judges:
        a, b = one.judges[name], two.judges[name]
        pairs = [(a.accuracy, b.accuracy), (a.kappa, b.kappa), (a.ceiling.gap, b.ceiling.gap)]
        pairs += [(a.prevalence[0].tuned, b.prevalence[0].tuned)]
        for x, y in pairs:
            assert (x.value, x.low, x.high) == pytest.approx((y.value, y.low, y.high))
    d, e = (x.differences[0].accuracy for x in (one, two))
    assert (d.low, d.high, d.p) == pytest.approx((e.low, e.high, e.p))


def test_equal_weights_are_none():
    people, judges = panel(9)
    plain, heavy = (sw.judge(people, judges, weight=w, **FEW) for w in (None, [4.0] * 120))
    a, b = (x.to_dict() for x in (plain, heavy))
    for x, y in zip(a["judges"], b["judges"], strict=True):
        for key in ("accuracy", "kappa"):
            assert [x[key][k] for k in ("value", "low", "high")] == pytest.approx(
                [y[key][k] for k in ("value", "low", "high")]
            )
    assert plain.differences[0].accuracy.p == pytest.approx(heavy.differences[0].accuracy.p)


def test_repeating_items_changes_no_value_and_narrows_intervals():
    people, judges = panel(10)
    four = [{k: v * 4 for k, v in group.items()} for group in (people, judges)]
    one, more = sw.judge(people, judges), sw.judge(*four)
    for name in judges:
        a, b = one.judges[name], more.judges[name]
        assert a.kappa.value == pytest.approx(b.kappa.value)
        width = (a.kappa.high - a.kappa.low) / 2
        assert b.kappa.high - b.kappa.low == pytest.approx(width, rel=0.05)
        gaps = [x.ceiling.gap.high - x.ceiling.gap.low for x in (a, b)]
        assert gaps[1] == pytest.approx(gaps[0] / 2, rel=0.1)


def test_columns_of_any_kind():
    people, judges = panel(11)
    known = sw.judge(people, judges, **FEW).to_dict()
    for frame in (pd.DataFrame, pl.DataFrame):
        assert sw.judge(frame(people), frame(judges), **FEW).to_dict() == known
    codes = np.array([[1, 2], [2, 2], [1, 1], [2, 1.0]])
    found = sw.judge(codes, codes[:, 0], **FEW)
    assert list(found.panel.humans) == ["human 1", "human 2"]
    assert list(found.judges) == ["judge"]


# answers that are none


def test_no_answer_is_left_out_or_wrong():
    truth, said = [0, 1, 2, 1, 0, 2, 1], [0, 1, -1, 1, 1, -1, 0]
    dropped = sw.judge(truth, said, ignore=[-1], **FEW)
    one = dropped.judges["judge"]
    assert (one.accuracy.value, one.items, one.silent) == (3 / 5, 5, 2)
    wrong = sw.judge(truth, said, ignore=[-1], no_answer="wrong", **FEW)
    two = wrong.judges["judge"]
    assert (two.accuracy.value, two.items, two.silent) == (3 / 7, 7, 2)
    assert two.kappa.value == pytest.approx(kappa(truth, said))
    assert "no answer on 2 of 7 items; they are left out" in " ".join(dropped.to_dict()["hints"])
    words = sw.judge(["a", "b", "a"], ["a", "?", "b"], ignore="?", **FEW)
    assert words.judges["judge"].items == 2
    # a human who says it means it
    assert "-1" in sw.judge([-1, 1, 1], [1, -1, 1], ignore=[-1], **FEW).panel.categories


def test_what_cannot_be_told_says_why():
    found = sw.judge([1, 1, 1], {"a": [1, 1, 1], "b": [1, 1, 2]}, **FEW)
    assert found.judges["a"].kappa.why == "both always say the same one thing"
    assert found.differences[0].kappa.why == "both always say the same one thing"
    apart = sw.judge([1, 2, None, None], {"a": [None, None, 1, 2]}, **FEW)
    assert apart.judges["a"].accuracy.why == "no item is rated by both"
    assert "Not defined" in repr(apart)
    split = sw.judge({"h": [1, 2, 1], "g": [2, 1, 2]}, {"a": [1, 2, 1]}, **FEW)
    assert split.to_dict()["data"]["tied"] == 3
    same = sw.judge([1, 2, 1, 2], {"a": [1, 2, 1, 2], "b": [1, 2, 1, 2]}, **FEW)
    assert same.differences[0].kappa.method == "none: no item tells them apart"
    assert same.differences[0].accuracy.p == 1


@pytest.mark.parametrize(
    ("args", "options", "sentence"),
    [
        (([1, 2], {}), {}, "no judge was given"),
        (({"x": [1, 2]}, {"x": [1, 2]}), {}, "'x' is named as a human and as a judge"),
        (([1], [1]), {}, "there is 1 item; at least two"),
        (([], []), {}, "there are no items"),
        (([None, None], [1, 2]), {}, "no item is labelled"),
        (([1, 2], [None, None]), {}, "judge 'judge' gives no answer on any of 2 items"),
        (([1, 2], [-1, -1]), {"ignore": [-1]}, "gives no answer on any"),
        (([1, 2, 1], [1, 2]), {}, "human has 3 rows and judge has 2"),
        (([1, 2], [1, 2]), {"scale": "odd"}, 'scale="odd" is not known'),
        (
            (["a", "b"], ["a", "b"]),
            {"weights": "linear"},
            'weights="linear" needs categories in an',
        ),
        (
            ([1, 2], [1, 2]),
            {"weights": "cubic"},
            "weights is 'cubic'; it is one of identity, linear",
        ),
        (([1, 2], [1, 2]), {"weights": [[1]]}, "the table of weights has shape (1, 1)"),
        (([1, 2], [1, 2]), {"weights": [[1, 2], [0, 1]]}, "is 2; weights lie between 0 and 1"),
        (([1, 2], [1, 2]), {"no_answer": "maybe"}, 'no_answer="maybe" is not known'),
        (([1, 2], [1, 2]), {"level": 95}, "level must lie between 0 and 1, such as 0.95; got 95"),
        (([1, 2], [1, 2]), {"replicates": 3}, "replicates must be an integer from 100 up"),
        (([1, 2], [1, 2]), {"width": 0}, "width must lie between 0 and 2, such as 0.1; got 0"),
        (([1, 2], [1, 3]), {"categories": [1, 2]}, "judge is not among the categories in 1 row"),
        (([1, 2], [1, 2]), {"swapped": {"bot": [1, 2]}}, "verdicts of 'bot', which is not a judge"),
        (([1, 2], [1, 2]), {"swapped": [1, 2]}, "swapped= takes verdicts by the name"),
        (("file.csv", [1, 2]), {}, "humans is a path or a name"),
        (([1, 2], [1, 2]), {"humans": [1]}, "is given twice"),
        (
            ([1, 2], [1, 2]),
            {"swapped": {"judge": [1, 2]}, "swap": "1=3"},
            "swap= names '3', which is not a category",
        ),
        (
            ([1, 2, 3], [1, 2, 3]),
            {"swapped": {"judge": [1, 2, 3]}, "swap": "1=2,2=3"},
            "turns '2' into '3', and not back",
        ),
        (([1, 2], [1, 2]), {"swapped": {"judge": [1, 2]}, "swap": "12"}, "is not understood"),
        (([1, 2], [1, 2]), {"weight": [1, None]}, "weight is missing in 1 row"),
        (([1, 2], [1, 2]), {"weight": [1, -1]}, "weight is negative in 1 row"),
        ((np.arange(1500), np.arange(1500)), {}, "1,500 different ratings"),
    ],
)
def test_bad_input_is_told_in_one_sentence(args, options, sentence):
    with pytest.raises(sw.BadInput) as error:
        sw.judge(*args, **options)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"width": 0}, "width must lie between 0 and 2, such as 0.1; got 0"),
        ({"width": 0.1, "of": "alpha"}, 'of="alpha" is not known'),
        ({"width": 0.1, "kappa": 1.5}, "kappa must lie between 0 and 1; got 1.5"),
        ({"width": 0.1, "kappa": 1.0}, "kappa is 1; raters who never differ"),
        ({"width": 0.1, "prevalence": 0}, "prevalence is 0"),
        ({"width": 0.1, "prevalence": [0.5, 0.2]}, "adds up to 0.7"),
        ({"width": 0.1, "raters": 1}, "raters must be an integer from 2 to 1,000,000"),
        ({"width": 0.1, "of": "difference"}, "discordant= is not given"),
        ({"width": 0.1, "of": "difference", "discordant": 0.1, "difference": 0.2}, "between -0.1"),
        ({"width": 1e-9, "of": "share"}, "more than 1e+12 items"),
    ],
)
def test_items_that_cannot_be_told(options, sentence):
    with pytest.raises(sw.BadInput) as error:
        sw.items_needed(**options)
    assert sentence in str(error.value)


# real judges


@pytest.fixture
def pandalm():
    return pd.read_csv(agreement("pandalm_human_llm_judges.csv"))


def test_pandalm(pandalm):
    """Published: kappas of humans .85, .88, .86; accuracy of PandaLM-7B .6677."""
    people, judges = pandalm.filter(like="annotator"), pandalm[["gpt35", "pandalm7b"]]
    found = sw.judge(people, judges, ignore=[-1], no_answer="wrong")
    assert [round(p.kappa.value, 2) for p in found.ceiling.pairs] == [0.85, 0.88, 0.86]
    assert round(found.judges["gpt35"].accuracy.value, 4) == 0.6977
    assert round(found.judges["pandalm7b"].accuracy.value, 4) == 0.6677
    (d,) = found.differences
    close(d.accuracy, 30 / 999, *tango(145, 115, 999), rel=1e-5)
    assert d.accuracy.p == pytest.approx(binomtest(145, 260).pvalue)
    assert all(j.ceiling.gap.high < -0.3 for j in found.judges.values())
    some = sw.judge(people, judges, ignore=[-1])
    assert round(some.judges["gpt35"].accuracy.value, 4) == 0.7156
    assert some.judges["gpt35"].silent == 25


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sw.items_needed(1e-300), "would take more than 1e"),
        (lambda: sw.items_needed(0.1, prevalence=1e-20), "prevalence is 1e-20"),
        (lambda: sw.items_needed(0.1, prevalence=[0.5, "x"]), "prevalence is"),
        (lambda: sw.items_needed(0.1, raters=10**200), "raters must be an integer"),
        (lambda: read_swap("A=A", ("A", "B")), "swap= turns 'A' into itself"),
        (lambda: read_swap(3, ("A", "B")), "swap=3 is not understood"),
    ],
)
def test_what_cannot_be_meant_is_told(call, words):
    with pytest.raises(sw.BadInput) as caught:
        call()
    assert words in str(caught.value)


def test_numbers_of_numpy_are_numbers():
    assert sw.items_needed(np.float32(0.1)) == sw.items_needed(float(np.float32(0.1)))
    assert sw.items_needed(0.1, raters=np.int64(3)) == sw.items_needed(0.1, raters=3)


@pytest.mark.parametrize("table", [(90, 5, 5, 0), (20, 5, 10, 15), (30, 0, 0, 12)])
def test_kappa_of_a_judge_is_that_of_two_raters(table):
    """Also near chance with a rare category, and where nobody differs."""
    a, b = np.repeat([0, 0, 1, 1], table), np.repeat([0, 1, 0, 1], table)
    found = sw.judge({"h": a}, {"j": b}, **FEW).judges["j"].kappa
    assert (found.value, found.low, found.high) == pytest.approx(
        [getattr(sw.agree(a, b).cohen_kappa, k) for k in ("value", "low", "high")]
    )
