"""Judges of a file or frame, as a frame and as a picture; hints on the ratings; few items."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import scorewise as sw
from judge_cases import panel
from scorewise.cli import run
from scorewise.show.terminal import text
from simulated import held_often

mpl.use("Agg")
FEW = {"replicates": 200}


@pytest.fixture
def file(tmp_path):
    people, judges = panel(3, unlabelled=0.2)
    path = tmp_path / "ratings.csv"
    weight = np.arange(1, 121)
    pd.DataFrame({**people, **judges, "again": judges["j1"], "w": weight}).to_csv(path, index=False)
    return path


def test_a_file_and_a_frame_say_what_columns_say(file):
    people, judges = panel(3, unlabelled=0.2)
    known = sw.judge(people, judges, **FEW).to_dict()
    names = {"humans": ["h0", "h1", "h2"], "judges": ["j0", "j1"]}
    for source in (file, str(file), [file], pd.read_csv(file)):
        found = sw.judge(source, **names, **FEW).to_dict()
        found["data"]["sources"] = []
        found["verdict"][-1] = known["verdict"][-1]  # a command names the file
        assert found == known
    assert sw.judge(humans=people, judges=judges, **FEW).to_dict() == known
    assert sw.judge(people, judges=judges, **FEW).to_dict() == known


def test_further_columns_are_named_too(file):
    frame = pd.read_csv(file)
    people, judges = panel(3, unlabelled=0.2)
    known = sw.judge(
        people, judges, swapped={"j0": frame["again"]}, swap="c0=c1", weight=frame["w"], **FEW
    )
    for swapped in ({"j0": "again"}, ["j0=again"]):
        found = sw.judge(
            frame, humans=list(people), judges=list(judges), swapped=swapped, swap="c0=c1",
            weight="w", **FEW,
        )  # fmt: skip
        assert found.judges["j0"].swap == known.judges["j0"].swap
        assert found.judges["j1"].accuracy == known.judges["j1"].accuracy


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"humans": ["h9"], "judges": ["j0"]}, "there is no column 'h9'"),
        ({"humans": ["h0"], "judges": ["h0"]}, "named as a human and as a judge"),
        ({"humans": ["h0"], "judges": []}, "no judges= was given"),
        ({"humans": ["h0"]}, "no judges= was given; name at least one column"),
        ({"humans": {"h0": [1]}, "judges": ["j0"]}, "humans= names columns"),
        (
            {"humans": ["h0"], "judges": ["j0"], "weight": [1, 2]},
            "weight was given as values, but rows",
        ),
        ({"judges": ["j0"]}, "no humans= was given; name at least one column"),
        (
            {"humans": ["h0"], "judges": ["j0"], "swapped": {"j9": "h1"}},
            "verdicts of 'j9', which is not a judge; the judges are j0",
        ),
    ],
)
def test_names_that_mean_nothing(file, options, sentence):
    with pytest.raises(sw.BadInput) as error:
        sw.judge(str(file), **options)
    assert sentence in str(error.value)


def test_a_frame_of_results():
    people, judges = panel(5, unlabelled=0.3)
    found = sw.judge(people, judges, **FEW)
    frame = found.to_frame()
    kappas = frame.filter(frame["name"] == "kappa")
    assert kappas["judge"].to_list() == ["j0", "j1"]
    assert kappas["value"].to_list() == [j.kappa.value for j in found.judges.values()]
    shares = frame.filter(frame["name"] == "prevalence.tuned")
    assert len(shares) == 6
    assert shares["category"].n_unique() == 3
    humans = found.to_frame("ceiling")
    assert humans.filter(humans["name"] == "kappa")["value"].item() == found.ceiling.kappa.value


def test_a_picture_has_each_judge_and_the_humans():
    people, judges = panel(5)
    found = sw.judge(people, judges, **FEW)
    drawn = found.plot()
    assert list(drawn.dots_) == ["j0", "j1", "humans, in pairs"]
    assert drawn.dots_["j1"].get_xdata()[0] == found.judges["j1"].kappa.value
    one = sw.judge(people["h0"], judges, **FEW).plot()
    assert list(one.dots_) == ["j0", "j1"]


# few items


def test_gaps_hold_with_few_items():
    """30 items: the difference of two equally good judges is 0 in truth."""
    rng, held, surprising = np.random.default_rng(4), 0, 0
    runs = 150
    for seed in range(runs):
        truth = rng.random(30) < 0.5
        said = [np.where(rng.random(30) < 0.2, ~truth, truth).astype(int) for _ in range(2)]
        e = sw.judge(
            truth.astype(int), {"a": said[0], "b": said[1]}, replicates=400, seed=seed
        ).differences[0].kappa  # fmt: skip
        held += not e.low > 0 and not e.high < 0
        surprising += e.p is not None and e.p < 0.05
    assert held_often(held, runs)
    assert surprising == pytest.approx(runs - held, abs=4)


def test_a_p_value_that_resampling_cannot_tell_from_0_is_a_bound():
    truth = np.tile([1, 2], 200)
    bootstrap = {"interval": "bootstrap", "replicates": 999}
    found = sw.judge(truth, {"good": truth, "bad": np.roll(truth, 1)}, **bootstrap)
    e = found.differences[0].kappa
    assert e.p == pytest.approx(0.002, rel=0.1)
    assert "≤0.003" in text(found.to_dict())
    slips = {"a": np.arange(400) < 12, "b": np.arange(400) >= 390}
    close = sw.judge(truth, {k: np.where(at, 1, truth) for k, at in slips.items()}, **bootstrap)
    assert "≤" not in text(close.to_dict())


# hints on the ratings


def hints(*args, **options):
    return " ".join(sw.judge(*args, **FEW, **options).to_dict()["hints"])


def test_a_verdict_that_no_human_gives():
    truth, said = [0, 1, 2] * 20, [0, 1, -1] * 10 + [0, 1, 2] * 10
    assert "'bot' says '-1' 10 times, humans never; if that is no answer" in hints(
        truth, {"bot": said}
    )
    assert "humans never" not in hints(truth, {"bot": said}, ignore=[-1])


def test_a_hint_names_the_option_for_every_reader(tmp_path, capsys):
    path = tmp_path / "x.csv"
    pd.DataFrame({"h": [0, 1] * 10, "j": [0, -1] * 5 + [0, 1] * 5}).to_csv(path, index=False)
    assert run(["judge", str(path), "--human", "h", "--judge", "j"]) == 0
    assert "if that is no answer, add '-1' to ignore" in " ".join(capsys.readouterr().out.split())


def test_categories_that_look_wrong():
    said = hints(
        ["Yes", "no", "Yes", "no", "N/A"] * 4, {"bot": ["yes", "no", "Yes", "no", "no"] * 4}
    )
    assert "'Yes' and 'yes' are different categories" in said
    assert "'N/A' looks like a missing value and is a category" in said
    assert "spell" not in hints(["yes", "no"] * 4, {"bot": ["yes", "no"] * 4})


def test_many_ties_and_single_votes_are_told():
    people = {"a": [1, 2] * 50, "b": [1, 2] * 47 + [2, 1] * 3, "c": [None] * 100}
    said = hints(people, {"bot": [1, 2] * 50})
    assert "humans tie on 6 of 100 items that they rated (6%): accuracy and kappa leave" in said
    people["b"] = [1, 2] * 49 + [2, 2]
    assert "humans tie" not in hints(people, {"bot": [1, 2] * 50})
    people["b"][:20] = [None] * 20
    found = sw.judge(people, {"bot": [1, 2] * 50}, **FEW).to_dict()
    assert found["data"]["single"] == 20
    assert "the truth of 20 of 100 items rests on the vote of one human" in " ".join(found["hints"])
