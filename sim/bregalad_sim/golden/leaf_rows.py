"""Leaf rows in plain integers."""

from dataclasses import dataclass, field

from bregalad.complete import complete
from bregalad.geometry import Geometry
from bregalad.predictors import Predictor
from bregalad.protocol.leaf_rows import COUNT_WIDTH, RowWord

# Whether naive Bayes is believed, by how much more often the majority class was right.
_TRUSTS = complete(
    Predictor,
    {
        Predictor.MAJORITY: lambda right: False,
        Predictor.BAYES: lambda right: True,
        Predictor.ADAPTIVE: lambda right: right <= 0,
    },
    __file__,
)


@dataclass
class _Row:
    words: list  # by RowWord; RIGHT is signed
    counts: list


@dataclass
class Result:
    """What an item has to tell; an item that has nothing has no result.

    ``label`` is the class predicted if ``reported``; with ``mark``, ``instances`` and ``hits`` are those since the last
    one; ``word`` is what was asked for.
    """

    node: int = 0
    reported: bool = False
    label: int = 0
    mark: bool = False
    instances: int = 0
    hits: int = 0
    read: bool = False
    word: int = 0


@dataclass
class LeafRows:
    """The rows of all nodes, and the counters.

    Parameters
    ----------
    geometry : Geometry
    nodes : int
    by : Predictor
    told : bool
        The class of every record.
    width : int
        Bits of a count.
    """

    geometry: Geometry
    nodes: int
    by: int = Predictor.MAJORITY
    reported: bool = False
    width: int = COUNT_WIDTH
    rows: list = field(init=False)

    def __post_init__(self):
        classes = self.geometry.classes
        self.rows = [_Row([0] * len(RowWord), [0] * classes) for _ in range(self.nodes)]
        self.instances = self.hits = 0

    def record(self, node, label, *, test=False, alternate=False, bayes=None, weight=1):
        """Predict a record, and learn it.

        Parameters
        ----------
        node, label : int
        test : bool
            Predict only.
        alternate : bool
            The leaf is an alternate's: what it predicts is not the tree's prediction.
        bayes : int or None
            The class by naive Bayes, if that knows any.
        weight : int
            How often its class is counted, and which of the two predictions was right.

        Returns
        -------
        Result or None
        """
        row = self.rows[node]
        majority = row.words[RowWord.MAJORITY]
        differs = bayes is not None and bayes != majority
        trusted = _TRUSTS[self.by](row.words[RowWord.RIGHT])
        predicted = bayes if differs and trusted else majority
        result = Result(node)
        if self.reported or test and not alternate:
            result.reported, result.label = True, predicted
        if test:
            return result if result.reported else None
        if self.by == Predictor.ADAPTIVE and differs:
            righter = (label == majority) - (label == bayes)
            row.words[RowWord.RIGHT] = _signed(row.words[RowWord.RIGHT] + weight * righter)
        for _ in range(weight):
            self._count(row, label)
        if not alternate:
            self.instances += 1
            self.hits += label == predicted
        return result if result.reported else None

    def _count(self, row, label):
        lead, majority = row.words[RowWord.LEAD], row.words[RowWord.MAJORITY]
        if lead < (1 << self.width) - 1:
            count = row.counts[label] = row.counts[label] + 1 & (1 << self.width) - 1
            if label == majority or count == lead + 1 or (count == lead and label < majority):
                majority, lead = label, count
        row.words[RowWord.MAJORITY], row.words[RowWord.LEAD] = majority, lead

    def mark(self):
        """Tell instances and hits since the last mark, and begin anew."""
        result = Result(mark=True, instances=self.instances, hits=self.hits)
        self.instances = self.hits = 0
        return result

    def read(self, node, word):
        """A word of a row."""
        row = self.rows[node]
        value = row.words[word] if word < len(RowWord) else row.counts[word - len(RowWord)]
        return Result(node, read=True, word=value & 0xFFFFFFFF)

    def write(self, node, word, value):
        """Set a word of a row."""
        row = self.rows[node]
        if word >= len(RowWord):
            row.counts[word - len(RowWord)] = value & (1 << self.width) - 1
        elif word == RowWord.RIGHT:
            row.words[word] = _signed(value) * self.geometry.naive_bayes
        elif word == RowWord.MAJORITY:
            row.words[word] = value & (1 << (self.geometry.classes - 1).bit_length()) - 1
        else:
            row.words[word] = value & (1 << self.width) - 1


def _signed(value):
    """Two's complement of 32 bits."""
    return (value + (1 << 31) & 0xFFFFFFFF) - (1 << 31)
