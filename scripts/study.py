#!/usr/bin/env python3
"""Writes or checks the generated parts of docs/studies from the committed result files.

For each document docs/studies/<operator>.md: everything between <!-- NAME --> and <!-- end NAME -->, and the pages and
pictures beside it. Each part of a study is from the newest benchmarks/results/*-study.json that holds it, what the hardware
did from the newest *-profile.json (scripts/profile_gpu.sh), misses of caches from the newest *-misses.json
(scripts/count_misses.py). What is written is in scripts/study_<operator>.py.
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


def files_with(pattern, key, operator):
    """The names and contents of the result files whose list `key` holds something of the operator, the newest first."""
    found = []
    for path in RESULTS.glob(pattern):
        result = json.loads(path.read_text())
        if any(entry["operator"] == operator for entry in result.get(key, [])):
            found.append((path.name, result))
    return sorted(found, key=lambda entry: entry[1]["date"], reverse=True)


def joined(older, newer):
    """A newer file's conclusions in the place of an older one's, device by device; a dictionary's entries each for itself."""
    if isinstance(older, dict) and isinstance(newer, dict):
        return {**older, **{key: joined(older.get(key), value) for key, value in newer.items()}}
    is_by_device = lambda value: isinstance(value, list) and all(isinstance(entry, dict) and "device" in entry for entry in value)
    if is_by_device(older) and is_by_device(newer):
        renewed = {entry["device"] for entry in newer}
        return [entry for entry in older if entry["device"] not in renewed] + newer
    return newer


def merged(operator):
    """What all files together say about an operator's study: each part of it, and each conclusion, from the newest file
    that has it, so that a part can be measured again alone, on another machine too. Whole studies of other machines than
    the newest one's tell only what else nobody does. Also what was profiled and counted."""
    files = [(name, of_operator(result, operator)) for name, result in files_with("*-study.json", "studies", operator)]
    if not files:
        sys.exit(f"benchmarks/results holds no study of {operator}")
    machine_of = lambda name: name.split("-", 1)[0]  # h200-2026-11-22-gemm-study.json
    is_whole = lambda result: "devices" in result["studies"][0]
    whole_study = next((name for name, result in files if is_whole(result)), files[0][0])
    counts = lambda name, result: machine_of(name) == machine_of(whole_study) or not is_whole(result)
    others = [entry for entry in files if not counts(*entry)]
    files = [entry for entry in files if counts(*entry)]
    study, records, devices, origin = {}, {}, {}, {}
    for name, result in reversed(files):
        for key, value in result["studies"][0].items():
            older = study.get(key)
            study[key] = joined(older, value)
            # What is left of an older file's list keeps that file among those that are told.
            keeps = isinstance(older, list) and any(entry in study[key] for entry in older if isinstance(entry, dict))
            origin[key] = (origin.get(key, set()) if keeps else set()) | {name}
        parts = {record.get("part") for record in result["records"]}
        for part in parts:
            records[part] = [record for record in result["records"] if record.get("part") == part]
            origin[f"part {part}"] = {name}
        if result["transfers"]:
            study["transfers"], origin["transfers"] = result["transfers"], {name}
        told_anew = lambda entry: entry["id"] not in devices or machine_of(name) == machine_of(whole_study)
        devices.update({entry["id"]: entry for entry in result["devices"] if told_anew(entry)})
    for name, result in others:
        for key, value in result["studies"][0].items():
            if key not in study:
                study[key], origin[key] = value, {name}
    told = set().union(*origin.values())
    used = sorted(((name, result) for name, result in files + others if name in told), key=lambda entry: entry[1]["date"],
                  reverse=True)
    order = [entry["id"] for _, result in reversed(files) for entry in result["devices"]]
    whole = {**files[-1][1], "studies": [study], "transfers": study.pop("transfers", [])}
    whole["records"] = [record for part in records.values() for record in part]
    whole["devices"] = [devices[name] for name in dict.fromkeys(order)]
    whole["files"] = [(name, result) for name, result in reversed(used)]
    whole["profiles"] = files_with("*-profile.json", "profiles", operator)[:1]
    whole["misses"] = files_with("*-misses.json", "misses", operator)[:1]
    return whole


def writer(operator):
    """The module that writes about an operator's study; None if there is none."""
    is_there = (SCRIPTS / f"study_{operator}.py").exists()
    return importlib.import_module(f"study_{operator}") if is_there else None


def generated(document, module):
    """Every file that belongs to the document, with the text that it must have."""
    result = merged(document.stem)
    tables = module.tables(result)

    def filled(match):
        name = match["name"]
        if name not in tables:
            sys.exit(f"{document.name}: there is no table '{name}', there are: {', '.join(tables)}")
        return f"<!-- {name} -->\n{tables[name]}\n<!-- end {name} -->"

    shown = {match["name"] for match in MARKED.finditer(document.read_text())}
    # A table of a header and a rule has nothing to tell: what it is about was not measured.
    hidden = [name for name, text in tables.items() if name not in shown and len(text.splitlines()) > 2]
    if hidden:
        sys.exit(f"{document.name} does not show {', '.join(hidden)}: write <!-- NAME --> and <!-- end NAME --> there")
    files = {document: MARKED.sub(filled, document.read_text())}
    for name, text in {**module.pages(result), **module.pictures(result)}.items():
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
            ours = of_operator(result, operator)
            alone = {**ours, "files": [(path.name, ours)], "profiles": [], "misses": []}
            for name, table in writer(operator).tables(alone).items():
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
