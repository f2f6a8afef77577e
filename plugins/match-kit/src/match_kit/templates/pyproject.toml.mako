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
dependencies = [
% for package in ("core", "host", "quant", "schedule", "map", *requires, "report", "verify", "python"):
  "match-${package}>=${core_version},<${core_bound}",
% endfor
  "numpy>=1.26",
]

[project.optional-dependencies]
test = ["match-kit[testing]>=${core_version},<${core_bound}"]

[project.entry-points."match.plugins"]
${name} = "${module}.plugin"

[tool.hatch.build.targets.wheel]
packages = ["src/${module}"]
