#!/usr/bin/env python3
"""Writes or checks the generated parts of docs/studies from the committed result files of `tessera bench --study`.

For each document docs/studies/<operator>.md: everything between <!-- NAME --> and <!-- end NAME -->, and the pages and
pictures beside it, from the newest benchmarks/results/*-study.json that holds its study. What they say is in
scripts/study_<operator>.py.
"""
import argparse
import importlib
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"
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


def writer(operator):
    """The module that writes about an operator's study; None if there is none."""
    is_there = (SCRIPTS / f"study_{operator}.py").exists()
    return importlib.import_module(f"study_{operator}") if is_there else None


def generated(document, module):
    """Every file that belongs to the document, with the text that it must have."""
    path, result = newest(document.stem)
    tables = module.tables(path.name, result)

    def filled(match):
        name = match["name"]
        if name not in tables:
            sys.exit(f"{document.name}: there is no table '{name}', there are: {', '.join(tables)}")
        return f"<!-- {name} -->\n{tables[name]}\n<!-- end {name} -->"

    files = {document: MARKED.sub(filled, document.read_text())}
    for name, text in {**module.pages(path.name, result), **module.pictures(result)}.items():
        files[STUDIES / name] = text
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
            operator = study["operator"]
            for name, table in writer(operator).tables(path.name, of_operator(result, operator)).items():
                print(f"{operator}, {name}\n\n{table}\n")
        return
    stale = []
    for document in sorted(STUDIES.glob("*.md")):
        module = writer(document.stem)
        if module is None:  # a page that another document's module writes
            continue
        for path, text in generated(document, module).items():
            if path.exists() and path.read_text() == text:
                continue
            stale.append(str(path.relative_to(ROOT)))
            if not arguments.check:
                path.write_text(text)
    if arguments.check and stale:
        sys.exit(f"{', '.join(stale)}: not what benchmarks/results says; run scripts/study.py")


if __name__ == "__main__":
    main()
