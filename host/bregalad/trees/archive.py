"""Archives of plain arrays, .npz, read without trust in what they say of their sizes."""

import math
import os
import zipfile

from numpy.lib import format as npy

__all__ = ["stored_arrays"]

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
