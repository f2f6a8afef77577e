"""Reading and writing ``.npz`` archives of arrays. Files are hostile: nothing in them is executed or believed."""

from __future__ import annotations

import lzma
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np
from match_core.contract.errors import UsageError
from match_core.io.arrays import Arrays, TensorSpec
from match_core.io.files import whole_file
from numpy.typing import NDArray

MOST_BYTES = 1 << 31  #: of arrays that are read from one file; an estimate
#: What reading a damaged archive, or a header of an array that is none, raises.
UNREADABLE = (
    *(OSError, ValueError, EOFError, MemoryError, RecursionError, TypeError, LookupError, SyntaxError, struct.error),
    *(zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, lzma.LZMAError, tokenize.TokenError),
)


def read_arrays(path: Path, specs: Sequence[TensorSpec] = ()) -> dict[str, NDArray[np.generic]]:
    """Those arrays of an ``.npz`` file that ``specs`` name, or all if it has none of them; unchecked. UsageError
    MATCH-U040 if it cannot be read or is too large; pickled objects are refused, never loaded."""
    try:
        if not path.is_file():
            raise ValueError("it is not a file" if path.exists() else "there is no such file")
        with path.open("rb") as file:
            if file.read(4) not in (b"PK\x03\x04", b"PK\x05\x06"):
                raise ValueError("it is not an .npz archive")
        with zipfile.ZipFile(path) as archive:
            members = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
            wanted = {spec.name for spec in specs} & {entry.filename[:-4] for entry in members}
            members = [entry for entry in members if not wanted or entry.filename[:-4] in wanted]
            if not members:
                raise ValueError(f"the archive has {len(archive.infolist())} files and no array")
            if (size := sum(entry.file_size for entry in members)) > MOST_BYTES:
                raise ValueError(f"its arrays have {size} bytes, more than {MOST_BYTES}")
            if len(members) > len({entry.filename for entry in members}):
                raise ValueError("it has two arrays of one name")
            return {e.filename[:-4]: stored_array(archive.open(e), e.file_size, e.filename) for e in members}
    except UNREADABLE as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(
            code="MATCH-U040",
            what="the arrays cannot be read",
            where=str(path),
            why=reason[:300] or type(error).__name__,
            help=("write an .npz file with numpy.savez: one array per input (or expected output), named like it",),
        ) from error


def stored_array(file: IO[bytes], stored: int, name: str) -> NDArray[np.generic]:
    """One array in numpy's format, from the start of a file of ``stored`` bytes. Its header is checked before room is
    made for what it states. Errors: those of UNREADABLE."""
    older = np.lib.format.read_magic(file) == (1, 0)
    header = np.lib.format.read_array_header_1_0 if older else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(file)
    size, there = math.prod(shape) * dtype.itemsize, stored - file.tell()
    if dtype.hasobject or dtype.names or size != there or min(shape, default=0) < 0:
        if dtype.hasobject or dtype.names:
            raise ValueError(f"{name[:80]!r} holds Python objects or records, not numbers")
        raise ValueError(f"{name[:80]!r} is {dtype} of shape {list(shape)}: {size} bytes, but the file holds {there}")
    file.seek(0)
    return np.asarray(np.lib.format.read_array(file, allow_pickle=False))


def write_arrays(path: Path, arrays: Arrays) -> None:
    """Write an ``.npz`` file, all of it or nothing; equal arrays give equal bytes. UsageError MATCH-U045
    if the file cannot be written.

    It does not use numpy.savez, whose parameter names would clash with graph outputs named "file" or "arr_0".
    """
    with (
        whole_file(path, "the file of output arrays") as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
    ):
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # its date is fixed, so the bytes are too
            with archive.open(entry, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
