[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "${distribution}"
version = "0.1.0"
description = "Target ${name} for match"
readme = "README.md"
requires-python = ">=3.10"
license = "Apache-2.0"
dependencies = ["match-core>=${core_version},<${core_bound}", ${requires}"numpy>=1.26"]

[project.optional-dependencies]
test = ["match-core[testing]"]

[project.entry-points."match.plugins"]
${name} = "${module}.plugin"

[tool.hatch.build.targets.wheel]
packages = ["src/${module}"]
