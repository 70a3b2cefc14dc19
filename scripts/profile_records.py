#!/usr/bin/env python3
"""Adds what NVIDIA's ncu measured of one variant to a result file of profiles: occupancy, shares of the peaks, hit rates
and the three largest reasons why warps waited. Reads the table that `ncu --csv --page raw` writes."""
import argparse
import csv
import datetime
import json
import pathlib
import re
import sys

# A figure's name here, and ncu's. The first that ncu has is taken.
PERCENT = {
    "achieved_occupancy": ("sm__warps_active.avg.pct_of_peak_sustained_active",),
    "theoretical_occupancy": ("sm__maximum_warps_per_active_cycle_pct",),
    "compute_share": ("sm__throughput.avg.pct_of_peak_sustained_elapsed",),
    "memory_share": ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
                     "gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed"),
    "dram_share": ("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                   "dram__throughput.avg.pct_of_peak_sustained_elapsed"),
    "l1_hit_rate": ("l1tex__t_sector_hit_rate.pct",),
    "l2_hit_rate": ("lts__t_sector_hit_rate.pct",),
}
TIME = "gpu__time_duration.sum"
SECONDS = {"nsecond": 1e-9, "ns": 1e-9, "usecond": 1e-6, "us": 1e-6, "msecond": 1e-3, "ms": 1e-3, "second": 1, "s": 1}
STALL = re.compile(r"smsp__average_warps_issue_stalled_(?P<reason>[a-z_]+?)_per_issue_active")
# No stalls: a warp that issues.
ISSUED = "selected"
SHOWN_STALLS = 3


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def rows_of(path):
    """The table's rows as dictionaries, and the units of its columns."""
    lines = [line for line in path.read_text().splitlines() if line.startswith('"')]
    table = list(csv.reader(lines))
    if len(table) < 3:
        sys.exit(f"{path} holds no profile: did the kernels run on another device, or may the counters not be read?")
    header, units = table[0], dict(zip(table[0], table[1]))
    return [dict(zip(header, row)) for row in table[2:]], units


def stalls(row):
    """Shares of the time that a warp takes for an instruction, the largest first."""
    cycles = {}
    for name, text in row.items():
        found, value = STALL.match(name), number(text)
        if found and value is not None:
            cycles[found["reason"]] = value
    whole = sum(cycles.values())
    waits = sorted(((value, reason) for reason, value in cycles.items() if reason != ISSUED), reverse=True)
    return [{"reason": reason, "share": value / whole} for value, reason in waits[:SHOWN_STALLS] if whole and value]


def kernel_of(row, units):
    kernel = {"kernel": row.get("Kernel Name", ""), "grid": row.get("Grid Size", ""), "block": row.get("Block Size", "")}
    duration = number(row.get(TIME, ""))
    kernel["seconds"] = duration * SECONDS.get(units.get(TIME, ""), 1e-9) if duration is not None else None
    for name, metrics in PERCENT.items():
        values = [number(row[metric]) for metric in metrics if row.get(metric)]
        kernel[name] = values[0] / 100 if values and values[0] is not None else None
    kernel["stalls"] = stalls(row)
    return kernel


def profile_of(path):
    """The first launch of each kernel."""
    rows, units = rows_of(path)
    kernels = {}
    for row in rows:
        kernels.setdefault(row.get("Kernel Name", ""), kernel_of(row, units))
    return list(kernels.values()), rows[0].get("CC", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operator", required=True)
    parser.add_argument("--variant", required=True, help="naive, or naive:down_columns=1")
    parser.add_argument("--device", required=True)
    parser.add_argument("--problem", required=True)
    parser.add_argument("--ncu", default="", help="its version")
    parser.add_argument("--json", required=True, help="the file to add to")
    parser.add_argument("table", type=pathlib.Path)
    arguments = parser.parse_args()

    kernels, capability = profile_of(arguments.table)
    path = pathlib.Path(arguments.json)
    result = json.loads(path.read_text()) if path.exists() else {"tool": "scripts/profile_gpu.sh", "profiles": []}
    result["date"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    name, _, settings = arguments.variant.partition(":")
    tuning = dict(pair.split("=") for pair in settings.split(",")) if settings else {}
    entry = {"operator": arguments.operator, "variant": name,
             "tuning": {key: int(value) for key, value in tuning.items()}, "device": arguments.device,
             "problem": arguments.problem, "compute_capability": capability, "ncu": arguments.ncu, "kernels": kernels}
    same = lambda other: all(other[key] == entry[key] for key in ("operator", "variant", "tuning", "device", "problem"))
    result["profiles"] = [other for other in result["profiles"] if not same(other)] + [entry]
    path.write_text(json.dumps(result, indent=1) + "\n")
    for kernel in kernels:
        print(f"{arguments.operator} {arguments.variant}: {kernel}")


if __name__ == "__main__":
    main()
