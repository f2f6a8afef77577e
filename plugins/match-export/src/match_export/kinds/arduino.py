"""An Arduino library: ``library.properties``, sources in ``src``, a sketch in ``examples``.

Layout: Arduino library specification, revision 2.2. The build compiles every file in ``src`` with options of the board;
the sources themselves refuse or undo those that change results (match_float.h).
"""

from __future__ import annotations

from match_export.program import ExportProgram

_PROPERTIES = """\
name={name}
version={release}
author=match
maintainer=match
sentence={sentence}.
paragraph=The caller owns all memory. {name}.h states sizes, types and scales of all inputs and outputs.
category=Data Processing
url=https://onnx.ai
architectures=*
includes={name}.h
"""
_SKETCH = """\
/* SPDX-License-Identifier: Apache-2.0 */
/* One inference in the loop; the result of the program, 0 if it ran, goes to the serial port. */
#include <{name}.h>

extern "C" int {name}_example(void);

void setup()
{{
    Serial.begin(115200);
}}

void loop()
{{
    Serial.println({name}_example());
    delay(1000);
}}
"""


def arduino_package(program: ExportProgram) -> dict[str, bytes]:
    """The files by path. The application is a C file beside the sketch, with another name for its main."""
    view = {"name": program.name, "release": program.release, "sentence": program.sentence}
    example = f"examples/{program.name}_example"
    main = f"int {program.name}_example(void)"
    body = program.example.replace("int main(void)", f"{main};\n\n{main}")
    files = {
        "library.properties": _PROPERTIES.format(**view),
        f"{example}/{program.name}_example.ino": _SKETCH.format(**view),
        f"{example}/inference.c": body,
    }
    return {**program.laid_out(include="src"), **{name: text.encode("utf-8") for name, text in files.items()}}
