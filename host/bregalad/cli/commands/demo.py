"""Learn 336,776 flights on the emulated board, a part of them on the simulated one, and compare."""


def add_arguments(parser):
    parser.add_argument(
        "--simulated",
        type=int,
        default=40_000,
        metavar="N",
        help="flights for the simulated board (default: 40000; 0: leave it out)",
    )
    parser.add_argument(
        "--plot", default="out/flights.png", metavar="FILE", help="accuracy plot (default: out/flights.png)"
    )


def run(args):
    """Run the demo; status 1 if the trees differ."""
    import os
    import time

    from tqdm import tqdm

    from ...data.flights import flights
    from ...evaluation import prequential
    from ...geometry import Geometry
    from ...learners.hoeffding import VFDT
    from .. import outputs
    from ..report import print_report

    if args.simulated < 0:
        raise ValueError(f"--simulated must be 0 (leave it out) or more, not {args.simulated}")
    os.makedirs(os.path.dirname(args.plot) or ".", exist_ok=True)
    outputs.check_result(args.plot)
    outputs.check_plot(args.plot)

    # 23 cells: 13 numeric attributes, carrier one, origin one, dest (105 airports) eight of 14.
    geometry = Geometry(lanes=8, passes=3, bins=16, classes=2, slots=512, bus_width=256, nodes=2048, searchers=0)
    if args.simulated:  # now, since a compiler that is missing should not be found out at the end
        from bregalad_sim.verilated import library

        print(
            f"The simulated board is {geometry.lanes} lanes of RTL, compiled by Verilator; the "
            "first build takes a minute or two."
        )
        library(geometry)
    X, y = flights()
    labels = ["late", "on time"]
    print(
        f"{len(y)} flights, {X.shape[1]} attributes: will it arrive more than 15 minutes late? "
        f"({(y == 'late').mean():.1%} do)"
    )

    def learn(board, count):
        tree = VFDT(board=board, geometry=geometry, leaf_prediction="mc")
        with tqdm(total=count, unit=" flights", unit_scale=True, desc=board) as bar:
            curve = prequential(tree, [(X[:count], y[:count])], labels, progress=lambda n, _: bar.update(n))
        return tree, curve

    VFDT(geometry=geometry, leaf_prediction="mc").fit(X[:2000], y[:2000])
    start = time.perf_counter()
    tree, curve = learn("emulated", len(y))
    seconds = time.perf_counter() - start
    print_report(tree, curve)
    print(
        f"speed       {len(y) * X.shape[1] / curve.seconds[-1] / 1e6:.1f} M attribute values/s "
        f"predicting and learning; {seconds:.2f} seconds with the curve and the progress bar"
    )
    curve.plot(args.plot, "Flights from New York 2013: more than 15 minutes late?")
    print(f"plot        {args.plot}")
    if not args.simulated:
        return 0
    count = min(args.simulated, len(y))
    print("\nThe same on the simulated board.")
    simulated, curve = learn("simulated", count)
    emulated, other = learn("emulated", count)
    difference = simulated.difference(emulated)
    counters = simulated.counters()
    simulated.close()
    print(
        f"clocks      {counters['clocks']}, of which {counters['learning']} learning "
        f"{counters['records']} instances of {geometry.passes_for(23)} beats"
    )
    if difference or curve.right != other.right:
        print(f"THE TREES DIFFER: {difference or 'in their predictions'}")
        return 1
    report = simulated.report()
    print(
        f"Both trees are identical: {report['nodes']} nodes, {report['splits']} splits, "
        f"{curve.right} of {count} predictions right on either board."
    )
    return 0
