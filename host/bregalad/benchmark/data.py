"""Real streams that studies and tests use, from the folder $BREGALAD_DATA or ../shared/data."""

import os
from pathlib import Path

import numpy as np
import pandas as pd

from ..data import open_stream

__all__ = ["FILES", "FOLDER", "KDD_NAMES", "KDD_NOMINAL", "Whole", "load"]

FOLDER = Path(os.environ.get("BREGALAD_DATA") or Path(__file__).resolve().parents[4] / "shared" / "data")
FILES = {"elec": "ELEC.arff.zip", "kdd": "kddcup.data_10_percent.gz", "skin": "Skin_NonSkin.txt.gz"}
KDD_NAMES = tuple(
    """
duration protocol_type service flag src_bytes dst_bytes land wrong_fragment urgent hot
num_failed_logins logged_in num_compromised root_shell su_attempted num_root num_file_creations
num_shells num_access_files num_outbound_cmds is_host_login is_guest_login count srv_count
serror_rate srv_serror_rate rerror_rate srv_rerror_rate same_srv_rate diff_srv_rate
srv_diff_host_rate dst_host_count dst_host_srv_count dst_host_same_srv_rate dst_host_diff_srv_rate
dst_host_same_src_port_rate dst_host_srv_diff_host_rate dst_host_serror_rate
dst_host_srv_serror_rate dst_host_rerror_rate dst_host_srv_rerror_rate class
""".split()
)
KDD_NOMINAL = ("protocol_type", "service", "flag", "land", "logged_in", "is_host_login", "is_guest_login")


class Whole:
    """A stream held in memory; iterates over chunks of 65,536 instances.

    Members
    -------
    schema : Schema
    classes : list
    nominal : dict
        Values of the nominal attributes, for a tree's ``nominal``.
    """

    def __init__(self, stream):
        parts = list(stream)
        self.schema = stream.schema
        columns = {}
        for attribute in self.schema.attributes:
            column = pd.concat(
                [
                    X[attribute.name] if attribute.kind == "numeric" else X[attribute.name].astype(object)
                    for X, _ in parts
                ],
                ignore_index=True,
            )
            columns[attribute.name] = column if attribute.kind == "numeric" else column.astype("category")
        self.X = pd.DataFrame(columns)
        self.y = np.concatenate([y for _, y in parts])
        self.classes = sorted(set(self.y.tolist()))
        self.nominal = {
            a.name: a.values or tuple(self.X[a.name].cat.categories)
            for a in self.schema.attributes
            if a.kind == "nominal"
        }
        self._order = np.arange(len(self.y))

    def __len__(self):
        return len(self.y)

    def shuffled(self, seed):
        """The same in another order."""
        other = object.__new__(Whole)
        other.__dict__ |= self.__dict__
        other._order = np.random.default_rng(seed).permutation(len(self.y))
        return other

    def __iter__(self):
        for start in range(0, len(self.y), 65_536):
            part = self._order[start : start + 65_536]
            yield self.X.iloc[part].reset_index(drop=True), self.y[part]


def load(name):
    """A real stream as `Whole`, None where its file is absent."""
    path = FOLDER / FILES[name]
    if not path.is_file():
        return None
    options = {"names": KDD_NAMES, "nominal": KDD_NOMINAL} if name == "kdd" else {}
    return Whole(open_stream(path, **options))
