#!/usr/bin/env python3
"""Counts, with Valgrind's Cachegrind, what the CPU's three versions of conv2d read and write, and what of it misses the
first- and the last-level cache, also of the first two with an output that a pass before has filled with zeros, and writes
a result file that scripts/study.py shows. One thread; the caches are simulated with the sizes given, not this machine's,
so that the counts are the same everywhere. A run is the difference between a process that runs twice and one that runs
once."""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The library's three, then loops of the probe's own whose output a pass before has filled with zeros.
VERSIONS = ("accumulate", "private_sum", "unrolled", "filled_accumulate", "filled_private_sum")
COUNTS = re.compile(r"(D +refs|D1 +misses|LLd misses): +[0-9,]+ +\( *(?P<read>[0-9,]+) rd +\+ +(?P<write>[0-9,]+) wr\)")
NAMES = {"D refs": "references", "D1 misses": "first_level", "LLd misses": "last_level"}
RESULT = re.compile(r"result (?P<sum>[0-9]+) with (?P<set>.*)")


def count(arguments, variant, side, filter_side, runs):
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", f"--D1={arguments.first_level}",
               f"--LL={arguments.last_level}", "--cachegrind-out-file=/dev/null", str(arguments.probe), variant, str(side),
               str(filter_side), str(runs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, "TESSERA_BACKENDS": "cpu_tbb"})
    text = done.stdout + done.stderr
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {text}")
    found = {re.sub(" +", " ", match[1]): match for match in COUNTS.finditer(text)}
    plain = lambda digits: int(digits.replace(",", ""))
    counts = {NAMES[name]: {"read": plain(match["read"]), "write": plain(match["write"])} for name, match in found.items()}
    return counts, RESULT.search(text)


def one_run(arguments, variant, side, filter_side):
    once, first = count(arguments, variant, side, filter_side, 1)
    twice, second = count(arguments, variant, side, filter_side, 2)
    if first["sum"] != second["sum"]:
        sys.exit(f"{variant}: two runs gave two results")
    apart = {name: {way: twice[name][way] - once[name][way] for way in ("read", "write")} for name in once}
    return {"operator": "conv2d", "variant": variant, "side": side, "filter": filter_side, "sum": first["sum"],
            "instruction_set": first["set"], **apart}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probe", type=pathlib.Path, help="default: build/*/bin/tessera_data_reads_probe")
    parser.add_argument("--first-level", default="32768,8,64", help="bytes, ways, bytes of a line (default: %(default)s)")
    parser.add_argument("--last-level", default="8388608,16,64", help="the same (default: %(default)s)")
    parser.add_argument("--image", action="append", metavar="SIDE,FILTER", help="default: 2048,3, 1024,7 and 2048,7")
    parser.add_argument("--json", required=True)
    arguments = parser.parse_args()
    if arguments.probe is None:
        probes = sorted(ROOT.glob("build/*/bin/tessera_data_reads_probe"))
        if not probes:
            sys.exit("there is no build/*/bin/tessera_data_reads_probe; name one with --probe")
        arguments.probe = probes[0]
    misses = []
    for image in arguments.image or ["2048,3", "1024,7", "2048,7"]:
        side, filter_side = (int(text) for text in image.split(","))
        entries = [one_run(arguments, variant, side, filter_side) for variant in VERSIONS]
        if len({entry["sum"] for entry in entries}) != 1:
            sys.exit(f"{image}: the versions' results differ")
        misses += entries
    version = subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    result = {"tool": "scripts/count_misses.py", "date": datetime.datetime.now(datetime.timezone.utc).strftime(
        "%Y-%m-%dT%H:%M:%SZ"), "valgrind": version, "first_level": arguments.first_level,
        "last_level": arguments.last_level, "misses": misses}
    pathlib.Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
