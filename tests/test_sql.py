"""Maps as SQL, run by DuckDB: the same probabilities as in Python."""

import json
import subprocess
import sys

import duckdb
import numpy as np
import polars as pl
import pytest

import scorewise as sw
from recalibration_cases import draw
from scorewise.errors import BadInput
from scorewise.recalibrating import CLASS_METHODS, METHODS


def queried(expressions, columns):
    """What DuckDB makes of expressions on columns, in the order of the rows; NULL is None."""
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Float64), strict=False)
    with duckdb.connect() as db:
        db.register("t", frame.with_row_index("row").to_arrow())
        return db.execute(f"SELECT {', '.join(expressions)} FROM t ORDER BY row").fetchall()


def edges(m):
    """All numbers of a map, and the floats beside them: where pieces begin and end."""
    lists = [x for x in m.parameters.values() if isinstance(x, list)]
    at = np.array([0.0, 0.5, 1.0, m.low, m.high, *(v for x in lists for v in x)])
    return np.concatenate([at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf)])


KINDS = [(name, kind) for name, m in METHODS.items() for kind in m.kinds]


@pytest.mark.parametrize(("method", "kind"), KINDS)
def test_every_method_is_the_same_in_duckdb(method, kind):
    p, y = draw(3, 700, slope=0.6, intercept=0.4)
    s = {"probability": p, "logit": np.log(p / (1 - p)), "score": 40 * p - 7}[kind]
    r = sw.Recalibrator(method, kind=kind).fit(s, y)
    extra = np.array([0.0, 1.0, 5e-324, 1e-300, 1e-7, 1 - 1e-7, np.nextafter(1, 0)])
    at = np.concatenate([s[:300], edges(r.map_), extra])
    far = np.array([300.0, 900, 1e6, 1e12, 1e17, 1e30, 1e100, 1e300, np.finfo(float).max])
    at = np.clip(at, 0, 1) if kind == "probability" else np.concatenate([at, far, -far])
    got = [value for (value,) in queried([r.to_sql("s")], {"s": at.tolist()})]
    want = r.transform(at)
    assert np.isfinite(want).all()
    np.testing.assert_allclose(np.array(got, float), want, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize(("method", "kind"), [(m, k) for m, k in KINDS if k != "probability"])
def test_maps_rise_however_far_a_score_is(method, kind):
    """A spline is made of cubes, of which nothing but rounding would be left far from its knots."""
    far = np.concatenate([[0.0], 10.0 ** np.arange(0, 309, 2), [np.finfo(float).max]])
    for seed in range(4):
        p, y = draw(seed, 1500, slope=0.6)
        s = np.log(p / (1 - p)) if kind == "logit" else p / 1000 + 5
        r = sw.Recalibrator(method, kind=kind).fit(s, y)
        at = np.concatenate([-far[::-1], far])
        for made in (r.transform(at), [v for (v,) in queried([r.to_sql("s")], {"s": at.tolist()})]):
            assert (np.diff(np.array(made, float)) >= 0).all()


@pytest.mark.parametrize("kind", ["probability", "logit"])
def test_what_python_refuses_is_null(kind):
    p, y = draw(1, 300)
    s = p if kind == "probability" else np.log(p / (1 - p))
    for method in METHODS:
        sql = sw.Recalibrator(method, kind=kind).fit(s, y).to_sql("s")
        outside = [2.0, -0.5] if kind == "probability" else []
        wrong = [None, np.nan, np.inf, -np.inf, *outside]
        got = queried([sql], {"s": [*wrong, 0.5]})
        assert [v for (v,) in got[:-1]] == [None] * len(wrong), method
        assert 0 < got[-1][0] < 1


@pytest.mark.parametrize("method", METHODS)
def test_what_rounding_puts_outside_is_taken_as_0_or_1(method):
    p, y = draw(1, 300)
    p[:4], y[:4] = [0, 0, 1, 1], [0, 1, 0, 1]  # seen at the ends themselves
    r = sw.Recalibrator(method, kind="probability").fit(p, y)
    with pytest.warns(UserWarning, match="taken as 0 or 1"):
        want = r.transform([-1e-6, 1 + 1e-6])
    got = queried([r.to_sql("s")], {"s": [-1e-6, 1 + 1e-6]})
    np.testing.assert_allclose(np.ravel(got), want, rtol=1e-12, atol=1e-15)


def test_float_columns_and_large_tables_stay_in_the_engine():
    p, y = draw(5, 5000)
    r = sw.Recalibrator("isotonic").fit(p, y)
    with duckdb.connect() as db:
        db.execute("CREATE TABLE t AS SELECT (i / 1e5)::FLOAT AS f FROM range(100001) r(i)")
        f, q = db.execute(f"SELECT f, {r.to_sql('f')} AS q FROM t").fetchnumpy().values()
    np.testing.assert_allclose(q, r.transform(np.asarray(f)), rtol=1e-12)


@pytest.mark.parametrize("name", ["p", 'a "quoted" name', "select", "ünïcode; --"])
def test_names_are_quoted(name):
    p, y = draw(1, 200)
    r = sw.Recalibrator("platt").fit(p, y)
    got = queried([r.to_sql(name)], {name: [0.25]})
    assert got[0][0] == pytest.approx(r.transform([0.25])[0])


@pytest.mark.parametrize("name", ["a\x1b]52;c;x\x07", "a\x9b31m", "a\u202eb"])
def test_names_that_a_terminal_would_obey_are_refused(name):
    p, y = draw(1, 200)
    with pytest.raises(BadInput, match=r"has a control character; rename the column") as problem:
        sw.Recalibrator("platt").fit(p, y).to_sql(name)
    assert str(problem.value).isprintable()


def test_other_quotes_and_expressions():
    p, y = draw(1, 200)
    r = sw.Recalibrator("platt").fit(p, y)
    assert "`p`" in r.to_sql("p", quote="`")
    got = queried([r.to_sql("s / 100", quote="")], {"s": [25.0]})
    assert got[0][0] == pytest.approx(r.transform([0.25])[0])
    logits = sw.Recalibrator("platt", kind="logit").fit(np.log(p / (1 - p)), y)
    got = queried([logits.to_sql("s + 1", quote="")], {"s": [-0.5]})
    assert got[0][0] == pytest.approx(logits.transform([0.5])[0])
    with pytest.raises(BadInput, match="must be one character"):
        r.to_sql("p", quote="[]")
    with pytest.raises(BadInput, match="not the name of a column"):
        r.to_sql("")


def classes_drawn(rows=900):
    rng = np.random.default_rng(2)
    z = rng.normal(size=(rows, 3)) * 2
    p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    y = (p.cumsum(1) < rng.random((rows, 1))).sum(1).clip(0, 2)
    return np.array(["cat", "dog", "eel"])[y], z


@pytest.mark.parametrize("kind", ["probability", "logit"])
@pytest.mark.parametrize("method", CLASS_METHODS)
def test_several_classes(method, kind):
    y, z = classes_drawn()
    p = np.exp(z * 1.7) / np.exp(z * 1.7).sum(1, keepdims=True)
    s = p if kind == "probability" else z * 1.7
    r = sw.Recalibrator(method, kind=kind).fit(s, y)
    at = np.concatenate([s[:200], [[1.0, 0, 0], [0, 0, 1]]])
    if kind == "logit":
        at = np.concatenate([at, [[800.0, -800, 0], [-1e100, 0, 1e100]]])
    columns = dict(zip("abc", at.T.tolist(), strict=True))
    sql = r.to_sql({"cat": "a", "dog": "b", "eel": "c"})
    assert list(sql) == ["cat", "dog", "eel"]
    got = np.array(queried(list(sql.values()), columns))
    np.testing.assert_allclose(got, r.transform(at), rtol=1e-10, atol=1e-15)
    bad = [[np.nan, 0.5, 0.5], [None, 0.5, 0.5]]
    bad.append([0.9, 0.9, 0.9] if kind == "probability" else [1e101, 0.5, 0.5])
    columns = dict(zip("abc", zip(*bad, strict=True), strict=True))
    assert set(np.ravel(queried(list(sql.values()), columns))) == {None}


def test_columns_have_to_fit_the_map():
    y, z = classes_drawn(300)
    several = sw.Recalibrator("temperature", kind="logit").fit(z, y)
    with pytest.raises(BadInput, match="name the column of each"):
        several.to_sql("p")
    with pytest.raises(BadInput, match="name the column of each"):
        several.to_sql(["a", "b", "c"])
    with pytest.raises(BadInput, match="the map is for the classes cat, dog"):
        several.to_sql({"cat": "a", "cow": "b"})
    p, y = draw(1, 200)
    with pytest.raises(BadInput, match="one score a row"):
        sw.Recalibrator("platt").fit(p, y).to_sql({"a": "b"})


def test_maps_that_are_too_long_are_refused(monkeypatch):
    from scorewise.recalibrating import applying

    p, y = draw(1, 3000)
    r = sw.Recalibrator("venn_abers").fit(p, y)
    assert len(r.to_sql("p")) < applying.MAX_SQL
    monkeypatch.setattr(applying, "MAX_SQL", 1000)
    with pytest.raises(BadInput, match=r"the venn_abers map takes .* characters of SQL"):
        r.to_sql("p")


def run(*line):
    return subprocess.run(
        [sys.executable, "-m", "scorewise", *line], capture_output=True, text=True, check=False
    )


def test_the_command(tmp_path):
    p, y = draw(1, 400, slope=0.5)
    r = sw.Recalibrator("beta").fit(p, y)
    r.save(tmp_path / "map.json")
    done = run("calibrate", "sql", str(tmp_path / "map.json"), "--column", "risk")
    assert done.returncode == 0, done.stderr
    assert done.stdout == r.to_sql("risk") + "\n"
    done = run("calibrate", "sql", str(tmp_path / "map.json"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "name one in --column" in done.stderr
    y, z = classes_drawn(300)
    sw.Recalibrator("vector", kind="logit").fit(z, y).save(tmp_path / "pets.json")
    names = [f"--column={c}=z_{c}" for c in ("cat", "dog", "eel")]
    done = run("calibrate", "sql", str(tmp_path / "pets.json"), *names)
    assert done.returncode == 0, done.stderr
    columns = {f"z_{c}": z[:5, k].tolist() for k, c in enumerate(("cat", "dog", "eel"))}
    got = np.array(queried([done.stdout], columns))
    want = sw.Recalibrator.load(tmp_path / "pets.json").transform(z[:5])
    np.testing.assert_allclose(got, want, rtol=1e-12)
    edited = json.loads((tmp_path / "map.json").read_text())
    edited["map"]["parameters"]["a"] = 9.0
    (tmp_path / "map.json").write_text(json.dumps(edited))
    assert run("calibrate", "sql", str(tmp_path / "map.json"), "--column", "p").returncode == 2
