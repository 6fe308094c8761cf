"""Options that several commands share."""

import os
import warnings

from ..geometry import MISSING
from ..words import joined

_CHUNK = 65_536  # instances


def add_stream(parser):
    """Which columns a file has."""
    parser.add_argument(
        "file",
        help="ARFF, CSV, TSV, Parquet or JSON by the line, plain or in .gz or .zip; - for "
        "standard input, which as any pipe may be CSV or ARFF; "
        "generator:NAME,option=value,... (see generate); or kafka://BROKER:9092/TOPIC, of JSON messages",
    )
    group = parser.add_argument_group("the stream")
    group.add_argument("--class", dest="class_name", metavar="NAME", help="class column (default: the last)")
    group.add_argument(
        "--nominal", metavar="NAMES", default="", help="nominal columns, comma-separated (others are inferred)"
    )
    group.add_argument("--numeric", metavar="NAMES", default="", help="numeric columns")
    group.add_argument("--ignore", metavar="NAMES", default="", help="columns to leave out")
    group.add_argument(
        "--names", metavar="NAMES", default="", help="names of all columns, where the file has no header"
    )
    group.add_argument(
        "--header",
        choices=("auto", "yes", "no"),
        default="auto",
        help="whether the first line of a CSV names the columns (default: auto)",
    )
    group.add_argument(
        "--decimal", choices=(".", ","), default=".", help="the decimal mark of a CSV's numbers (default: .)"
    )
    group.add_argument(
        "--classes",
        metavar="LABELS",
        default="",
        help="all class labels, comma-separated (default: what the file holds; a pipe or a topic needs them)",
    )
    group.add_argument("--member", metavar="NAME", help="the file in a .zip that holds the data, if several may")
    group.add_argument("--limit", type=int, metavar="N", help="stop after N instances")


def add_board(parser):
    """Which board to use."""
    group = parser.add_argument_group("the board")
    group.add_argument(
        "--board",
        default="emulated",
        metavar="NAME",
        help="emulated (default), simulated, serial:PORT[,baud=N] or udp:ADDRESS "
        "(both take ,timeout=SECONDS and ,take_over=yes)",
    )
    group.add_argument(
        "--geometry",
        metavar="PRESET",
        help="sizes of the board: tiny, small, many-classes, wide, wider or fine "
        "(default: as the stream needs, or what the FPGA tells)",
    )
    add_wave(group)


def add_sizes(parser, *preset):
    """Which sizes a board is built with: those of a preset, or else its own, by default."""
    default = preset[0] if preset else "the board's"
    text = f"a preset's name, sizes as lanes=8, or both (default: {default})"
    parser.add_argument("--geometry", nargs="+", default=list(preset), metavar="SIZE", help=text)


def add_wave(parser):
    """Whether to write a waveform."""
    parser.add_argument(
        "--wave",
        metavar="FILE.fst",
        help="of the simulated RTL: write the waveform to FILE.fst and a save file for GTKWave to FILE.gtkw",
    )


def check_there(*paths):
    """Raise OSError for a file that is not there, before what reads it is imported, which takes seconds."""
    for path in paths:
        if path != "-" and ":" not in path:  # standard input, a generator
            os.stat(path)


def network_options(board, **options):
    """Those of the options that are given, all of them for FPGA boards with Ethernet only."""
    chosen = {name: value for name, value in options.items() if value is not None}
    if chosen and board.wire != "udp":
        raise ValueError(f"--{min(chosen)} is for boards with Ethernet; {board.name} has a serial port")
    return chosen


def words_of(text):
    """What an option names, commas in between."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def open_file(args):
    """The stream that the options describe, and the names of the columns that it leaves out."""
    from ..data.readers import stream_of

    known = () if args.class_name is None else (args.class_name,)
    source = open_source_of(args, known)
    stream = stream_of(
        source,
        class_name=args.class_name,
        nominal=words_of(args.nominal),
        numeric=words_of(args.numeric),
        ignore=words_of(args.ignore),
        classes=words_of(args.classes) or None,
        chunk=chunk_of(args),
    )
    left_out = [name for name in source.index if name not in words_of(args.ignore) and not name.startswith("__index")]
    if left_out:
        warnings.warn(
            f"{source.path}: {joined(map(repr, left_out), 'and')} is left out, as the index of the data frame; "
            "frame.reset_index() makes it a column",
            stacklevel=1,
        )
    known = (*stream.schema.names, stream.schema.class_name)
    return stream, [name for name in source.columns if name not in known]


def open_source_of(args, known, expected=()):
    """The file that the options name, without a choice among its columns yet; see `open_source`."""
    from ..data.readers import open_source

    if args.limit is not None and args.limit < 1:
        raise ValueError(f"--limit must be 1 or more, not {args.limit}")
    return open_source(
        args.file,
        header={"yes": True, "no": False}.get(args.header, "auto"),
        known=known,
        names=words_of(args.names) or None,
        decimal=args.decimal,
        member=args.member,
        chunk=chunk_of(args),
        expected=expected,
    )


def chunk_of(args):
    """Instances in a chunk: no more than are wanted, for a pipe may be slow to bring others."""
    return min(_CHUNK, args.limit or _CHUNK)


def is_endless(stream):
    """Whether a stream is a generator's that does not end."""
    from ..data.generators import PREFIX

    return stream.path.startswith(PREFIX) and stream.len_hint is None


def survey(stream, limit=None):
    """All class labels of a stream, and its nominal attributes with their values, as a dict.

    Reads columns whose values the schema does not declare once; if the stream does not end,
    ``limit`` instances. Of a pipe or a topic the labels must be declared; values are learnt as they come.
    """
    labels, nominal = set(stream.schema.classes), dict(stream.schema.nominal)
    if stream.once:
        if not labels:
            raise ValueError(
                f"{stream.path} is read once, so the labels of the class {stream.schema.class_name!r} must be known "
                "beforehand: name all of them with --classes"
            )
        return sorted(labels), nominal
    found = {name: set() for name, values in nominal.items() if not values}
    if not labels or found:
        declared, seen = bool(labels), 0
        endless = is_endless(stream)
        if endless and limit is None:
            name = min(found, default=stream.schema.class_name)
            raise ValueError(
                f"the values of {name!r} are looked for beforehand, but the stream "
                "does not end: say how much of it with --limit"
            )
        queried = list(found) if declared else [*found, stream.schema.class_name]
        for count, there in stream.values(queried):
            seen += count
            if not declared:
                labels.update(there[stream.schema.class_name])
            for name, values in found.items():
                if len(values) <= MISSING:  # more are refused, whatever they are
                    values.update(there[name])
            if endless and seen >= limit or declared and all(len(values) > MISSING for values in found.values()):
                break
    return sorted(labels), nominal | {name: sorted(values) for name, values in found.items()}
