"""The KDG study judges as other packages do, stops and goes on, and gives the same numbers twice."""

import re
import time

import numpy as np
import polars as pl
import pytest
import studies.kdg as study
from scipy import optimize, stats
from studies import _tools
from studies.kdg import rivals, runs, scale
from studies.kdg.rivals import FAMILIES, RIVALS
from studies.kdg.runs import ece, ece_by_chance, held, jobs, judged, run_all
from studies.kdg.sets import SIMULATIONS, Prepared, hellinger, read, smallest, split

TIMES = ("extra_fit", "predict")


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(rivals, "EPOCHS", 15)


def few():
    """A real set and a simulation."""
    return jobs("cc18", None, ("iris",), 1, 10) + jobs("eight", None, ("ellipse",), 1, 10)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rivals, "EPOCHS", 15)
        folder = tmp_path_factory.mktemp("results")
        return folder, run_all(few(), folder, 1)


def test_every_rival_is_judged_on_every_set(kept):
    found = kept[1]
    for name, extra in (("iris", ()), ("ellipse", (runs.TRUTH,))):
        assert set(found.filter(pl.col("set") == name)["rival"]) == {*RIVALS, *extra}
    assert found.height == 2 * len(RIVALS) + 1


def test_a_study_from_scratch_gives_the_same_numbers(kept, tmp_path):
    again = run_all(few(), tmp_path, 1)
    assert again.drop(TIMES).equals(kept[1].drop(TIMES))


def test_a_study_that_was_stopped_goes_on_and_changed_code_begins_anew(kept, tmp_path, monkeypatch):
    todo = jobs("cc18", None, ("iris",), 1, 10)
    first = run_all(todo[:1], tmp_path, 1)
    changed = first.with_columns(ece=pl.lit(0.123))  # so that what is taken up can be told
    _tools.store(tmp_path / todo[0].file, changed.to_dicts())
    both = run_all(todo, tmp_path, 1)
    mine = pl.col("rival").is_in(FAMILIES["forest"])
    assert (both.filter(mine)["ece"] == 0.123).all()
    assert not (both.filter(~mine)["ece"] == 0.123).any()
    changed_now = time.time() + 60
    monkeypatch.setattr(_tools, "code_time", lambda: changed_now)
    assert run_all(todo[:1], tmp_path, 1).drop(TIMES).equals(first.drop(TIMES))


