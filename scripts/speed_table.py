#!/usr/bin/env python3
"""Writes or checks the README's section on speed from the committed result files under benchmarks/results.

One table per file of `tessera bench`: for each device the fastest verified variant of its largest problems, with the
error of the result beside its bound, and where a vendor's library was measured too, conv2d's time beside its. One table
per file of `tessera_overhead`: the library's cost beside the driver; of `tessera_conv2d_opencv`: conv2d beside OpenCV;
and of `pytorch_peer.py`: the same layers by PyTorch.
"""
import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
START, END = "<!-- speed -->", "<!-- end speed -->"
SIZES = (1024, 4096)


def title(name, result):
    commit = result["library"]["commit"]
    return f"Measured {result['date'][:10]}, [{name}](benchmarks/results/{name}), commit {commit}:\n"


def device_name(result, device):
    info = next(entry for entry in result["devices"] if entry["id"] == device)
    kind = "" if info["kind"] == "gpu" else f", {info['compute_units']} threads"
    return f"`{device}` {info['name']} ({info['driver']}{kind})"


def fastest(records):
    verified = [record for record in records if record["status"] == "verified"]
    return max(verified, key=lambda record: record["gflops"], default=None)


def problems_of(result):
    """What the table speaks of: name, and whether a record belongs to it. Of gemm two sizes, else every case."""
    if all(record["operator"] == "gemm" for record in result["records"]):
        for kind in ("float32", "float64"):
            for size in SIZES:
                yield f"{kind}, {size}^3", lambda r, k=kind, s=size: r["type"] == k and r["problem"]["m"] == s
        return
    for case in dict.fromkeys(record["case"] for record in result["records"]):
        yield f"`{case}`", lambda r, c=case: r["case"] == c


def bench_table(name, result):
    lines = [title(name, result), "| device | problem | variant | GFLOP/s | of peak | error / bound |", "|---|---|---|--:|--:|--:|"]
    for device in [entry["id"] for entry in result["devices"]]:
        for problem, belongs in problems_of(result):
            best = fastest(r for r in result["records"] if r["device"] == device and belongs(r))
            if best is None:
                continue
            share = f"{100 * best['peak_share']:.1f} %" if best["peak_share"] is not None else ""
            worst, bound = best["error"]["worst"], best["error"]["bound"]
            lines.append(
                f"| {device_name(result, device)} | {best['operator']} {problem} | `{best['variant']}` | "
                f"{best['gflops']:.0f} | {share} | {worst:.1e} / {bound:.1e} |"
            )
    return "\n".join(lines) + cudnn_table(result)


def cudnn_table(result):
    """conv2d's default on cuda beside cuDNN's float32 on a filter of the same size, in the same run."""
    verified = [r for r in result["records"] if r["operator"] == "conv2d" and r["status"] == "verified"]
    size_of = lambda record: record["problem"]["filter_height"]
    peers = {size_of(r): r for r in verified if r["variant"] == "vendor_cudnn" and not r["case"].endswith("rank1")}
    lines = []
    for record in verified:
        peer = peers.get(size_of(record))
        if peer is None or record["device"] != peer["device"] or record["variant"] not in ("marching", "separable"):
            continue
        if record["variant"] != "separable" and record["case"].endswith("rank1"):
            continue
        ours, theirs = record["device_time_s"]["median"], peer["device_time_s"]["median"]
        lines.append(
            f"| `{record['device']}` | `{record['case']}` | `{record['variant']}` | {ours * 1e6:.1f} us | "
            f"{theirs * 1e6:.1f} us | {theirs / ours:.1f} |"
        )
    if not lines:
        return ""
    head = ["\n", "| device | problem | variant | time | cuDNN, float32 | ratio |", "|---|---|---|--:|--:|--:|"]
    return "\n".join([*head, *lines])


