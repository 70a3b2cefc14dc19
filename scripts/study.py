#!/usr/bin/env python3
"""Writes or checks the generated parts of docs/studies from the committed result files of `tessera bench --study`.

For each document docs/studies/<operator>.md: everything between <!-- NAME --> and <!-- end NAME -->, the list of shapes
beside it (<operator>_shapes.md) and the pictures, from the newest benchmarks/results/*-study.json that holds its study.
"""
import argparse
import json
import pathlib
import re
import sys

import study_pictures
import study_tables

ROOT = pathlib.Path(__file__).resolve().parent.parent
STUDIES = ROOT / "docs" / "studies"
RESULTS = ROOT / "benchmarks" / "results"
MARKED = re.compile(r"<!-- (?P<name>[a-z_]+) -->\n.*?<!-- end (?P=name) -->", re.DOTALL)


def of_operator(result, operator):
    """The part of a result file that is about one operator; None if its study is not in it."""
    studies = [study for study in result.get("studies", []) if study["operator"] == operator]
    if not studies:
        return None
    ours = {name: [entry for entry in result[name] if entry["operator"] == operator] for name in ("records", "transfers")}
    return {**result, **ours, "studies": studies}


def newest(operator):
    """The path and content of the newest result file with this operator's study."""
    results = []
    for path in RESULTS.glob("*-study.json"):
        result = of_operator(json.loads(path.read_text()), operator)
        if result:
            results.append((path, result))
    if not results:
        sys.exit(f"benchmarks/results holds no study of {operator}")
    return max(results, key=lambda entry: entry[1]["date"])


def generated(document):
    """Every file that belongs to the document, with the text that it must have."""
    operator = document.stem
    path, result = newest(operator)
    tables = study_tables.tables(path.name, result)

    def filled(match):
        name = match["name"]
        if name not in tables:
            sys.exit(f"{document.name}: there is no table '{name}', there are: {', '.join(tables)}")
        return f"<!-- {name} -->\n{tables[name]}\n<!-- end {name} -->"

    files = {document: MARKED.sub(filled, document.read_text())}
    files[STUDIES / f"{operator}_shapes.md"] = study_tables.shapes_page(operator, path.name, result)
    for name, picture in study_pictures.pictures(result).items():
        files[STUDIES / f"{operator}_{name}.svg"] = picture
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file says otherwise")
    parser.add_argument("--print", metavar="FILE", help="print the tables of this result file and write nothing")
    arguments = parser.parse_args()

    if arguments.print:
        path = pathlib.Path(arguments.print)
        result = json.loads(path.read_text())
        for study in result["studies"]:
            for name, table in study_tables.tables(path.name, of_operator(result, study["operator"])).items():
                print(f"{study['operator']}, {name}\n\n{table}\n")
        return
    stale = []
    for document in sorted(STUDIES.glob("*.md")):
        if document.stem.endswith("_shapes"):
            continue
        for path, text in generated(document).items():
            if path.exists() and path.read_text() == text:
                continue
            stale.append(str(path.relative_to(ROOT)))
            if not arguments.check:
                path.write_text(text)
    if arguments.check and stale:
        sys.exit(f"{', '.join(stale)}: not what benchmarks/results says; run scripts/study.py")


if __name__ == "__main__":
    main()
