"""The metric for torch and Lightning: torchmetrics' values, real processes, collections and checkpoints."""

import io
import multiprocessing
import pickle
import socket

import numpy as np
import pytest
import torch
from torchmetrics import MetricCollection
from torchmetrics.classification import BinaryAUROC

import scorewise as sw
from scorewise.errors import BadInput
from scorewise.torch import MANY, TallyMetric, all_reduce


def drawn(rows, seed=0):
    g = torch.Generator().manual_seed(seed)
    p = torch.rand(rows, generator=g)
    return p, (torch.rand(rows, generator=g) < p).long()


def fed(metric, p, y, size):
    for at in range(0, len(p), size):
        metric.update(p[at : at + size], y[at : at + size])
    return metric


def test_the_value_is_that_of_torchmetrics_and_the_state_is_the_tally():
    p, y = drawn(1000)
    metric = fed(TallyMetric("auroc"), p, y, 7)
    assert len(metric.parts) <= MANY
    theirs = BinaryAUROC()
    theirs.update(p, y)
    assert metric.compute().item() == pytest.approx(theirs.compute().item(), abs=1e-6)
    assert metric.tally == sw.Tally.of(y.numpy(), p.numpy())
    metric.reset()
    assert metric.tally == sw.Tally.empty()


def test_memory_is_bounded_and_the_bound_holds():
    p, y = drawn(300_000)
    metric, sizes = TallyMetric("auroc"), []
    for at in range(0, len(p), 30_000):
        metric.update(p[at : at + 30_000].double(), y[at : at + 30_000])
        metric._fold()
        sizes.append(sum(part.numel() for part in metric.parts))
    assert sizes[-1] < 1.5 * sizes[3] < 8e6
    found = sw.measures.auroc(metric.tally)
    exact = sw.measures.auroc(sw.Tally.of(y.numpy(), p.double().numpy())).value
    assert 0 < abs(found.value - exact) <= found.bound < 1e-4


def test_forward_gives_the_batch_and_keeps_the_whole():
    p, y = drawn(400)
    metric = TallyMetric("brier")
    batches = [(p[i : i + 100], y[i : i + 100]) for i in range(0, 400, 100)]
    for a, b in batches:
        assert metric(a, b).item() == pytest.approx(((a - b) ** 2).mean().item(), rel=1e-5)
    assert metric.compute().item() == pytest.approx(((p - y) ** 2).mean().item(), rel=1e-5)


def test_collections_share_one_state_and_several_measures_have_intervals():
    p, y = drawn(500)
    together = MetricCollection({m: TallyMetric(m) for m in ("auroc", "brier")})
    for i in range(0, 500, 100):
        together.update(p[i : i + 100], y[i : i + 100])
    e = sw.evaluate(y.numpy(), p.numpy())
    assert together.compute() == {m: pytest.approx(e[m].value) for m in ("auroc", "brier")}
    several = fed(TallyMetric(["auroc", "f1"], options={"threshold": 0.3}), p, y, 100)
    e = sw.evaluate(y.numpy(), p.numpy(), threshold=0.3)
    want = {
        f"{m}{end}": pytest.approx(getattr(e[m], field))
        for m in ("auroc", "f1")
        for end, field in (("", "value"), (".low", "low"), (".high", "high"))
    }
    assert several.compute() == want


