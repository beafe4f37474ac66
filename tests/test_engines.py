"""Frames that stay in their engine: the same tally from Polars, DuckDB, Dask, PySpark and numpy."""

import os
import shutil
import signal
import threading
import time
import warnings

import duckdb
import numpy as np
import polars as pl
import pytest

import scorewise as sw
from scorewise.engines import arithmetic, tallying
from scorewise.tallies.coarse import cell_of, probability_edges
from scorewise.tallies.losses import LOSSES, score_loss

pytestmark = [
    # of PySpark on pandas 3, and of Dask on its own future
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    # one process starts the cluster and the JVM, for all tests
    pytest.mark.xdist_group("engines"),
]
ROWS = 90_000
ENGINES = ("polars", "duckdb", "dask", "spark")


def simulated(rows, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.2
    p = 1 / (1 + np.exp(2 - 2 * y - 3 * rng.normal(size=rows)))
    p[:40], p[40:80], p[80:120] = 0.0, 1.0, 1 - 1e-16 * np.arange(40)
    p[120:160] = 10.0 ** -np.arange(280, 320)
    rng.shuffle(p[:160])
    w = rng.exponential(size=rows) * rng.choice([1.0, 1e-4, 0.0], rows, p=[0.8, 0.1, 0.1])
    return pl.DataFrame(
        {
            "ill": np.where(y, "yes", "no"),
            "p": p,
            "narrow": p.astype(np.float32),
            "w": w,
            "z": rng.normal(size=rows) * 10.0 ** rng.integers(-9, 9, rows),
            "site": rng.choice(["north", "south", "west"], rows),
        }
    )


@pytest.fixture(scope="module")
def data():
    return simulated(ROWS)


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    for k, part in enumerate(data.iter_slices(ROWS // 6)):
        part.write_parquet(folder / f"{k}.parquet")
    return folder


@pytest.fixture(scope="module")
def cluster():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=3, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as made,
        Client(made) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    if shutil.which("java") is None:
        pytest.skip("no Java, which PySpark runs on")
    from pyspark.sql import SparkSession

    # a JVM that starts fast
    java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    settings = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2", "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1", "spark.driver.extraJavaOptions": java,
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("spark")),
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = SparkSession.builder.master("local[1]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    yield made
    made.stop()


@pytest.fixture
def opened(request, files):
    """Opens a folder of parquet files in an engine."""

    def scan(engine, folder=files):
        if engine == "polars":
            return pl.scan_parquet(folder / "*.parquet")
        if engine == "duckdb":
            return duckdb.read_parquet(f"{folder}/*.parquet")
        if engine == "dask":
            import dask.dataframe as dd

            request.getfixturevalue("cluster")
            return dd.read_parquet(folder)
        return request.getfixturevalue("session").read.parquet(str(folder))

    return scan


def identical(a, b):
    """Whether two tallies have the same bits; sums of weighted scores and losses to their last digits."""
    if a != b or a.score.dtype != b.score.dtype:
        return False
    if (a.coarse is None) or not a.coarse.losses:
        return True
    pairs = [(a.coarse.sum, b.coarse.sum)]
    pairs += [(a.coarse.losses[x], b.coarse.losses[x]) for x in LOSSES]
    return all(np.allclose(x, y, rtol=1e-12, atol=1e-12) for x, y in pairs)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_weighted_tally_is_that_of_numpy(engine, opened, data):
    made = sw.tally(opened(engine), label="ill", score="p", weight="w")
    want = sw.Tally.of(data["ill"], data["p"], weight=data["w"]).coarsen()
    assert identical(made, want)
    assert made.origin.positives == int((data["ill"] == "yes").sum())
    assert (made.origin.positive, made.origin.weight) == ("yes", "w")


def test_engines_agree_also_in_what_equality_leaves_out(opened):
    made = [sw.tally(opened(engine), label="ill", score="p", weight="w") for engine in ENGINES[:3]]
    for other in made[1:]:
        assert np.array_equal(other.coarse.sum, made[0].coarse.sum)
        assert other.coarse.losses == made[0].coarse.losses


@pytest.mark.parametrize("engine", ENGINES[:3])
@pytest.mark.parametrize("score", ["p", "narrow", "z"])
def test_the_counted_tally_is_that_of_numpy(engine, score, opened, data):
    made = sw.tally(opened(engine), label="ill", score=score)
    assert identical(made, sw.Tally.of(data["ill"], data[score]).coarsen())


@pytest.mark.parametrize("engine", ENGINES[:2])
def test_groups_have_their_own_tallies(engine, opened, data):
    made = sw.tally(opened(engine), label="ill", score="p", weight="w", by="site")
    assert sorted(made) == [("north",), ("south",), ("west",)]
    for (site,), t in made.items():
        rows = data.filter(pl.col("site") == site)
        assert identical(t, sw.Tally.of(rows["ill"], rows["p"], weight=rows["w"]).coarsen())
    assert made.whole == sw.Tally.of(data["ill"], data["p"], weight=data["w"]).coarsen()


def test_groups_of_tables_are_those_of_engines(data):
    few = data.head(5_000)
    options = {"label": "ill", "score": "p", "weight": "w", "by": ["site"], "positive": "yes"}
    assert sw.tally(few, **options) == sw.tally(few.lazy(), **options)


@pytest.mark.parametrize("engine", ENGINES[:2])
def test_few_rows_are_tallied_exactly(engine, data, tmp_path):
    few = data.head(tallying.EXACT_ROWS)
    few.write_parquet(tmp_path / "0.parquet")
    scanned = (
        pl.scan_parquet(tmp_path) if engine == "polars" else duckdb.read_parquet(f"{tmp_path}/*")
    )
    for weight in (None, "w"):
        made = sw.tally(scanned, label="ill", score="p", weight=weight)
        want = sw.Tally.of(few["ill"], few["p"], weight=None if weight is None else few["w"])
        assert made.coarse is None
        assert made == want


def test_a_worker_that_is_killed_loses_and_doubles_nothing(cluster, tmp_path):
    import dask.dataframe as dd

    def part(seed):
        (tmp_path / f"{seed} {time.monotonic_ns()}").touch()
        time.sleep(0.1)
        return simulated(8_000, seed).select("ill", "p", "w").to_pandas()

    frame = dd.from_map(
        part, range(12), meta=simulated(8_000)[:0].select("ill", "p", "w").to_pandas()
    )
    made = []
    pids = cluster.run(os.getpid)
    run = threading.Thread(
        target=lambda: made.append(sw.tally(frame, label="ill", score="p", weight="w"))
    )
    run.start()
    while run.is_alive() and len(list(tmp_path.iterdir())) < 16:  # the second query is under way
        time.sleep(0.01)
    os.kill(next(iter(pids.values())), signal.SIGKILL)
    run.join()
    assert len(list(tmp_path.iterdir())) > 24  # something had to be done again
    rows = pl.concat(simulated(8_000, seed) for seed in range(12))
    assert made[0] == sw.Tally.of(rows["ill"], rows["p"], weight=rows["w"]).coarsen()


def test_keys_tell_all_cells_apart():
    """Also on the edges of the grid and one float beside them, in the smallest floats and next to 1."""
    rng, edges = np.random.default_rng(1), probability_edges()
    s = np.concatenate(
        (
            edges, np.nextafter(edges, 2).clip(0, 1), np.nextafter(edges, -1).clip(0, 1),
            10 ** rng.uniform(-323, 0, 5_000), 1 - 10 ** rng.uniform(-17, 0, 5_000), rng.random(5_000),
        )
    )  # fmt: skip
    near = np.minimum(s, 1 - s)
    y = rng.integers(0, 2, len(s))
    frame = arithmetic.probability_keys(_lazy(s=s, y=y), near[near > 0].min())
    made = arithmetic.losses(frame).collect().to_native()
    assert (np.ldexp(made["a"].to_numpy(), -made["scale"].to_numpy()) == s).all()
    _refines(made, cell_of(s, "probability"))
    for loss in ("brier", "spherical", "log"):
        charged = np.where(
            y == 1, *(score_loss(s, "probability", loss, up) for up in (True, False))
        )
        known = np.isfinite(charged)
        # numpy's log(1 - s) of scores that are not small has errors of its own
        assert np.allclose(made[loss].to_numpy()[known], charged[known], rtol=1e-13, atol=2e-16)
        assert (made[loss].to_numpy()[~known] == 0).all()


def test_keys_of_any_scores_tell_all_cells_apart():
    rng = np.random.default_rng(2)
    s = rng.choice([-1.0, 1.0], 20_000) * 10 ** rng.uniform(-323, 308, 20_000)
    s = np.concatenate((s, [0.0, 5e-324, -5e-324, 1.7976931348623157e308, 1.0, -1.0]))
    size = np.abs(s)
    made = arithmetic.relative_keys(_lazy(s=s), size[size > 0].min(), size.max()).collect()
    assert (np.ldexp(made["a"].to_numpy(), -made["scale"].to_numpy()) == size).all()
    _refines(made.to_native(), cell_of(s, "relative"))


def _lazy(**columns):
    import narwhals as nw

    return nw.from_native(pl.LazyFrame(columns))


def _refines(keys, cells):
    found = keys.select("key", "scale", "own", cell=cells)
    many = found.group_by("key", "scale", "own").agg(pl.col("cell").n_unique())
    assert many["cell"].max() == 1


# what is refused, and what is told


GOOD = {"y": ["yes", "no", "no", "yes"], "p": [0.9, 0.2, 0.4, 0.7], "w": [1.0, 2.0, 0.5, 1.0]}
BAD = {
    "a missing score": ({"p": [0.9, None, 0.4, 0.7]}, {}, "p is missing in 1 row"),
    "a score that is NaN": ({"p": [0.9, np.nan, np.nan, 0.7]}, {}, "p is missing in 2 rows"),
    "a missing label": ({"y": ["yes", None, "no", "yes"]}, {}, "y is missing in 1 row"),
    "a label that is NaN": ({"y": [1.0, np.nan, 0.0, 1.0]}, {}, "y is missing in 1 row"),
    "a missing weight": ({"w": [1.0, None, 0.5, 1.0]}, {}, "w is missing in 1 row"),
    "an infinite score": ({"p": [0.9, np.inf, 0.4, 0.7]}, {}, "p is infinite in 1 row"),
    "a negative weight": ({"w": [1.0, -2.0, -0.5, 1.0]}, {}, "w is negative in 2 rows"),
    "no weight": ({"w": [0.0] * 4}, {}, "w is zero in every row"),
    "no probability": (
        {"p": [0.9, 1.5, 0.4, 0.7]}, {"kind": "probability"}, r"p is outside \[0, 1\] in 1 row",
    ),
    "three labels": ({"y": ["a", "b", "c", "a"]}, {}, "y has 3 distinct values"),
    "one label": ({"y": ["blue"] * 4}, {}, "y has one value only"),
    "an absent class": ({}, {"positive": "maybe"}, "y is never 'maybe'"),
    "scores in words": ({"p": ["high", "low", "low", "high"]}, {}, "p holds String in the engine"),
    "log-odds": ({}, {"kind": "logit"}, "log-odds are not tallied in an engine"),
    "a column that is not there": ({}, {"score": "q"}, "there is no column 'q'"),
}  # fmt: skip


def small(engine, columns):
    frame = pl.DataFrame(columns, strict=False)
    if engine == "dask":
        import dask.dataframe as dd

        return dd.from_pandas(frame.to_pandas(), npartitions=2)
    return frame.lazy() if engine == "polars" else duckdb.sql("select * from frame")


@pytest.mark.parametrize("engine", ENGINES[:2])
@pytest.mark.parametrize("case", BAD)
def test_bad_columns_are_refused_in_one_sentence(engine, case):
    change, options, sentence = BAD[case]
    options = {"label": "y", "score": "p", "weight": "w", **options}
    with pytest.raises(sw.BadInput, match=sentence) as told:
        sw.tally(small(engine, GOOD | change), **options)
    assert "\n" not in str(told.value)


def test_counts_are_read_by_polars_and_refused_elsewhere():
    columns = GOOD | {"w": [1, 2, 3, 1]}
    made = sw.tally(small("polars", columns), label="y", score="p", count="w")
    assert made == sw.Tally.of(columns["y"], columns["p"], count=columns["w"])
    with pytest.raises(sw.BadInput, match="count= is not taken from an engine"):
        sw.tally(small("duckdb", columns), label="y", score="p", count="w")


@pytest.mark.parametrize("case", ["a missing score", "a missing label", "an infinite score"])
def test_bad_columns_are_refused_in_dask(case):
    change, options, sentence = BAD[case]
    with pytest.raises(sw.BadInput, match=sentence):
        sw.tally(small("dask", GOOD | change), label="y", score="p", weight="w", **options)


def test_bad_columns_are_refused_in_spark(session):
    frame = session.createDataFrame([("yes", 0.9), ("no", float("nan")), ("no", None)], ["y", "p"])
    with pytest.raises(sw.BadInput, match="p is missing in 2 rows; drop them or pass missing="):
        sw.tally(frame, label="y", score="p")
    frame = session.createDataFrame([("yes", 0.9), ("no", 0.1), (None, 0.5)], ["y", "p"])
    made = sw.tally(frame, label="y", score="p", missing="drop")
    assert made == sw.Tally.of(["yes", "no"], [0.9, 0.1])
    assert made.origin.dropped == 1


def test_polars_names_the_first_row():
    with pytest.raises(
        sw.BadInput, match="p is missing in 2 rows, first at row 1, counting from 0"
    ):
        sw.tally(small("polars", GOOD | {"p": [0.9, None, None, 0.7]}), label="y", score="p")
    with pytest.raises(sw.BadInput, match="y is missing in 1 row, row 3, counting from 0"):
        sw.tally(small("polars", GOOD | {"y": ["yes", "no", "no", None]}), label="y", score="p")


@pytest.mark.parametrize("engine", ENGINES[:3])
@pytest.mark.parametrize(
    "labels", [[True, False, False, True], [1, 0, 0, 1], [1.0, 0.0, 0.0, 1.0], [1, -1, -1, 1]]
)
def test_labels_of_any_kind(engine, labels):
    made = sw.tally(small(engine, GOOD | {"y": labels}), label="y", score="p")
    want = sw.Tally.of(labels, GOOD["p"])
    assert made == want
    assert (made.origin.positive, made.origin.rule) == (want.origin.positive, want.origin.rule)


@pytest.mark.parametrize("engine", ENGINES[:3])
def test_gaps_are_dropped_and_counted(engine):
    gaps = {"y": ["yes", None, "no", "no"], "p": [0.9, 0.2, None, 0.7], "w": [1.0, 1.0, 1.0, 2.0]}
    made = sw.tally(small(engine, gaps), label="y", score="p", weight="w", missing="drop")
    assert made == sw.Tally.of(["yes", "no"], [0.9, 0.7], weight=[1.0, 2.0])
    assert made.origin.dropped == 2


@pytest.mark.parametrize("engine", ENGINES[:2])
def test_one_class_against_the_rest(engine):
    frame = small(engine, GOOD | {"y": ["cat", "dog", "bird", "cat"]})
    made = sw.tally(frame, label="y", score="p", positive="cat")
    assert (made.origin.positives, made.origin.negative) == (2, "the rest")


@pytest.mark.parametrize("engine", ENGINES[:2])
def test_spellings_and_guesses_are_told(engine):
    frame = small(engine, GOOD | {"y": ["yes", "No", "no", "yes "], "p": [0.9, 0.2, 0.0, 1.00001]})
    with pytest.warns(UserWarning, match="not named|is read as|taken as 0 or 1") as told:
        made = sw.tally(frame, kind="probability")
    assert len(told) == 4
    assert made.origin.rows == 4
    assert made.ends == (0.0, 1.0)


def test_no_rows_are_refused():
    with pytest.raises(sw.BadInput, match="the frame has no rows"):
        sw.tally(pl.LazyFrame(GOOD).filter(pl.col("p") > 2), label="y", score="p")
