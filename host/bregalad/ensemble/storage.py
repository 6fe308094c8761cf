"""Saved ensembles: the files of their trees in one, with what all have in common once."""

import copy

import numpy as np

from ..boards import is_link
from ..drift.adwin import trouble
from ..estimator import board as tree_board
from ..estimator.saving import storage
from ..estimator.saving.contents import is_count
from ..geometry import Geometry
from ..learners.catalogue import TREES
from .member import Member
from .shared_board import alone, is_shared

_OWN = ("geometry", "event_counts")  # entries of a tree's description that are its own
_COUNTS = ("made", "warnings", "drifts")  # of a member


def save(ensemble, path, kept):
    """Write a fitted ensemble to ``path``, and entries of its description that are ``kept`` beside the rest."""
    own = ensemble._chosen()
    del own["tree"]
    storage.check_class(type(ensemble._template))
    ensemble._settle_down()
    arrays, members = {}, []
    for member in ensemble.members_:
        trees = []
        for place, tree in enumerate(member.trees):
            meta, columns = storage.contents(tree, kept)
            arrays |= {f"{member.number}_{place}_{name}": column for name, column in columns.items()}
            trees.append({name: meta[name] for name in _OWN} | {"policy": tree._fixed_here})
        members.append(
            {name: getattr(member, name) for name in _COUNTS} | {"score": member.score.tolist(), "trees": trees}
        )
    template = copy.deepcopy(ensemble._template)  # with what is said of the board of a tree that has no open one
    if is_shared(ensemble._template):
        alone(template, len(members) * ensemble._trees_each)
    geometry = template.geometry
    meta = {
        **{name: entry for name, entry in meta.items() if name not in _OWN},  # of the last tree, as of any
        **({} if ensemble._fractions is None else {"fractions": ensemble._fractions.tolist()}),
        "board": template.board,
        "given_geometry": geometry.as_dict() if isinstance(geometry, Geometry) else geometry,
        "member": meta["tree"],
        "tree": type(ensemble).__name__,
        "ensemble": own,
        "given_tree": ensemble.tree is not None,
        "seen": ensemble._seen,
        "members": members,
    }
    arrays["windows"] = np.concatenate(ensemble._watching)
    arrays |= {f"sample_{name}": column for name, column in ensemble._quantiser.sample.state().items()}
    storage.write(path, meta, arrays)


def restored(cls, meta, arrays, changes):
    """The ensemble of a description and arrays, with some parameters changed; errors as `load`."""
    if "tree" in changes:
        raise ValueError("tree: the members of a saved ensemble are what they are")
    where = {name: changes[name] for name in ("board", "geometry") if name in changes}
    changes = {name: value for name, value in changes.items() if name not in where}
    with storage.of_the_file():
        member = {kind.__name__: kind for kind in TREES.values()}[meta["member"]]
        shared, has_tree = meta["board"] != "emulated", meta["given_tree"]
        params = storage.checked_parameters(member, meta | meta["members"][0]["trees"][0])
        ensemble = cls(**meta["ensemble"] | {"tree": member(**params)})
        ensemble.check_parameters()
        ensemble.__dict__.update(_learnt(ensemble, ensemble.tree, meta, arrays))
    if is_link(where.get("board")):  # it has the geometry that it has
        params["geometry"] = None
    ensemble.tree = member(**params | where) if where or shared or has_tree else None
    if shared and "geometry" not in where and ensemble.tree.geometry is not None:
        alone(ensemble.tree, ensemble.members * ensemble._trees_each)
    for each in ensemble._members:
        each.style.tree = ensemble._template
        for tree in each.trees:
            tree.board, tree.geometry = ensemble._template.board, ensemble._template.geometry
    ensemble.set_params(**changes)
    ensemble.check_parameters()
    ensemble._made_with = ensemble._decisive()
    return ensemble


def _learnt(ensemble, template, meta, arrays):
    """What an ensemble of the file's own parameters has learnt, checked: its members, in both senses."""
    found = storage.members_of(meta, storage.section(arrays, "sample_"))
    sample = {name: column for name, column in arrays.items() if name.startswith("sample_")}
    ensemble.n_features_in_ = found["n_features_in_"]
    if len(meta["members"]) != ensemble.members or not is_count(meta["seen"]):
        raise ValueError("its members are not as many as it says")
    style, members = ensemble._style(), []
    for number, saved in enumerate(meta["members"]):
        member = Member(number, style)
        if not all(map(is_count, (*saved["score"], *(saved[name] for name in _COUNTS)))):
            raise ValueError(f"member {number} counts {saved}")
        for name in _COUNTS:
            setattr(member, name, saved[name])
        member.score[:] = saved["score"]
        trees = [
            _tree(template, meta | own, storage.section(arrays, f"{number}_{place}_") | sample, found)
            for place, own in enumerate(saved["trees"])
        ]
        member.tree, member.background = [*trees, None][:2]
        if not 1 <= len(trees) <= 2:
            raise ValueError(f"member {number} has {len(trees)} trees")
        members.append(member)
    ensemble._members = members
    windows, watching = arrays["windows"], ensemble._watching
    if windows.shape != np.concatenate(watching).shape or (problem := trouble(windows)):
        raise ValueError(f"its windows are none ({problem or windows.shape})")
    for mine, part in zip(watching, np.split(windows, len(watching)), strict=True):
        mine[:] = part
    return found | {"_members": members, "_seen": meta["seen"]}


def _tree(template, meta, arrays, found):
    """One of its trees."""
    tree = type(template)(**template.get_params(deep=False))
    policy = meta["policy"]
    if set(policy) != {"subset", "seed"} or not all(map(is_count, (policy["subset"], policy["seed"] >> 10))):
        raise ValueError(f"the entry 'policy' is {policy}")
    tree._keep_fixed(**policy)
    tree.__dict__.update(storage.learnt_by(tree, meta, arrays))
    tree._quantiser, tree.schema_ = found["_quantiser"], found["schema_"]
    tree._made_with = tree._decisive()
    tree_board.check_fit(tree, tree_board.geometry_of(tree))
    return tree
