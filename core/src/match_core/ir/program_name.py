"""Names of programs: the prefix of files and C symbols."""

from __future__ import annotations

from match_core.ir.naming import c_identifier

#: ``<name>_t`` is the program's type, which must not be one of C11's or POSIX's.
_TYPE_NAMES = """
blkcnt blksize caddr clock clockid cnd comparison_fn cpu_set constraint_handler cookie_io_functions cookie_read_function
cookie_write_function cookie_seek_function cookie_close_function daddr dev div double error fenv fexcept float fpos
fsblkcnt fsfilcnt fsid gid id imaxdiv ino int16 int32 int64 int8 intmax intptr key ldiv lldiv locale loff max_align
mbstate mode mtx nlink off once pid ptrdiff quad register rsize sem sig_atomic sigset size ssize suseconds thrd time
timer tss u_quad uid uint16 uint32 uint64 uint8 uintmax uintptr useconds va_list wchar wctrans wctype wint
"""
#: Beginnings of such types.
_TYPE_FAMILIES = ("int_", "uint_", "u_int", "pthread_", "atomic_", "memory_")
#: ``<name>.h`` lies on the compiler's path and must not hide a header of C11 or POSIX.
_HEADER_NAMES = """
aio assert complex cpio ctype dirent dlfcn errno fcntl fenv float fmtmsg fnmatch ftw glob grp iconv inttypes iso646
langinfo libgen limits locale malloc math memory monetary mqueue ndbm netdb nl_types poll pthread pwd regex sched
search semaphore setjmp signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string
strings stropts syslog tar termios tgmath threads time trace uchar ulimit unistd utime utmpx wchar wctype wordexp
"""
_TYPES, _HEADERS = frozenset(_TYPE_NAMES.split()), frozenset(_HEADER_NAMES.split())


def program_name(text: str) -> str:
    """A C identifier that may be the prefix of a program's files and symbols. Names that begin with ``match_`` belong
    to the runtime."""
    name = c_identifier(text)
    taken = name.startswith(("match_", *_TYPE_FAMILIES)) or name.lower() in _HEADERS or name in _TYPES
    return f"model_{name}" if taken else name
