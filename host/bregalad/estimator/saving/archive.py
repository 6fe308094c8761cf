"""Arrays out of files: of archives, .npz, without trust in what they say of their sizes; of memory that joblib maps."""

import math
import os
import zipfile

import numpy as np
from numpy.lib import format as npy

_MOST_PACKED = 1032  # bytes that deflate makes a byte of


def stored_arrays(path):
    """The arrays of an archive as ``numpy.savez`` writes plain ones, by name.

    Memory is taken only for what the file can hold, whatever it says.

    Raises
    ------
    OSError
        If it cannot be read.
    Exception
        Whatever zip, compression or header make of other bytes.
    """
    with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if sum(member.compress_size for member in members) > os.fstat(file.fileno()).st_size:
            raise ValueError("its arrays are longer than the file")
        return {member.filename.removesuffix(".npy"): _stored_array(archive, member) for member in members}


def _stored_array(archive, member):
    with archive.open(member) as file:
        if npy.read_magic(file) != (1, 0):
            raise ValueError(f"{member.filename} is no plain array")
        shape, _, dtype = npy.read_array_header_1_0(file)
        size = math.prod(shape) * dtype.itemsize
        if size != member.file_size - file.tell() or size > _MOST_PACKED * member.compress_size:
            raise ValueError(f"{member.filename} says that it has {size} bytes, which are not there")
    with archive.open(member) as file:
        return npy.read_array(file, allow_pickle=False)


def owned(value):
    """The same with copies of arrays that joblib mapped into memory: learning writes to them."""
    if isinstance(value, np.memmap):
        return np.array(value)
    if isinstance(value, dict):
        return {key: owned(part) for key, part in value.items()}
    if isinstance(value, list):
        return [owned(part) for part in value]
    if isinstance(value, tuple):
        parts = map(owned, value)
        return value._make(parts) if hasattr(value, "_make") else tuple(parts)
    if type(value).__module__.startswith(__package__.partition(".")[0]) and hasattr(value, "__dict__"):
        value.__dict__.update(owned(vars(value)))
    return value
