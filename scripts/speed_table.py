#!/usr/bin/env python3
"""Writes or checks what the documents say of speed, from the committed result files under benchmarks/results.

docs/speed.md is written whole: the library's defaults beside other libraries; a table for each file of `tessera bench`; of
`pytorch_peer.py`; and of `tessera_overhead`. The README has the picture of the first of these and its largest problems.
docs/classify.md has how much is right, a row for each file of `tessera classify`.
What a prose document quotes from a file is its author's care.
"""
import argparse
import pathlib
import sys

import speed_picture
import speed_records
import study_tables
from study_tables import seconds

ROOT = pathlib.Path(__file__).resolve().parent.parent
START, END = "<!-- speed -->", "<!-- end speed -->"

HEAD = """# Speed

Written whole by `scripts/speed_table.py` from the newest result file of each machine and kind in
[benchmarks/results](../benchmarks/results); [benchmarks](../benchmarks/README.md) says how a number is made. A file tells
of the commit that it names and of no later one. `scripts/compare.sh` measures your machine. The studies go further:
[gemm](studies/gemm.md), [conv2d](studies/conv2d.md), [cnn_layer](studies/cnn_layer.md),
[kernel_regression](studies/kernel_regression.md), [patch_match](studies/patch_match.md).
"""


def measured(file):
    content = file.content
    return (f"Measured {content['date'][:10]}, [{file.name}](../benchmarks/results/{file.name}), commit "
            f"{content['library']['commit']}.")


def devices_line(content):
    words = []
    for entry in content["devices"]:
        kind = "" if entry["kind"] == "gpu" else f", {speed_records.threads(entry['compute_units'])}"
        words.append(f"`{entry['id']}` {entry['name']} ({entry['driver']}{kind})")
    return "; ".join(words)


def beside_others():
    rows = [[f"`{entry.device}`", entry.place, f"`{entry.case}`", f"`{entry.variant}`", seconds(entry.ours_s),
             entry.rival, seconds(entry.theirs_s), f"{entry.speed:.2f}"]
            for entry in speed_records.comparisons()]
    operators = [entry.operator for entry in speed_records.comparisons()]
    parts = [
        "## Beside other libraries\n",
        "What `device.kernel(problem)` takes by default, and the fastest other library that was measured on the same hardware:",
        "for a device of OpenCL also those that reach its card through CUDA. PyTorch is measured by a program of its own, all",
        "others in the same run. `speed` is the other library's time over ours; above 1 ours is the faster.",
    ]
    for operator in dict.fromkeys(operators):
        ours = [row for row, name in zip(rows, operators) if name == operator]
        parts.append(f"\n### {operator}\n\n" + study_tables.table(
            ["device", "", "problem", "default", "time:", "fastest other", "time:", "speed:"], ours))
    return "\n".join(parts)


def bench_table(file):
    content, rows = file.content, []
    for device in content["devices"]:
        for case in dict.fromkeys(record["case"] for record in content["records"]):
            verified = [record for record in content["records"] if record["status"] == "verified"
                        and record["device"] == device["id"] and record["case"] == case]
            if not verified:
                continue
            best = max(verified, key=lambda record: record["gflops"])
            share = f"{100 * best['peak_share']:.1f} %" if best["peak_share"] is not None else ""
            error = best["error"]
            rows.append([f"`{device['id']}`", f"`{case}`", f"`{best['variant']}`",
                         seconds(best["device_time_s"]["median"]), f"{best['gflops']:.0f}", share,
                         f"{error['worst']:.1e} / {error['bound']:.1e}"])
    table = study_tables.table(["device", "problem", "fastest", "time:", "GFLOP/s:", "of peak:", "error / bound:"], rows)
    return f"### {file.machine}, {file.kind}\n\n{measured(file)} Devices: {devices_line(content)}.\n\n{table}"


def bench_tables():
    return "\n\n".join([
        "## The fastest of each problem\n\n"
        "Of all variants that were verified, other libraries (`vendor_*`) among them. The share is the larger of those of the\n"
        "device's measured multiply-add peak and of its copy bandwidth. `winograd` does with fewer products than the problem's\n"
        "definition has, and float64 of `gemm` on an H200 goes through tensor cores, so both pass the peak.",
        *(bench_table(file) for file in speed_records.of_tool("tessera bench"))])


def pytorch_table(file):
    content, best = file.content, {}
    for record in content["records"]:
        if record["operator"] == "conv2d":
            problem = f"conv2d {record['side']} x {record['side']}, {record['filter']} x {record['filter']}"
        else:
            problem = (f"cnn_layer {record['inputs']} -> {record['outputs']}, {record['filter']} x {record['filter']}, "
                       f"{record['side']} x {record['side']}, batch {record['images']}")
        times = [record["convolution_s"], record.get("chain_s")]
        best[problem] = [min(a, b) if a is not None else None for a, b in zip(best.get(problem, times), times)]
    rows = [[problem, *(f"{time * 1e6:.1f} us" if time is not None else "" for time in times)]
            for problem, times in best.items()]
    return (
        f"## PyTorch\n\nPyTorch {content['pytorch']} with cuDNN {content['cudnn']} on an {content['card']}, TF32 off, "
        f"[{file.name}](../benchmarks/results/{file.name}):\nthe faster of its two layouts.\n\n"
        + study_tables.table(["problem", "convolution:", "with bias, ReLU and pool:"], rows))


