"""Loan applicants: ten functions of nine attributes."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np

from ...options.option import integer
from ..schema import Attribute, Schema
from .base import Block, Generator, Share

_SCHEMA = Schema(
    (
        Attribute("salary", "numeric"),
        Attribute("commission", "numeric"),
        Attribute("age", "numeric"),
        Attribute("elevel", "nominal", tuple(f"level{i}" for i in range(5))),
        Attribute("car", "nominal", tuple(f"car{i + 1}" for i in range(20))),
        Attribute("zipcode", "nominal", tuple(f"zipcode{i + 1}" for i in range(9))),
        Attribute("hvalue", "numeric"),
        Attribute("hyears", "numeric"),
        Attribute("loan", "numeric"),
    ),
    "group",
    ("A", "B"),
)

# By age group, under 40, 40 to 59, 60 and over: an interval in thousands.
_SALARY = np.array([(50, 100), (75, 125), (25, 75)])
_LOAN_IF = np.array([(100, 300), (200, 400), (300, 500)])
_LOAN_ELSE = np.array([(200, 400), (300, 500), (100, 300)])
_SALARY_IF = np.array([(25, 75), (50, 100), (50, 100)])


@dataclass(eq=False, repr=False)
class Agrawal(Generator):
    """Group A or B of loan applicants by one of ten functions; six numeric, three nominal ones.

    Parameters
    ----------
    function : int
        1 to 10, as in the paper.
    perturbation : float
        Numeric values, once the group is known, move by up to this share of their range.
    noise : float
        Probability that a label is the other one.

    Source: Agrawal, Imielinski and Swami, Database mining: a performance perspective, IEEE TKDE
    5(6), 1993. As in MOA, who earns 75,000 or more has no commission, and all others have one. A
    house's value stays within its zip code's range, which MOA does not see to.
    """

    function: Annotated[int, integer(1, 10)] = 1
    perturbation: Share = 0.05
    noise: Share = 0.0

    def _schema(self):
        return _SCHEMA

    def _block(self, rng, first, count, state):
        salary = rng.uniform(20_000, 150_000, count)
        commission = np.where(salary >= 75_000, 0, rng.uniform(10_000, 75_000, count))
        age = rng.integers(20, 81, count).astype(float)
        elevel, car, zipcode = (rng.integers(0, values, count, np.uint8) for values in (5, 20, 9))
        price = (9.0 - zipcode) * 100_000
        hvalue = price * rng.uniform(0.5, 1.5, count)
        hyears = rng.integers(1, 31, count).astype(float)
        loan = rng.uniform(0, 500_000, count)
        in_a = _in_group_a(self.function, salary, commission, age, elevel, hvalue, hyears, loan)
        labels = self._mislabelled(rng, (~in_a).astype(np.int64), self.noise)
        if self.perturbation:
            salary = self._moved(rng, salary, 20_000, 150_000)
            commission = np.where(commission > 0, self._moved(rng, commission, 10_000, 75_000), 0)
            age = np.rint(self._moved(rng, age, 20, 80))
            hvalue = self._moved(rng, hvalue, 0.5 * price, 1.5 * price)
            hyears = np.rint(self._moved(rng, hyears, 1, 30))
            loan = self._moved(rng, loan, 0, 500_000)
        return Block(
            np.column_stack((salary, commission, age, hvalue, hyears, loan)),
            np.column_stack((elevel, car, zipcode)),
            labels,
        )

    def _moved(self, rng, values, low, high):
        step = (high - low) * self.perturbation * rng.uniform(-1, 1, len(values))
        return np.clip(values + step, low, high)


def _within(group, values, intervals):
    low, high = 1000 * intervals[group].T
    return (low <= values) & (values <= high)


def _in_group_a(function, salary, commission, age, elevel, hvalue, hyears, loan):
    group = np.digitize(age, (40, 60))
    within = partial(_within, group)
    # Levels 0..1, 1..3 or 2..4.
    schooled = (group <= elevel) & (elevel <= np.array((1, 3, 4))[group])
    match function:
        case 1:
            return group != 1
        case 2:
            return within(salary, _SALARY)
        case 3:
            return schooled
        case 4:
            return np.where(schooled, within(salary, _SALARY_IF), within(salary, _SALARY))
        case 5:
            return np.where(within(salary, _SALARY), within(loan, _LOAN_IF), within(loan, _LOAN_ELSE))
        case 6:
            return within(salary + commission, _SALARY)
    income = 2 * (salary + commission) / 3
    match function:
        case 7:
            return income - loan / 5 - 20_000 > 0
        case 8:
            return income - 5000.0 * elevel - 20_000 > 0
        case 9:
            return income - 5000.0 * elevel - loan / 5 - 10_000 > 0
    equity = np.where(hyears >= 20, hvalue * (hyears - 20) / 10, 0)
    return income - 5000.0 * elevel + equity / 5 - 10_000 > 0