def test_the_command_runs_on_what_ships_with_scikit_learn(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(study, "SHIPPED", ("iris", "wine"))
    monkeypatch.setattr(study, "FEW", ("ellipse",))
    monkeypatch.setattr(scale, "SMALL", (200, 400))
    study.main(
        ["--small", "--trees", "5", "--seeds", "2", "--processes", "1", "--results", str(tmp_path)]
    )
    assert "**a short run**, seeds: 2, 5 trees" in " ".join(capsys.readouterr().out.split())
    out = tmp_path / "kdg-small"
    for name in ("kdg.md", "cc18.md", "cc18_sets.md", "kdg_scale.md"):
        text = (out / name).read_text()
        assert not re.search(r"\bnan\b|\binf\b", text)
        assert "short run" in text
        tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
        assert all(len({line.count("|") for line in rows}) == 1 for rows in tables)
    assert pl.read_csv(out / "kdg_study.csv")["rival"].n_unique() == len(RIVALS) + 1


def test_how_far_confidence_is_off_has_no_sign(monkeypatch):
    said = {
        "unsure": rivals.Rival(lambda x: np.full((len(x), 2), 0.5), 0.0),
        "sure": rivals.Rival(lambda x: np.tile([0.0, 1.0], (len(x), 1)), 0.0),
    }
    monkeypatch.setattr(runs, "_fitted", lambda s, job: (s.x, s.new, said))
    job = jobs("cc18", None, ("breast cancer",), 1, 5)[0]
    unsure, sure = runs.run(job)
    largest = split(None, "breast cancer", 0).y.mean()
    for r in runs.RADII:
        assert unsure[f"far_{r}"] == pytest.approx(0.5 - largest)
        assert unsure[f"off_{r}"] == pytest.approx(largest - 0.5)
        assert sure[f"off_{r}"] == sure[f"far_{r}"] == pytest.approx(1 - largest)


def test_columns_are_prepared_as_scikit_learn_does():
    from sklearn.impute import MissingIndicator, SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    rng = np.random.default_rng(0)
    x, new = (
        np.column_stack(
            [rng.normal(5, 2, (40, 3)), rng.integers(0, 3 + more, 40), np.full(40, 7.0)]
        )
        for more in (0, 1)
    )
    for rows in (x, new):
        rows[:5, 1] = rows[3:9, 3] = np.nan
    found = Prepared.of(x, np.array([False, False, False, True, False]))(new)
    numbers = make_pipeline(StandardScaler(), SimpleImputer(strategy="constant", fill_value=0))
    levels = OneHotEncoder(sparse_output=False, handle_unknown="ignore").fit(x[:, [3]])
    theirs = np.column_stack(
        [
            numbers.fit(x[:, :3]).transform(new[:, :3]),
            MissingIndicator().fit(x[:, :3]).transform(new[:, :3]),
            levels.transform(new[:, [3]]),
        ]
    )
    assert found == pytest.approx(theirs)


def test_all_networks_are_made_alike():
    s = split(None, "wine", 0)
    x = Prepared.of(s.x, s.nominal)(s.x)
    found = rivals.networks(x, s.y, seed=0)
    plain, isotonic, kernel = (found[FAMILIES["network"][i]].predict.__self__ for i in (0, 1, 3))
    copies = [*kernel.networks_, *(one.estimator for one in isotonic.calibrated_classifiers_)]
    assert len(copies) == 10
    seedless = {"random_state": None}
    for one in copies:
        assert one.get_params() | seedless == plain.get_params() | seedless


@pytest.mark.parametrize("family", FAMILIES)
def test_a_temperature_is_one_slope_of_log_odds(family):
    s = split(None, "ellipse", 0)
    if family == "forest":
        found = rivals.forests(s.x, s.y, trees=20, seed=0)
    else:
        found = rivals.networks(s.x, s.y, seed=0)
    plain, cooled = (found[FAMILIES[family][i]].predict(s.new)[:, 1] for i in (0, 2))
    inside = (plain > 0.03) & (plain < 0.97) & (np.abs(plain - 0.5) > 0.01)
    z, cool = (np.log(p[inside] / (1 - p[inside])) for p in (plain, cooled))
    assert np.ptp(cool / z) < 1e-6


def test_the_temperature_has_the_least_log_loss():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.02, 0.98, 400)
    y = (rng.random(400) < 1 / (1 + np.exp(-0.4 * np.log(p / (1 - p))))).astype(int)

    class Said:
        classes_ = np.array([0, 1])

        def predict_proba(self, x):
            return np.column_stack([1 - x, x])

    z = np.log(p / (1 - p))
    best = optimize.minimize_scalar(lambda b: np.logaddexp(0, -(2 * y - 1) * b * z).mean()).x
    cooled = rivals._cooled(Said(), np.column_stack([1 - p, p]), y, 1e-6)(np.array([0.8]))[0, 1]
    assert np.log(cooled / (1 - cooled)) == pytest.approx(best * np.log(4), rel=1e-3)


