#!/usr/bin/env python3
"""Builds the recipe beside this file with py-rattler-build, as far as that goes without network: it renders all of the
recipe; then it builds the package without the packages that it requires, so that its script takes compilers and
libraries of the system, with those of its tests that look at the package's contents.

    packaging/conda/build.py RECIPE FOLDER      needs patchelf on the PATH
"""

import json
import os
import sys

import rattler_build

COMPILERS = {"c_compiler": ["gcc"], "swift_compiler": ["swift"], "c_stdlib": ["sysroot"]}


def main():
    recipe, folder = sys.argv[1:]
    stage0 = rattler_build.Stage0Recipe.from_file(recipe)
    for variant in stage0.render(rattler_build.VariantConfig(COMPILERS)):
        print("requires", json.dumps(variant.recipe.requirements.to_dict()))

    parts = stage0.to_dict()
    parts["requirements"] = {"ignore_run_exports": {}}
    parts["tests"] = [test for test in parts["tests"] if "package_contents" in test]
    alone = os.path.join(os.path.dirname(recipe), "alone.yaml")
    with open(alone, "w", encoding="utf-8") as file:
        json.dump(parts, file)
    results = rattler_build.Stage0Recipe.from_file(alone).run_build(
        tool_config=rattler_build.ToolConfiguration(test_strategy="native"),
        output_dir=folder,
        channels=[],
        env_isolation=rattler_build.EnvironmentIsolation.NONE,
    )
    for result in results:
        print(*result.log, *result.packages, sep="\n")
    if [result.name for result in results] != ["libsdd"]:
        sys.exit("there is no package")


main()
