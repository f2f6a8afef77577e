"""Where a study runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from match_explore.errors import scheduler_error


@dataclass(frozen=True, slots=True)
class ClusterChoice:
    """``scheduler``: an address, or the path of a scheduler file; None: a cluster in this process with ``workers``
    (None: by cores and memory). ``tls_*``: files in PEM."""

    scheduler: str | None = None
    workers: int | None = None
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None

    @property
    def by_file(self) -> bool:
        """Whether ``scheduler`` is a file of a scheduler, not an address."""
        address = self.scheduler or ""
        return not address.startswith(("tcp://", "tls://")) and (address.endswith(".json") or Path(address).exists())

    def check_files(self) -> None:
        """UsageError MATCH-U114 for a file that does not exist, also where nothing is left to compute."""
        if self.scheduler is None:
            return
        for file in (self.tls_ca, self.tls_cert, self.tls_key, Path(self.scheduler) if self.by_file else None):
            if file is not None and not file.is_file():
                raise scheduler_error(str(file), "the file does not exist", "give the path of an existing file")

    @property
    def tls(self) -> dict[str, str]:
        """The arguments of distributed's Security."""
        files = {"tls_ca_file": self.tls_ca, "tls_client_cert": self.tls_cert, "tls_client_key": self.tls_key}
        return {name: str(file) for name, file in files.items() if file is not None}
