#!/usr/bin/env python3
"""Writes or checks the generated parts of docs/studies from the committed result files of `tessera bench --study`.

For each document docs/studies/<operator>.md: everything between <!-- NAME --> and <!-- end NAME -->, the list of shapes
beside it (<operator>_shapes.md) and the pictures, from the newest benchmarks/results/*-<operator>-study.json.
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


def newest(operator):
    """The path and content of the newest result file of this operator's study."""
    results = [(path, json.loads(path.read_text())) for path in RESULTS.glob(f"*-{operator}-study.json")]
    if not results:
        sys.exit(f"benchmarks/results holds no *-{operator}-study.json")
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
        for name, table in study_tables.tables(path.name, json.loads(path.read_text())).items():
            print(f"{name}\n\n{table}\n")
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
