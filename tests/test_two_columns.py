"""Two columns of probabilities are two classes, one column is the scores, and labels may be one-hot."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

import scorewise as sw
from scorewise.cli import run

RNG = np.random.default_rng(7)
Y = RNG.integers(0, 2, 200)
P = np.clip(0.5 * Y + RNG.random(200) / 2, 0.001, 0.999).round(3)
TWO = np.column_stack([1 - P, P])
PLAIN = sw.evaluate(Y, P)


def same(e, expected=PLAIN):
    assert {n: x.value for n, x in e.items() if x.defined} == pytest.approx(
        {n: x.value for n, x in expected.items() if x.defined}, abs=1e-12
    )


def test_it_is_what_scikit_learn_says():
    e = sw.evaluate(Y, TWO)
    assert e.brier.value == pytest.approx(brier_score_loss(Y, P))
    assert e.auroc.value == pytest.approx(roc_auc_score(Y, P))
    assert e.log_loss.value == pytest.approx(log_loss(Y, P))
    same(e)


def as_frame(library, columns=("0", "1")):
    return pytest.importorskip(library).DataFrame(dict(zip(columns, TWO.T, strict=True)))


@pytest.mark.parametrize(
    "p",
    [
        TWO.tolist(),
        np.asfortranarray(TWO),
        P[:, None],
        P[:, None].tolist(),
        {"0": TWO[:, 0], "1": TWO[:, 1]},
        {1: TWO[:, 1], 0: TWO[:, 0]},
        as_frame("pandas"),
        as_frame("polars"),
        as_frame("pandas", (0, 1)),
    ],
    ids=[
        "list",
        "columns",
        "n x 1",
        "list n x 1",
        "mapping",
        "turned",
        "pandas",
        "polars",
        "range",
    ],
)
def test_containers(p):
    same(sw.evaluate(Y, p))


def test_torch():
    torch = pytest.importorskip("torch")
    same(sw.evaluate(torch.tensor(Y), torch.tensor(TWO)))


@pytest.mark.parametrize(
    ("labels", "options"),
    [
        (np.where(Y == 1, "b", "a"), {}),
        (np.where(Y == 1, "yes", "no"), {}),
        (Y == 1, {}),
        (2 * Y - 1, {}),
        (Y + 1, {"positive": 2}),
        (Y, {"classes": ["healthy", "ill"]}),
        (np.where(Y == 1, "ill", "healthy"), {"classes": ["healthy", "ill"]}),
        (np.eye(2, dtype=int)[Y], {}),
        (np.eye(2)[Y].tolist(), {"classes": ["no", "yes"]}),
        (Y[:, None], {}),
    ],
    ids=[
        "words",
        "yes",
        "bool",
        "signs",
        "1 and 2",
        "codes",
        "named",
        "one-hot",
        "one-hot named",
        "n x 1",
    ],
)
def test_labels(labels, options):
    same(sw.evaluate(labels, TWO, **options))


def test_the_positive_class_has_its_column():
    """scikit-learn sorts the labels; the positive class may be the first of them."""
    benign = np.where(Y == 1, "malignant", "benign")  # in sort order, the last is positive
    same(sw.evaluate(benign, TWO))
    sick = np.where(Y == 1, "case", "control")  # here the first is
    e = sw.evaluate(sick, TWO[:, ::-1])
    assert e.tally.origin.positive == "case"
    same(e)
    turned = sw.evaluate(Y, TWO, positive=0)
    assert turned.auroc.value == pytest.approx(PLAIN.auroc.value)
    assert turned.tally.origin.positive == "0"
    same(turned, sw.evaluate(1 - Y, TWO[:, 0]))


def test_logits_of_two_classes_are_their_difference():
    z = np.log(TWO)
    e = sw.evaluate(Y, z, kind="logit")
    assert e.auroc.value == pytest.approx(PLAIN.auroc.value, abs=1e-12)
    assert e.brier.value == pytest.approx(PLAIN.brier.value, abs=1e-9)


def test_a_threshold_applies():
    assert (
        sw.evaluate(Y, TWO, threshold=0.7).confusion.tp
        == sw.evaluate(Y, P, threshold=0.7).confusion.tp
    )


def test_compare_and_tally_take_them_too():
    same(sw.compare(Y, {"m": TWO, "n": TWO})["m"])
    same(sw.evaluate(sw.Tally.of(Y, TWO)))


def test_two_columns_that_are_no_probabilities_of_a_row_are_refused():
    with pytest.raises(sw.BadInput, match="add up to"):
        sw.evaluate(Y, np.column_stack([P, P]))
    with pytest.raises(sw.BadInput, match="classes="):
        sw.evaluate(np.where(Y == 1, "a", "a"), TWO)


def test_integer_labels_beside_names_of_several_classes():
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 3, 60), rng.dirichlet(np.ones(3), 60)
    named = sw.evaluate(np.array(["ant", "bee", "cat"])[y], p, classes=["ant", "bee", "cat"])
    same(sw.evaluate(y, p, classes=["ant", "bee", "cat"]), named)
    same(sw.evaluate(y + 1, p, classes=["ant", "bee", "cat"]), named)
    same(sw.evaluate(np.eye(3)[y], p, classes=["ant", "bee", "cat"]), named)
    same(sw.evaluate(np.eye(3)[y], p), named)


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        ([[1, 1], [0, 1]], "one-hot"),
        ([[0, 0], [0, 1]], "one-hot"),
        ([[0.5, 0.5], [0, 1]], "one-hot"),
        ([[1, 0, 0], [0, 1, 0]], "3"),
    ],
)
def test_labels_that_are_not_one_hot_are_refused(labels, match):
    with pytest.raises(sw.BadInput, match=match):
        sw.evaluate(np.array(labels), TWO[:2])


def test_command_line(tmp_path, capsys):
    file = tmp_path / "two.csv"
    lines = [f"{y},{a!r},{b!r}" for y, a, b in zip(Y, *TWO.T.tolist(), strict=True)]
    file.write_text("\n".join(["y,p_0,p_1", *lines]))
    assert run(["evaluate", str(file), "--label", "y", "--classes", "p_*", "--json", "-"]) == 0
    two = capsys.readouterr().out
    assert '"command": "evaluate"' in two
    assert f'"value": {PLAIN.auroc.value!r}' in two


ANIMALS = np.array(["cat", "dog", "ant"])[RNG.integers(0, 3, 60)]
THREE = RNG.dirichlet(np.ones(3), 60)


def wide(names, label=ANIMALS, columns=THREE.T):
    return {"animal": label, "age": range(60), **dict(zip(names, columns, strict=True))}


@pytest.mark.parametrize("names", ["dog cat ant", "p_dog p_cat p_ant", "dog.p cat.p ant.p"])
def test_columns_named_as_the_classes_are_taken_for_their_scores(names):
    taken = [f"'{name}'" for name in names.split()]
    with pytest.warns(UserWarning, match="classes: columns " + ", ".join(taken)):
        e = sw.evaluate(wide(names.split()), label="animal")
    assert e.classes == ("dog", "cat", "ant")
    same(e, sw.evaluate(ANIMALS, dict(zip(e.classes, THREE.T, strict=True))))
    assert not e["rps"].defined  # columns are in no order that means something


def test_two_columns_named_as_the_classes_are_two_classes():
    frame = {"truth": np.array(["sick", "well"])[1 - Y], "well": 1 - P, "sick": P}
    with pytest.warns(UserWarning, match="classes: columns 'sick', 'well'"):
        same(sw.evaluate(frame, label="truth"))


@pytest.mark.parametrize(
    "frame",
    [
        wide(["dog", "cat", "cow"]),  # a class without a column
        wide(["dog", "cat", "ant", "p_dog", "p_cat", "p_ant"], columns=[*THREE.T, *THREE.T]),
        {"animal": Y, "x0": 3 * P, "x1": P},  # numbers of any kind
    ],
)
def test_columns_that_may_not_be_those_of_classes_are_not_taken(frame):
    with pytest.raises(sw.BadInput, match="the score column is not named"):
        sw.evaluate(frame, label="animal")


def test_logits_named_as_the_classes_have_to_be_said():
    frame = wide(["dog", "cat", "ant"], columns=9 * THREE.T)
    with pytest.raises(sw.BadInput, match='pass kind="logit" for logits'):
        sw.evaluate(frame, label="animal")
    with pytest.warns(UserWarning, match="classes: columns"):
        assert sw.evaluate(frame, label="animal", kind="logit").classes == ("dog", "cat", "ant")


@pytest.mark.parametrize(
    "frame",
    [
        {"animal": Y, "m0": P - 0.5, "m1": 1 - P},  # two models
        wide(["p_dog", "p_cat", "p_ant", "p_cow"], columns=[*THREE.T, THREE[:, 0]]),  # no cow there
    ],
)
def test_logits_that_may_not_be_those_of_the_classes_are_not_taken(frame):
    with pytest.raises(sw.BadInput, match="the score column is not named"):
        sw.evaluate(frame, label="animal", kind="logit")
