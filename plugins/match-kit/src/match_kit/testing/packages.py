"""Installed packages: metadata, folders, and the capabilities that their hook modules name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlparse

from match_core.plugin.places import installed, module_of, plugin_points

from match_kit.testing.capabilities import Capabilities

ATTRIBUTE = "match_conformance"


@dataclass(frozen=True, slots=True)
class Description:
    """Metadata of an installed package: its requirements, long description and licence."""

    requires: tuple[str, ...]
    text: str
    licence: str


def description_of(name: str) -> Description | None:
    """The metadata of an installed package."""
    found = installed(name)
    if found is None or found.metadata is None:
        return None
    fields = {
        key: found.metadata[key] for key in ("License-Expression", "License", "Description") if key in found.metadata
    }
    licence = fields.get("License-Expression") or fields.get("License") or ""
    text = fields.get("Description") or str(found.metadata.json.get("description", ""))
    return Description(tuple(found.requires or ()), text, licence)


def project_of(name: str) -> Path | None:
    """The folder that the package was installed from, if it was a local folder (PEP 610)."""
    found = installed(name)
    text = found.read_text("direct_url.json") if found is not None else None
    url = json.loads(text).get("url", "") if text else ""
    folder = Path(unquote(urlparse(url).path)) if url.startswith("file:") else None
    return folder if folder is not None and folder.is_dir() else None


def capabilities_module(name: str, plugin: str) -> tuple[str, str]:
    """(module, fault) of the capabilities that a hook module names; an empty module if it names none."""
    try:
        module = getattr(import_module(module_of(name, plugin)), ATTRIBUTE, "")
    except Exception as error:  # importing a package may raise anything
        return "", f"{type(error).__name__}: {error}"
    if not module:
        return "", ""
    try:
        found = getattr(import_module(module), "CAPABILITIES", None)
    except Exception as error:  # as above
        return module, f"it cannot be imported: {type(error).__name__}: {error}"
    return module, "" if isinstance(found, Capabilities) else "it has no CAPABILITIES"


def capabilities_of(name: str) -> Capabilities:
    """The package's capabilities; defaults if it declares none or the declaration is broken."""
    for point in plugin_points(name):
        module, why = capabilities_module(name, point.name)
        if module and not why:
            stated: Capabilities = import_module(module).CAPABILITIES
            return stated
    return Capabilities(package=name)
