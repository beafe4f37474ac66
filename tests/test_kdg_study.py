"""The KDG study judges as other packages do, stops and goes on, and gives the same numbers twice."""

import ast
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats

sklearn = pytest.importorskip("sklearn")
sys.path.insert(0, str(Path(__file__).parents[1]))
study = pytest.importorskip("experiments.kdg_study")

from experiments import code_mark, kdg_runs, kdg_scale, rivals  # noqa: E402
from experiments.code_mark import bare  # noqa: E402
from experiments.kdg_runs import jobs, run_all, store  # noqa: E402
from experiments.kdg_sets import read, smallest, split  # noqa: E402
from experiments.markdown import wrapped  # noqa: E402
from experiments.preparing import Prepared  # noqa: E402
from experiments.rivals import FAMILIES, RIVALS  # noqa: E402

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
    for name, extra in (("iris", ()), ("ellipse", (kdg_runs.TRUTH,))):
        assert set(found.filter(pl.col("set") == name)["rival"]) == {*RIVALS, *extra}
    assert found.height == 2 * len(RIVALS) + 1


def test_a_study_from_scratch_gives_the_same_numbers(kept, tmp_path):
    again = run_all(few(), tmp_path, 1)
    assert again.drop(TIMES).equals(kept[1].drop(TIMES))


def test_a_study_that_was_stopped_goes_on_and_changed_code_begins_anew(kept, tmp_path, monkeypatch):
    todo = jobs("cc18", None, ("iris",), 1, 10)
    first = run_all(todo[:1], tmp_path, 1)
    changed = first.with_columns(ece=pl.lit(0.123))  # so that what is taken up can be told
    store(tmp_path / todo[0].file, changed.to_dicts())
    both = run_all(todo, tmp_path, 1)
    mine = pl.col("rival").is_in(FAMILIES["forest"])
    assert (both.filter(mine)["ece"] == 0.123).all()
    assert not (both.filter(~mine)["ece"] == 0.123).any()
    monkeypatch.setattr(kdg_runs, "code", lambda *_: "another")
    assert run_all(todo[:1], tmp_path, 1).drop(TIMES).equals(first.drop(TIMES))


def test_code_is_told_apart_by_what_it_does():
    def mark(text):
        return ast.dump(bare(ast.parse(text)))

    plain = mark("def f(x):\n    return x + 1\n")
    assert mark('"""About."""\ndef f(x):\n    """Adds."""\n    return x + 1  # one\n') == plain
    assert mark("def f(x):\n    return x + 2\n") != plain
    assert kdg_runs.code() != kdg_runs.code(("ranking",))


@pytest.mark.parametrize("folder", ["models", "recalibrating"])
def test_code_of_every_rival_counts(folder, tmp_path, monkeypatch):
    for name in kdg_runs.USED:
        shutil.copytree(code_mark.LIBRARY / name, tmp_path / name)
    monkeypatch.setattr(code_mark, "LIBRARY", tmp_path)
    before = code_mark.code_mark.__wrapped__(kdg_runs.USED, kdg_runs.MAKERS)
    file = min((tmp_path / folder).glob("*.py"))
    file.write_text(file.read_text() + "\n# a remark\n")
    assert code_mark.code_mark.__wrapped__(kdg_runs.USED, kdg_runs.MAKERS) == before
    file.write_text(file.read_text() + "\nchanged = 1\n")
    assert code_mark.code_mark.__wrapped__(kdg_runs.USED, kdg_runs.MAKERS) != before


def test_the_command_runs_on_what_ships_with_scikit_learn(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(study, "SHIPPED", ("iris", "wine"))
    monkeypatch.setattr(study, "FEW", ("ellipse",))
    monkeypatch.setattr(kdg_scale, "SMALL", (200, 400))
    study.main(
        ["--small", "--trees", "5", "--seeds", "2", "--processes", "1", "--results", str(tmp_path)]
    )
    said = " ".join(capsys.readouterr().out.split())
    for question in (
        "calibrated as isotonic",
        "modest far away",
        "What does it cost",
        "does it lose",
    ):
        assert question in said
    assert "**a short run**, seeds: 2, 5 trees" in said
    out = tmp_path / "kdg-small"
    for name in ("kdg.md", "cc18.md", "cc18_sets.md", "kdg_scale.md", "kdg_answers.md"):
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
    monkeypatch.setattr(kdg_runs, "_fitted", lambda s, job: (s.x, s.new, said))
    job = jobs("cc18", None, ("breast cancer",), 1, 5)[0]
    unsure, sure = kdg_runs.run(job)
    largest = split(None, "breast cancer", 0).y.mean()
    for r in kdg_runs.RADII:
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
    found, theirs = kdg_scale.Slope.of(n, values), stats.linregress(np.log(n), np.log(values))
    assert found.value == pytest.approx(1.5, abs=0.05)
    assert found.high - found.value == pytest.approx(
        stats.t.ppf(0.975, 2) * theirs.stderr, abs=1e-5
    )


@pytest.mark.parametrize(
    ("values", "said"),
    [([2, 4], "1.00 (two sizes only)"), ([2, 0], "not known"), ([np.nan, np.nan], "not known")],
)
def test_a_slope_of_few_sizes_is_told_in_words(values, said):
    assert str(kdg_scale.Slope.of([1, 2], values)) == said


def test_memory_is_what_work_allocates():
    def work():
        big = np.ones(1_000_000)
        return big[:250_000].copy()

    peak, left = kdg_scale.memory(work)
    assert peak == pytest.approx(10, abs=0.1)
    assert left == pytest.approx(2, abs=0.1)


def test_no_line_becomes_a_list_by_chance():
    for length in range(80, 110):
        text = wrapped("x" * length + " forest + isotonic", "- ")
        assert not any(line.lstrip().startswith("+") for line in text.splitlines())


def test_costs_of_the_network_stand_in_one_table(tmp_path, monkeypatch, capsys):
    networks = pytest.importorskip("benchmarks.networks")
    monkeypatch.setattr(networks, "KNOWN", (60, 120))
    monkeypatch.setattr(networks, "ASKED", 40)
    monkeypatch.setattr(networks, "OUT", tmp_path / "networks.md")
    networks.main()
    lines = (tmp_path / "networks.md").read_text().splitlines()
    assert capsys.readouterr().out.splitlines() == lines
    assert len({line.count("|") for line in lines}) == 1
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["60", "120"]
    docs = Path(__file__).parents[1] / "docs"
    for page in ("networks.md", "study-kdg.md"):
        assert '--8<-- "tables/networks.md"' in (docs / page).read_text()