def test_folders_give_their_smallest_sets(tmp_path):
    for name, rows in (("large", 30), ("small", 10), ("middle", 20)):
        words = pl.Series(["b", None, *["a"] * (rows - 2)], dtype=pl.Categorical)
        frame = pl.DataFrame({"x": range(rows), "hue": words, "class": ["n", "p"] * (rows // 2)})
        frame.write_parquet(tmp_path / f"{name}.parquet")
    assert smallest(tmp_path, 2) == ["small", "middle"]
    t = read(tmp_path / "small.parquet")
    assert t.nominal.tolist() == [False, True]
    assert t.x[:3, 1] == pytest.approx([1, np.nan, 0], nan_ok=True)
    assert t.y.tolist() == [0, 1] * 5
    with pytest.raises(SystemExit, match="no data set"):
        smallest(tmp_path / "absent")


def test_a_slope_is_the_power_of_n():
    n = np.array([1e3, 2e3, 4e3, 8e3])
    rng = np.random.default_rng(0)
    values = 3 * n**1.5 * np.exp(0.01 * rng.normal(size=4))
    found, theirs = scale.Slope.of(n, values), stats.linregress(np.log(n), np.log(values))
    assert found.value == pytest.approx(1.5, abs=0.05)
    assert found.high - found.value == pytest.approx(
        stats.t.ppf(0.975, 2) * theirs.stderr, abs=1e-5
    )


@pytest.mark.parametrize(
    ("values", "said"),
    [([2, 4], "1.00 (two sizes only)"), ([2, 0], "not known"), ([np.nan, np.nan], "not known")],
)
def test_a_slope_of_few_sizes_is_told_in_words(values, said):
    assert str(scale.Slope.of([1, 2], values)) == said


def test_memory_is_what_work_allocates():
    def work():
        big = np.ones(1_000_000)
        return big[:250_000].copy()

    peak, left = scale.memory(work)
    assert peak == pytest.approx(10, abs=0.1)
    assert left == pytest.approx(2, abs=0.1)


def test_no_line_becomes_a_list_by_chance():
    for length in range(80, 110):
        text = _tools.wrapped("x" * length + " forest + isotonic", "- ")
        assert not any(line.lstrip().startswith("+") for line in text.splitlines())


@pytest.mark.parametrize("name", SIMULATIONS)
def test_posteriors_are_the_shares_of_the_classes(name):
    simulation = SIMULATIONS[name]
    x, y = simulation.sample(200_000, 0)
    p = simulation.posterior(x)[:, 1]
    for cells in (p, *x.T):  # by chance, and by place
        cut = np.quantile(cells, np.linspace(0, 1, 41)[1:-1])
        cell = np.searchsorted(cut, cells)
        count = np.bincount(cell, minlength=40)
        gap = (np.bincount(cell, y, 40) - np.bincount(cell, p, 40)) / count
        error = np.sqrt(np.bincount(cell, p * (1 - p), 40)) / count
        assert (np.abs(gap) < 4.5 * error + 1e-6).all()


def test_hellinger_distances():
    p = np.array([[1.0, 0.0], [0.5, 0.5]])
    assert hellinger(p, p) == 0
    assert hellinger(p[:1], p[:1, ::-1]) == 1
    assert hellinger(p[:1], p[1:]) == pytest.approx(np.sqrt(1 - np.sqrt(0.5)))


def test_ece_is_that_of_other_packages():
    torch = pytest.importorskip("torch")
    theirs = pytest.importorskip("torchmetrics.functional.classification")
    netcal = pytest.importorskip("netcal.metrics")
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4) / 2, 500)
    y = rng.integers(0, 4, 500)
    both = torch.from_numpy(p), torch.from_numpy(y)
    expected = theirs.multiclass_calibration_error(*both, num_classes=4, n_bins=15, norm="l1")
    assert ece(p, y) == pytest.approx(float(expected), abs=1e-6)
    assert ece(p, y) == pytest.approx(netcal.ECE(15).measure(p, y), abs=1e-9)


def test_measures_are_those_of_scikit_learn():
    from sklearn import metrics

    rng = np.random.default_rng(0)
    p, y = rng.dirichlet(np.ones(3), 200), rng.integers(0, 3, 200)
    found = judged(p, y)
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, p))
    assert found["error"] == pytest.approx(1 - metrics.accuracy_score(y, p.argmax(axis=1)))
    assert found["brier"] == pytest.approx(3 * metrics.mean_squared_error(np.eye(3)[y], p))


def test_posteriors_of_0_cost_what_the_floor_lets_them():
    from sklearn import metrics

    rng = np.random.default_rng(0)
    p, y = rng.dirichlet(np.ones(3), 200), rng.integers(0, 3, 200)
    p[:4] = np.eye(3)[(y[:4] + 1) % 3]  # sure of another class
    p[4:9] = np.eye(3)[y[4:9]]  # zeros that cost nothing
    found = judged(p, y)
    floor = np.where(p < 0.001, 0.001, p)
    assert found["log_loss_floor"] == pytest.approx(
        metrics.log_loss(y, floor / floor.sum(axis=1, keepdims=True))
    )
    assert (found["zeros"], found["rows"]) == (4, 200)
    less = 4 * (-np.log(1e-15) + np.log(0.001)) / 200
    assert found["log_loss"] - found["log_loss_floor"] == pytest.approx(less, abs=0.005)
    assert held(p).min() >= 0.001 / 1.002


def test_ece_by_chance_is_that_of_labels_drawn_from_the_posterior():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 300)
    drawn = [ece(p, [rng.choice(3, p=row) for row in p]) for _ in range(60)]
    error = np.std(drawn) / np.sqrt(60)
    assert ece_by_chance(p) == pytest.approx(np.mean(drawn), abs=4 * error)