def opencv_table(name, result):
    rates = " and ".join(f"{rate / 1e9:.1f}" for rate in result["triad_bytes_per_s"])
    lines = [
        title(name, result),
        f"4096 x 4096 on {result['machine']['cpu']}, OpenCV {result['opencv']} `filter2D` in float32 on one thread; triad",
        f"with one and two threads {rates} GB/s.\n",
        "| filter | variant | threads | time | OpenCV | ratio | floor |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for record in result["records"]:
        floor = f">= {record['at_least']:g}" if record["at_least"] else ""
        lines.append(
            f"| {record['size']} x {record['size']} | `{record['variant']}`, {record['type']}{' of any value' if record['pixels'] == 'any' else ''} | {record['threads']} | "
            f"{record['ours_s']['median'] * 1e3:.2f} ms | {record['opencv_s']['median'] * 1e3:.2f} ms | "
            f"{record['ratio']:.2f} | {floor} |"
        )
    return "\n".join(lines)


def overhead_table(name, result):
    lines = [title(name, result), "| device | check | library | bare driver | ratio | limit |", "|---|---|--:|--:|--:|--:|"]
    for record in result["records"]:
        limit = f"<= {record['at_most']:g}" if record["at_most"] else f">= {record['at_least']:g}" if record["at_least"] else ""
        if not limit:
            continue
        driver = f"{record['driver_s'] * 1e6:.2f} us" if record["driver_s"] else ""
        ratio = f"{record['ratio']:.3f}" if record["ratio"] else ""
        if record["check"] == "allocate":
            limit = f"<= {record['at_most'] * 1e6:g} us"
        lines.append(
            f"| `{record['device']}` | {record['check']} | {record['library_s'] * 1e6:.2f} us | {driver} | {ratio} | {limit} |"
        )
    return "\n".join(lines)


def pytorch_table(name, result):
    lines = [
        f"PyTorch {result['pytorch']} with cuDNN {result['cudnn']} on an {result['card']}, TF32 off, "
        f"[{name}](benchmarks/results/{name}): the faster of its two layouts\n",
        "| problem | convolution | with bias, ReLU and pool |",
        "|---|--:|--:|",
    ]
    best = {}
    for record in result["records"]:
        if record["operator"] == "conv2d":
            problem = f"conv2d {record['side']} x {record['side']}, {record['filter']} x {record['filter']}"
        else:
            problem = (
                f"cnn_layer {record['inputs']} -> {record['outputs']}, {record['filter']} x {record['filter']}, "
                f"{record['side']} x {record['side']}, batch {record['images']}"
            )
        times = [record["convolution_s"], record.get("chain_s")]
        before = best.setdefault(problem, times)
        best[problem] = [min(a, b) if a is not None else None for a, b in zip(before, times)]
    for problem, times in best.items():
        alone, chain = (f"{time * 1e6:.1f} us" if time is not None else "" for time in times)
        lines.append(f"| {problem} | {alone} | {chain} |")
    return "\n".join(lines)


TABLES = {
    "tessera_overhead": overhead_table,
    "tessera_conv2d_opencv": opencv_table,
    "pytorch_peer": pytorch_table,
}


def render():
    parts = []
    for path in sorted((ROOT / "benchmarks" / "results").glob("*.json")):
        result = json.loads(path.read_text())
        if "studies" in result:  # scripts/study.py writes about these
            continue
        table = TABLES.get(result["tool"], bench_table)
        parts.append(table(path.name, result))
    return "\n\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if the README says otherwise")
    arguments = parser.parse_args()

    path = ROOT / "README.md"
    readme = path.read_text()
    if START not in readme or END not in readme:
        sys.exit(f"README.md has no {START} ... {END}")
    before, rest = readme.split(START)
    written = before + START + "\n" + render() + "\n" + END + rest.split(END)[1]
    if arguments.check and written != readme:
        sys.exit("README.md: the section on speed is not what the files in benchmarks/results say; run scripts/speed_table.py")
    if not arguments.check:
        path.write_text(written)


if __name__ == "__main__":
    main()
