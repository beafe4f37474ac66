"""The same gate as a test: `python score.py` and then `pytest`."""


def test_the_candidate_may_be_released(scorewise_gate):
    scorewise_gate(gates="gates.toml")


def test_its_probabilities_are_about_right(scorewise_gate):
    scorewise_gate(
        "candidate.csv", label="ill", score="risk", require="ece <= 0.1", inconclusive="skip"
    )
