#!/usr/bin/env python3
"""Writes or checks the table in docs/support.md of operators, backends and variants from what `tessera verify --json` or
the conformance tests (results/ in their build folder) found.

A variant stands in the table if at least one of its cases passed and none failed. Variants named vendor_* are left out:
whether they run depends on which libraries the machine has, and so are those of NOT_EVERYWHERE. Only columns of backends that the
result files speak of are written or checked: a machine without a GPU says nothing about cuda.
"""
import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# [(backend, what the names of its devices begin with)]
LISTED = [line.split()[:2] for line in (ROOT / "backends" / "backends.txt").read_text().splitlines()
          if line and not line.startswith("#")]
BACKEND_OF_DEVICE = {prefix: backend for backend, prefix in LISTED}
# Variants that are left out because they need an extension that few machines have.
NOT_EVERYWHERE = {("gemm", "cpu_tbb", "split")}  # AMX-BF16
START, END = "<!-- support -->", "<!-- end support -->"
UNKNOWN = "not verified yet"


def records_of(document):
    """(operator, backend, variant, status) of each case in a file of `tessera verify`, or of the conformance tests."""
    for record in document.get("records", []):
        yield record["operator"], record["backend"], record["variant"], record["status"]
    for suite in document.get("testsuites", []):
        operator, device, *variant = suite["name"].split("/")  # gemm/cpu_0/tiled, or with /slow behind
        if not variant:
            continue  # speaks of all variants of a device
        for test in suite["testsuite"]:
            status = "failed" if test.get("failures") else "skipped" if test["result"] == "SKIPPED" else "passed"
            yield operator, BACKEND_OF_DEVICE[device.split("_")[0]], variant[0], status


def read_results(paths):
    """{operator: {backend: {variant: set of statuses}}}, variants in the order in which the backend lists them."""
    found = {}
    for path in paths:
        for operator, backend, variant, status in records_of(json.loads(pathlib.Path(path).read_text())):
            variants = found.setdefault(operator, {}).setdefault(backend, {})
            variants.setdefault(variant, set()).add(status)
    return found


def cell(operator, backend, variants):
    right = [
        f"`{name}`"
        for name, statuses in variants.items()
        if "passed" in statuses and "failed" not in statuses and not name.startswith("vendor_")
        and (operator, backend, name) not in NOT_EVERYWHERE
    ]
    return ", ".join(right) or "none"


def read_table(document):
    """The columns' backends, and {operator: {backend: cell}} as it stands in the document. Columns keep their place, and a
    backend that is new in the list stands behind them."""
    if START not in document or END not in document:
        sys.exit(f"docs/support.md has no {START} ... {END}")
    columns, table = [], {}
    for line in document.split(START)[1].split(END)[0].splitlines():
        cells = [part.strip() for part in line.strip().strip("|").split("|")]
        if line.startswith("| operator |"):
            columns = [part.strip("`") for part in cells[1:]]
        elif line.startswith("| `"):
            table[cells[0].strip("`")] = dict(zip(columns, cells[1:]))
    names = [backend for backend, _ in LISTED]
    kept = [backend for backend in columns if backend in names]
    return kept + [backend for backend in names if backend not in kept], table


def render(columns, table):
    lines = ["| operator | " + " | ".join(f"`{backend}`" for backend in columns) + " |", "|---" * (1 + len(columns)) + "|"]
    for operator in sorted(table):
        cells = (table[operator].get(backend, UNKNOWN) for backend in columns)
        lines.append(f"| `{operator}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if the document says otherwise")
    parser.add_argument("results", nargs="+", metavar="FILE",
                        help="result files of tessera verify --json, or of the conformance tests")
    arguments = parser.parse_args()

    path = ROOT / "docs" / "support.md"
    document = path.read_text()
    columns, table = read_table(document)
    differences = 0
    for operator, backends in read_results(arguments.results).items():
        for backend, variants in backends.items():
            if backend not in columns:
                continue
            row = table.setdefault(operator, {})
            if row.get(backend, UNKNOWN) != cell(operator, backend, variants):
                differences += 1
                print(f"{operator} on {backend}: docs/support.md says {row.get(backend, UNKNOWN)}, found "
                      f"{cell(operator, backend, variants)}")
            row[backend] = cell(operator, backend, variants)
    if arguments.check:
        sys.exit(1 if differences else 0)
    before, rest = document.split(START)
    path.write_text(before + START + "\n" + render(columns, table) + "\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
