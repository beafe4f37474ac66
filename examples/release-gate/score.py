"""Stand-in for your model: writes the scores of the released model and of the candidate on a test set.

The candidate is the released model with noise on its log-odds: 0.2 does no harm that matters, 1 costs three
points of AUROC.
"""

import argparse
import csv
import math
import random
from pathlib import Path


def rows(noise: float, many: int) -> list[dict[str, object]]:
    """Patients with their outcome, hospital and risk."""
    signal, error, made = random.Random(1), random.Random(2), []
    for patient in range(many):
        ill = signal.random() < 0.2
        odds = 1.7 * signal.gauss(1.7 * ill, 1) - 2.9
        site = signal.choice(["north", "south"])
        p = 1 / (1 + math.exp(-(odds + noise * error.gauss(0, 1))))
        made.append({"patient": patient, "ill": int(ill), "risk": round(p, 6), "site": site})
    return made


def write(name: str, made: list[dict[str, object]]) -> None:
    """Write a table."""
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, made[0])
        table.writeheader()
        table.writerows(made)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", type=float, default=0.2)
    parser.add_argument("--rows", type=int, default=4000)
    asked = parser.parse_args()
    write("released.csv", rows(0.0, asked.rows))
    write("candidate.csv", rows(asked.noise, asked.rows))