def overhead_table(file):
    rows = []
    for record in file.content["records"]:
        if not record["at_most"] and not record["at_least"]:
            continue
        limit = f"<= {record['at_most']:g}" if record["at_most"] else f">= {record['at_least']:g}"
        if record["check"] == "allocate":
            limit = f"<= {record['at_most'] * 1e6:g} us"
        rows.append([
            f"`{record['device']}`", record["check"], f"{record['library_s'] * 1e6:.2f} us",
            f"{record['driver_s'] * 1e6:.2f} us" if record["driver_s"] else "",
            f"{record['ratio']:.3f}" if record["ratio"] else "", limit])
    newest = max(other.content["date"] for other in speed_records.of_tool("tessera bench"))
    age = ("" if file.content["date"] >= newest else
           f" **Older than the results above:** they reach to {newest[:10]}, and what this table says of the library is of "
           f"commit {file.content['library']['commit']} alone.")
    return (
        f"## The library's cost beside the driver\n\n{measured(file)}{age}\nDevices: {devices_line(file.content)}.\n\n"
        + study_tables.table(["device", "check", "library:", "bare driver:", "ratio:", "limit:"], rows))


def page():
    parts = [HEAD, beside_others(), bench_tables()]
    for tool, table in (("pytorch_peer", pytorch_table), ("tessera_overhead", overhead_table)):
        parts += [table(file) for file in speed_records.of_tool(tool)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def largest():
    """The README's table: a row for each operator, and a column for each kind of device with the largest problem in float32
    (the first of equals), where it was fastest."""
    kinds = {"cuda": "CUDA", "opencl": "OpenCL", "cpu": "CPU"}
    best = {}
    for entry in filter(speed_records.is_for_everyone, speed_records.comparisons()):
        cells = best.setdefault(entry.operator, {})
        kind = entry.device.split(":")[0]
        other = cells.get(kind)
        is_faster = other is not None and entry.case == other.case and entry.ours_s < other.ours_s
        if other is None or entry.work > other.work * 1.001 or is_faster:
            cells[kind] = entry
    rows = []
    for operator, cells in best.items():
        case = max(cells.values(), key=lambda entry: entry.work).case
        rows.append([operator, f"`{case}`", *(cell(cells.get(kind), word, case) for kind, word in kinds.items())])
    every = speed_records.comparisons()
    least = min(every, key=lambda entry: entry.speed)
    return study_tables.table(["operator", "problem", *kinds.values()], rows) + (
        f"\n\nOf all {len(every)} comparisons in every type, {sum(entry.speed < 1 for entry in every)} are below 1; the least is "
        f"{least.speed:.2f},\n{least.operator} `{least.case}` on {least.place} beside {least.rival}.")


def cell(entry, kind, case):
    if entry is None:
        return ""
    place = entry.place.removesuffix(f", {kind}")
    other_case = "" if entry.case == case else f"; `{entry.case}`"
    return f"{seconds(entry.ours_s)}, {entry.speed:.2f} x {entry.rival} (`{entry.variant}`, {place}{other_case})"


def accuracy():
    """How much `tessera classify` got right, the hardest way last."""
    files = sorted(speed_records.of_tool("tessera classify"), key=lambda file: -file.content["accuracy"]["share_by_value"])
    rows = []
    for file in files:
        problem, right = file.content["problem"], file.content["accuracy"]
        rows.append([f"{problem['training_rows']:,}", f"{problem['order']:g}", problem["distance"],
                     *(f"{100 * right[name]:.2f} %" for name in ("share_by_value", "share_by_vote")),
                     f"[{file.kind}](../benchmarks/results/{file.name})"])
    return study_tables.table(["training images:", "order:", "distance", "rounded value:", "vote:", "file"], rows)


def between_marks(name, table):
    """The document with what stands between its marks written anew."""
    text = (ROOT / name).read_text()
    if START not in text or END not in text:
        sys.exit(f"{name} has no {START} ... {END}")
    before, rest = text.split(START)
    return before + START + "\n" + table + "\n" + END + rest.split(END)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit code 1 if a document says otherwise, or a result file is not the newest")
    arguments = parser.parse_args()

    older = speed_records.older_files()
    if older:
        sys.exit(f"benchmarks/results: {', '.join(older)}: keeps the newest file of each machine and kind, named "
                 "<machine>-<date>-<kind>.json")
    written = {"README.md": between_marks("README.md", largest()), "docs/speed.md": page(),
               "docs/classify.md": between_marks("docs/classify.md", accuracy()),
               "docs/pictures/speed.svg": speed_picture.picture(speed_records.comparisons())}
    stale = [name for name, text in written.items()
             if not (ROOT / name).exists() or (ROOT / name).read_text() != text]
    if arguments.check and stale:
        sys.exit(f"{', '.join(stale)}: not what benchmarks/results says; run scripts/speed_table.py")
    for name in stale:
        (ROOT / name).write_text(written[name])


if __name__ == "__main__":
    main()
