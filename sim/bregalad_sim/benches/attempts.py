"""Made-up attempts and registers for the decider."""

from bregalad.geometry import NONE
from bregalad.protocol.decider import DECIDER

from ..golden import Candidate
from ..golden.decider import Attempt

FIELDS = {f"{register.name}.{field.name}": field for register in DECIDER for field in register.fields}


class Made:
    """Random registers, and attempts near their bound.

    Parameters
    ----------
    rng : random.Random
    geometry : Geometry

    Attributes
    ----------
    rule : dict
        ``register.field`` to value.
    """

    def __init__(self, rng, geometry):
        self.rng = rng
        self.geometry = geometry
        self.rule = {}

    def configure(self):
        """Any registers, mostly such as a policy gives."""
        rng = self.rng
        self.rule = {
            name: rng.choice([field.reset, (1 << field.width) - 1, rng.getrandbits(field.width)])
            for name, field in FIELDS.items()
        }
        if rng.random() < 0.8:
            self.rule |= {
                "decider.decides": 1,
                "decider_bound.mantissa": 1 << 15 | rng.getrandbits(15),
                "decider_bound.exponent": rng.randint(-20, 30) & 0xFF,
                "decider_tie.n": rng.choice([(1 << 32) - 1, rng.randint(1, self.geometry.count_max)]),
            }

    def number(self, bits):
        """Of any size."""
        return self.rng.getrandbits(self.rng.randint(0, bits))

    def candidate(self, gain):
        half = 1 << self.geometry.gain_width - 1
        return Candidate(self.rng.randrange(4), self.number(8), min(max(gain, -half), half - 1))

    def attempt(self):
        """Most have a gap near the bound."""
        rng, g = self.rng, self.geometry
        attempt = Attempt(
            n=self.number(g.count_width),
            inherited=rng.choice([0, self.number(g.count_width)]),
            all_up_to=rng.choice([0, 0, 0, self.number(g.count_width)]),
            inner=rng.random() < 0.5,
        )
        exponent = self.rule["decider_bound.exponent"]
        exponent -= (exponent & 0x80) << 1
        total = attempt.n + attempt.inherited
        if rng.random() < 0.2:
            total = 4 * self.rule["decider_tie.n"]
        bound = (self.rule["decider_bound.mantissa"] * 2.0**exponent * attempt.n**2 / max(1, total)) ** 0.5
        gap = int(bound * rng.choice([1, 1 + rng.uniform(-1e-3, 1e-3), rng.uniform(0, 2)])) + rng.randint(-1, 1)
        other = rng.choice([0, rng.randint(-3, 3), self.number(g.gain_width - 2)])
        attempt.best = self.candidate(other + gap)
        attempt.second, attempt.current = (rng.choice([self.candidate(other)] * 9 + [Candidate()]) for _ in range(2))
        if rng.random() < 0.05:
            attempt.best = Candidate(NONE)
        return attempt
