"""Where a study runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


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
    def tls(self) -> dict[str, str]:
        """The arguments of distributed's Security."""
        files = {"tls_ca_file": self.tls_ca, "tls_client_cert": self.tls_cert, "tls_client_key": self.tls_key}
        return {name: str(file) for name, file in files.items() if file is not None}
