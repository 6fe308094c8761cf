"""Ports of blocks: those of the same names, of a block and what wraps it or of two; blocks that some boards lack."""

from amaranth import Module
from amaranth.lib.wiring import Out, connect, flipped


def assign(target, source, *names):
    """Assignments of members, or of fields, that have the same names."""
    return [getattr(target, name).eq(getattr(source, name)) for name in names]


def drive(target, **values):
    """Assignments of values to members, or to fields, by their names: a port map."""
    return [getattr(target, name).eq(value) for name, value in values.items()]


def join(m, whole, *parts):
    """Connect interfaces that have some of the members each to what has them all.

    Both are of submodules, or what is behind a component's own port: `flipped` is not for them.
    """
    for part in parts:
        for name, member in part.signature.members.items():
            theirs, ours = getattr(part, name), getattr(whole, name)
            m.d.comb += ours.eq(theirs) if member.flow is Out else theirs.eq(ours)


def members_of(block, *names):
    """These members of a block, for the signature of what wraps it."""
    return {name: block.signature.members[name] for name in names}


def pass_on(m, block, wrapper, *names):
    """Connect these members of a submodule to those of the same names of what wraps it."""
    for name in names:
        inner, outer, member = getattr(block, name), getattr(wrapper, name), wrapper.signature.members[name]
        if member.is_signature:
            connect(m, inner, flipped(outer))
        else:
            m.d.comb += outer.eq(inner) if member.flow is Out else inner.eq(outer)


def optional(there, block):
    """The block; on a board that does not have it with nothing in it, so that its outputs stay as they are at first."""
    if not there:
        block.elaborate = lambda platform: Module()
    return block
