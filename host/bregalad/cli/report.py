"""What a run has come to, as ``train`` and the demo print it."""

import math

from ..building import build_seconds
from ..words import counted, shown

_MANY, _FEW = 50, 100  # values of an attribute, instances for each


def on_board(tree):
    """Whether this is a tree that learns on a board, and no ensemble."""
    from ..learners.catalogue import TREES

    return isinstance(tree, tuple(TREES.values()))


def notes_of(tree, curve):
    """What makes the tree worse, or the figures mean less, than may be thought: a sentence each."""
    notes = []
    met = curve.confusion.sum(axis=1).nonzero()[0].tolist()
    if len(met) == 1 and curve.instances[-1] > 1:
        notes.append(
            f"all labels are {shown(tree.classes_.tolist()[met[0]])}: there is nothing to tell apart, and kappa is not "
            "defined"
        )
    for name, book in tree.quantiser_summary()["attributes"].items():
        codes, seen = book.get("codes", 0), book.get("seen", 0)  # 0: a number, or in a tree without codes
        if book.get("overflowed", 0) <= seen / 100 and codes >= _MANY and 0 < seen < _FEW * codes:  # else warned of
            notes.append(
                f"attribute {shown(name)} has {codes} values, and {seen // codes} instances for each: a split on it "
                "leaves little to learn from; group its values, or leave it out by --ignore"
            )
    return notes


def report_of(tree, curve):
    """What `print_report` prints, and the tree's parameters, as a dict."""
    from ..compiled import compile_seconds

    return {
        "tree": type(tree).__name__,
        "parameters": {name: value for name, value in tree.get_params().items() if name != "tree"},
        **tree.report(),
        "accuracy": curve.accuracy[-1],
        "kappa": curve.kappa[-1],
        "labels": curve.labels[-1],
        "seconds": curve.seconds[-1],
        "compile_seconds": compile_seconds(),
        "build_seconds": build_seconds(),
        **({"link": tree.link_statistics()} if on_board(tree) else {}),
        **tree.quantiser_summary(),
    }


def print_report(tree, curve, before=0):
    """Print what a run has come to, of a tree that had learnt so many instances ``before``."""
    from ..compiled import compile_seconds

    report, boarded = tree.report(), on_board(tree)
    print(f"instances   {report['instances']}" + (f", {before} of them before this run" if before else ""))
    kappa = "undefined" if math.isnan(curve.kappa[-1]) else f"{curve.kappa[-1]:.4f}"
    print(f"accuracy    {curve.accuracy[-1]:.4f}, kappa {kappa} (prequential)")
    if curve.labels[-1] < curve.instances[-1]:
        print(
            f"labels      {curve.labels[-1]} of {curve.instances[-1]} asked for "
            f"({curve.labels[-1] / curve.instances[-1]:.1%})"
        )
    print(
        f"tree        {counted(report['nodes'], 'node')}, {counted(report['leaves'], 'leaf', 'leaves')}, depth "
        f"{report['depth']}"
        + (
            f"; {counted(report['slots'], 'slot')} in use, "
            f"{counted(report['inactive_leaves'], 'leaf', 'leaves')} without one"
            if boarded
            else ""
        )
    )
    if "members" in report:
        print(
            f"ensemble    {counted(report['members'], 'member')}, {report['background']} more in the background; "
            f"{counted(report['warnings'], 'warning')}, {counted(report['drifts'], 'drift')}"
        )
    if "level" in report:
        print(f"level       {report['level']}, estimated merit {report['merit']:.4f}")
    if boarded:
        print(f"leaves      predict by {report['leaf_prediction']}")
    others = {"compiling": compile_seconds(), "building the simulated board": build_seconds()}
    once = (f"; {seconds:.1f} {what}, the first time only" for what, seconds in others.items() if seconds)
    print(f"seconds     {curve.seconds[-1]:.2f} predicting and learning{''.join(once)}")
    made = report["splits"] + report["replaced"]
    ties = f"{report['ties']} tie-broken ({report['ties'] / max(made, 1):.1%}); " if boarded else ""
    print(
        f"splits      {report['splits']} of leaves, {report['replaced']} replaced, "
        f"{report['pruned']} pruned; {ties}{counted(report['attempts'], 'attempt')}"
    )
    if not boarded:
        return
    if report["alternates"]:
        print(f"alternates  {report['alternates']} began, {report['swapped']} took over, {report['dropped']} went")
    if report["halvings"]:
        print(f"halvings    {report['halvings']} (a count reached the counters' width)")
    if (link := tree.link_statistics()) is not None:
        print(f"link        {link}")
    lost = tree.quantiser_summary()
    print(
        f"codes       {lost['crowded']:.2%} of the last numeric values share a crowded code, "
        f"{lost['overflowed']:.2%} of nominal values have none"
    )
