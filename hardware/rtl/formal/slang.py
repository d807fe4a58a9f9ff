"""Elaborates and lints a top level with slang. Arguments: top, parameters as NAME=VALUE separated by spaces, files."""

import sys

import pyslang

top, parameters, *files = sys.argv[1:]
driver = pyslang.driver.Driver()
driver.addStandardArgs()
# Casts and shifts that have no effect at some parameters have one at others.
warnings = "-Wextra -Wconversion -Wno-useless-cast -Wno-shift-count-overflow -Werror"
values = " ".join(f"-G {parameter}" for parameter in parameters.split())
arguments = f"slang --top {top} {warnings} {values} " + " ".join(files)
passed = driver.parseCommandLine(arguments) and driver.processOptions() and driver.parseAllSources()
sys.exit(0 if passed and driver.runFullCompilation(True) else 1)
