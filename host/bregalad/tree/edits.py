"""What a board is told of slots, as rows of an array: cleared, or set up for a node."""

# Columns of an edit: CLEAR or PLACE, and its flags; the slot; the slot whose bin window it takes; a cell whose bin
# window is told, or NONE, and that bin window; the slot that counts the node's instances, too, or NONE; the first cell
# of its test, or NONE.
WHAT, FLAGS, SLOT, PARENT, CELL, LO, SHIFT, LINK, CURRENT = range(9)
EDIT = 9  # columns

CLEAR, PLACE = range(2)  # CLEAR: the slot has counted nothing, and its bins cover all codes
KEEP, INNER = 1, 2  # flags of PLACE: what the slot has counted stays; the node is an inner one