def test_state_through_pickle_checkpoints_and_merging():
    p, y = drawn(300)
    metric = fed(TallyMetric(), p[:200], y[:200], 10)
    assert pickle.loads(pickle.dumps(metric)).tally == metric.tally
    metric.persistent(True)
    file = io.BytesIO()
    torch.save(metric.state_dict(), file)
    file.seek(0)
    other = TallyMetric()
    other.load_state_dict(torch.load(file, weights_only=True))
    assert other.tally == metric.tally
    other.merge_state(fed(TallyMetric(), p[200:], y[200:], 10))
    assert other.tally == sw.Tally.of(y.numpy(), p.numpy())
    other.update(p[:5], y[:5])
    other.parts[0][40] += 1
    with pytest.raises(BadInput, match="damaged or was edited"):
        other.compute()


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_types_shapes_logits_and_weights(kind):
    p, y = drawn(64)
    z = torch.logit(p).to(kind).requires_grad_()
    metric = TallyMetric("log_loss", kind="logit")
    metric.update(z.reshape(8, 8), y.reshape(8, 8).bool())
    want = torch.nn.functional.binary_cross_entropy_with_logits(z.double(), y.double()).item()
    assert metric.compute().item() == pytest.approx(want, rel=1e-6)
    weight = torch.arange(64.0)
    metric = TallyMetric("brier")
    metric.update(p, y, weight)
    want = np.average(((p - y) ** 2).numpy(), weights=weight.numpy())
    assert metric.compute().item() == pytest.approx(want, rel=1e-5)


def test_bad_batches_change_nothing():
    metric = TallyMetric()
    metric.update(torch.tensor([0.2, 0.8]), torch.tensor([0, 1]))
    for p, y, sentence in [
        (torch.tensor([0.5, 1.5]), torch.tensor([0, 1]), r"score is outside \[0, 1\]"),
        (torch.tensor([0.5, torch.nan]), torch.tensor([0, 1]), "score is missing in 1 row"),
        (
            torch.tensor([0.5]),
            torch.tensor([0, 1]),
            r"the shapes differ: preds \(1,\), target \(2,\)",
        ),
        (torch.tensor([0.5, 0.5]), torch.tensor([0, 2]), "target is 2 in 1 row"),
        (torch.tensor([0.5]), torch.tensor([torch.nan]), "target is nan in 1 row"),
    ]:
        with pytest.raises(BadInput, match=sentence):
            metric.update(p, y)
    assert metric.tally == sw.Tally.of([0, 1], np.array([0.2, 0.8], np.float32))
    with pytest.raises(BadInput, match="no measure is named aurok; did you mean auroc"):
        TallyMetric("aurok")
    with pytest.raises(BadInput, match='kind="odds" is not known'):
        TallyMetric(kind="odds")
    with pytest.warns(UserWarning, match="before the ``update``"):
        assert TallyMetric().compute().isnan()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def one_of_two(rank, port, out):
    """One process of two: its share of the rows, what all make of them, and its own rows afterwards."""
    torch.distributed.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2
    )
    try:
        p, y = drawn(100_000)
        mine = slice(0, 99_000) if rank == 0 else slice(99_000, 100_000)  # as unequal as may be
        metric = fed(TallyMetric(), p[mine], y[mine], 3000)
        value = metric.compute().item()
        with metric.sync_context():
            both = metric.tally
        idle = TallyMetric()  # of which one process has no rows
        if rank:
            idle.update(p[:10], y[:10])
        with metric.sync_context(), idle.sync_context():
            few = idle.tally.origin.rows
        plain = all_reduce(sw.Tally.of(y[mine].numpy(), p[mine].numpy()))
        out.put((rank, value, both, metric.tally.origin.rows, few, plain))
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.skipif(not torch.distributed.is_gloo_available(), reason="torch without gloo")
def test_two_processes_add_their_tallies_up():
    context = multiprocessing.get_context("spawn")
    out, port = context.Queue(), free_port()
    processes = [context.Process(target=one_of_two, args=(k, port, out)) for k in (0, 1)]
    try:
        for process in processes:
            process.start()
        found = sorted((out.get(timeout=120) for _ in processes), key=lambda x: x[0])
        for process in processes:
            process.join(60)
            assert process.exitcode == 0
    finally:
        for process in processes:
            process.kill()
    p, y = drawn(100_000)
    whole = sw.Tally.of(y.numpy(), p.numpy())
    for rank, value, both, own, few, plain in found:
        assert both == whole.coarsen()
        assert plain == whole
        assert value == sw.measures.auroc(whole.coarsen()).value
        assert (own, few) == ((99_000, 1000)[rank], 10)
