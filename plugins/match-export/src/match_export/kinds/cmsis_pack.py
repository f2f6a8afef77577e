"""A CMSIS-Pack: its files, the description ``match.NAME.pdsc``, and both in ``match.NAME.RELEASE.pack``.

Layout: Open-CMSIS-Pack specification 1.7, "Pack description format". The archive has a fixed time, so that the same
program gives the same bytes.
"""

from __future__ import annotations

import io
import zipfile
from xml.etree import ElementTree

from match_export.program import ExportProgram

VENDOR = "match"
SCHEMA_VERSION = "1.7.36"
_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
_EPOCH = (1980, 1, 1, 0, 0, 0)


def cmsis_pack(program: ExportProgram) -> dict[str, bytes]:
    """The files by path."""
    files = program.laid_out()
    files["examples/main.c"] = program.example.encode("utf-8")
    files[f"{VENDOR}.{program.name}.pdsc"] = _description(program)
    return {**files, f"{VENDOR}.{program.name}.{program.release}.pack": _archive(files)}


def _description(program: ExportProgram) -> bytes:
    ElementTree.register_namespace("xs", _INSTANCE)
    schema = "https://raw.githubusercontent.com/Open-CMSIS-Pack/Open-CMSIS-Pack-Spec/v1.7.36/schema/PACK.xsd"
    root = ElementTree.Element("package", {"schemaVersion": SCHEMA_VERSION})
    root.set(f"{{{_INSTANCE}}}noNamespaceSchemaLocation", schema)
    for tag, text in (
        ("vendor", VENDOR),
        ("name", program.name),
        ("description", program.sentence),
        ("url", ""),
    ):
        ElementTree.SubElement(root, tag).text = text
    releases = ElementTree.SubElement(root, "releases")
    ElementTree.SubElement(releases, "release", {"version": program.release}).text = program.sentence
    components = ElementTree.SubElement(root, "components")
    kind = {"Cclass": "Machine Learning", "Cgroup": "Network", "Csub": program.name, "Cversion": program.release}
    component = ElementTree.SubElement(components, "component", kind)
    ElementTree.SubElement(component, "description").text = program.sentence
    listed = ElementTree.SubElement(component, "files")
    for folder in ("include/", "src/"):
        ElementTree.SubElement(listed, "file", {"category": "include", "name": folder})
    for name in program.headers:
        ElementTree.SubElement(listed, "file", {"category": "header", "name": f"include/{name}"})
    for name in program.sources:
        ElementTree.SubElement(listed, "file", {"category": "sourceC", "name": f"src/{name}"})
    for name in program.data:
        ElementTree.SubElement(listed, "file", {"category": "other", "name": f"data/{name}"})
    ElementTree.SubElement(
        listed, "file", {"category": "sourceC", "attr": "template", "name": "examples/main.c", "select": "Inference"}
    )
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _archive(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.external_attr = 0o644 << 16
            archive.writestr(info, files[name], zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
