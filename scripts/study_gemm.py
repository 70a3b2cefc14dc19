"""The study of gemm: its tables, its list of shapes and its pictures."""
import study_pictures
import study_tables
from study_tables import number, seconds, share, table, tuning

# GFLOP/s of the published study, float32 on a Tesla K40c, by the variant that computes the same way. What it found for
# cuBLAS stands beside every vendor's library.
K40C = {"naive": 112.8, "coalesced_a": 186.5, "tiled": 365.7, "vendor": 2363.8}


def preferred_records(result):
    return study_tables.preferred_records(result, "shapes")


def reference_case(result):
    return result["studies"][0]["tiles"][0]["case"]


def steps(result):
    """Every variant at the reference size, beside the study's figure for the same step."""
    rows = []
    records = [record for record in preferred_records(result)
               if record["label"] == reference_case(result) and record["status"] != "unsupported"]
    plain = {record["device"]: record["gflops"] for record in records if record["variant"] == "naive"}
    for device in [entry["id"] for entry in result["devices"]]:
        ours = [record for record in records if record["device"] == device]
        for record in sorted(ours, key=lambda entry: (entry["gflops"] is None, entry["gflops"])):
            name, gflops, cells = record["variant"], record["gflops"], study_tables.speed_cells(record)
            published = K40C.get("vendor" if study_tables.is_vendor(name) else name)
            over_plain = f"{gflops / plain[device]:.2f}" if gflops and plain.get(device) else ""
            rows.append([
                f"`{device}`", f"`{name}`", tuning(record),
                cells["speed"], over_plain, cells["peak"], cells["runs"], cells["error"],
                number(published), f"{published / K40C['naive']:.2f}" if published else "",
            ])
    return table(
        ["device", "variant", "tuning", "GFLOP/s:", "x naive:", "of peak:", "runs:", "error / bound:", "K40c, GFLOP/s:",
         "x naive:"], rows)


def transfers(result):
    kinds = {entry["id"]: entry["kind"] for entry in result["devices"]}
    any_apart = any(kind != "cpu" for kind in kinds.values())
    rows = []
    for record in result["transfers"]:
        side = record["problem"]["m"]
        is_shown = kinds[record["device"]] != "cpu" or not any_apart
        # The sizes between powers of two are for the picture and for the break-even.
        if record["status"] != "verified" or not is_shown or side & (side - 1):
            continue
        times = {part: record[part]["wall_time_s"]["median"] for part in ("upload", "compute", "download", "whole")}
        rate = lambda bytes_key, part: f"{record[bytes_key] / times[part] / 1e9:.1f}"
        away = times["upload"] + times["download"]
        rows.append([
            f"`{record['device']}`", record["host_memory"], record["label"],
            seconds(times["upload"]), rate("upload_bytes", "upload"), seconds(times["compute"]),
            seconds(times["download"]), rate("download_bytes", "download"), seconds(times["whole"]),
            f"{100 * away / (away + times['compute']):.0f} %", number(record["gflops"]), share(record["error"]),
        ])
    return table(
        ["device", "memory", "size", "upload:", "GB/s:", "compute:", "download:", "GB/s:", "whole:", "copies:",
         "GFLOP/s, whole:", "error / bound:"], rows)


def break_even(result):
    found = result["studies"][0]["break_even"]
    if not found:
        return "No device of this run has memory of its own, so there is no break-even size to tell."
    rows = []
    for entry in found:
        rows.append([
            f"`{entry['device']}`", entry["host_memory"], f"`{entry['rival']}`",
            f"from {entry['wins_from']} on" if entry["wins_from"] else "at no size measured",
            f"at {entry['loses_at']}" if entry["loses_at"] else "at no size measured",
        ])
    return table(["device, copies counted", "memory", "against, no copies", "wins", "loses last"], rows)


# The published study's plain loops, GFLOP/s by block on a Tesla K40c.
K40C_NAIVE = {"4x4": 15.9, "8x8": 59.8, "16x16": 109.8, "32x32": 112.8}
BLOCKS = ("4x4", "8x8", "16x16", "32x32", "32x8")


def block_text(settings):
    """The block of a tuning: "16x16", of naive's two sides or an edge."""
    return f"{settings['block_columns']}x{settings['block_rows']}" if "block_rows" in settings else "{0}x{0}".format(
        settings["tile"])


def blocks(result):
    """GFLOP/s of the study's three kernels over blocks."""
    speeds = {}
    for entry in result["studies"][0].get("blocks", []):
        speeds.setdefault((entry["device"], entry["variant"]), {})[block_text(entry["tuning"])] = entry["gflops"]
    if not speeds:
        return study_tables.NOT_MEASURED
    rows = [["Tesla K40c, as published", "`naive`"] + [number(K40C_NAIVE.get(block)) for block in BLOCKS]]
    for (device, variant), by_block in speeds.items():
        best = max(speed for speed in by_block.values() if speed)
        rows.append([f"`{device}`", f"`{variant}`"] + [
            ("**{}**" if by_block[block] == best else "{}").format(number(by_block[block])) if by_block.get(block) else ""
            for block in BLOCKS])
    return table(["device", "variant"] + [f"{block.replace('x', ' x ')}:" for block in BLOCKS], rows)


def prediction(result):
    """What bytes and the copy rate promise, beside what came."""
    rows = []
    for entry in result["studies"][0].get("prediction", []) + result["studies"][0].get("prediction_by_block", []):
        rows.append([
            f"`{entry['device']}`", f"`{entry['variant']}`", tuning(entry), f"{entry['bytes_per_product']:.3g}",
            f"{entry['copy_gbytes_per_s']:.0f}", number(entry["predicted_gflops"]), number(entry["gflops"]),
            f"{entry['gflops'] / entry['predicted_gflops']:.2f}",
        ])
    if not rows:
        return study_tables.NOT_MEASURED
    unique = [list(row) for row in dict.fromkeys(tuple(row[:6]) for row in rows)]
    rows = [next(row for row in rows if row[:6] == key) for key in unique]
    order = [entry["id"] for entry in result["devices"]]
    rows.sort(key=lambda row: order.index(row[0].strip("`")))
    return table(["device", "variant", "tuning", "bytes a product:", "copy, GB/s:", "predicted, GFLOP/s:", "GFLOP/s:",
                  "of predicted:"], rows)


# What computes float32 products with which rounding: the device's kind of backend, the variant and the accuracy.
PRECISIONS = {
    "cuBLAS": ("cuda:0", "vendor_cublas", "accurate"),
    "`register`": ("cuda:0", "register", "accurate"),
    "`split`": ("cuda:0", "split", "accurate"),
    "`split`, OpenCL": ("opencl:0", "split", "accurate"),
    "`scaled_half`": ("cuda:0", "scaled_half", "fast"),
    "cuBLAS, TF32": ("cuda:0", "vendor_cublas", "fast"),
}


def precision_records(result, values):
    """The verified records of the part `precision` with these values, by precision and size."""
    found = {}
    for record in result["records"]:
        problem = record["problem"]
        if record.get("part") != "precision" or record["status"] != "verified" or problem.get("values") != values:
            continue
        for name, key in PRECISIONS.items():
            if key == (record["device"], record["variant"], problem["accuracy"]):
                found.setdefault(name, {})[problem["m"]] = record
    return found


def precision(result):
    """Time and worst error of cuBLAS in float32, and what the others make of them."""
    by_values = {values: precision_records(result, values) for values in ("symmetric", "positive")}
    others = [name for name in list(PRECISIONS)[1:] if any(name in found for found in by_values.values())]
    rows = []
    for values, found in by_values.items():
        data = {"symmetric": "both signs"}.get(values, values)
        for size, peer in sorted(found.get("cuBLAS", {}).items()):
            row = [f"{size}^3", data, seconds(peer["device_time_s"]["median"]), f"{peer['error']['worst']:.1e}"]
            for name in others:
                record = found.get(name, {}).get(size)
                row.append("{:.2f} x, {:.3g}".format(peer["device_time_s"]["median"] / record["device_time_s"]["median"],
                                                     record["error"]["worst"] / peer["error"]["worst"]) if record else "")
            rows.append(row)
    if not rows:
        return study_tables.NOT_MEASURED
    return table(["size", "values", "cuBLAS:", "worst error:"] + [f"{name}:" for name in others], rows)


def precision_curves(result, title, value_of, base_up, tick_up):
    """A picture of the part `precision`: of each way to compute, whole lines for values of both signs, dashed positive ones."""
    names = list(PRECISIONS)
    series = []
    for values, dashes in (("symmetric", ""), ("positive", "7 4")):
        for name, by_size in precision_records(result, values).items():
            points = [(size, value_of(record)) for size, record in by_size.items()]
            label = name.replace("`", "") + (", positive" if dashes else "")
            series.append(study_pictures.Curve(label, points, names.index(name), dashes))
    return study_pictures.curves(title, series, "m = n = k", base_up, tick_up)


def tables(result):
    return {
        "source": study_tables.source(result),
        "steps": steps(result),
        "tiles": study_tables.tiles(result),
        "scores": study_tables.scores(result, "shapes"),
        "default_choice": study_tables.default_choice(result, "shapes"),
        "transfers": transfers(result),
        "break_even": break_even(result),
        "blocks": blocks(result),
        "prediction": prediction(result),
        "precision": precision(result),
        "profile": study_tables.profile(result, {}),
    }


def pages(result):
    """All shapes of all devices: a page of its own, generated whole."""
    parts = study_tables.every_case(
        result, preferred_records(result), "m x n x k", "# The study of gemm: every shape",
        "GFLOP/s by the median device time; the fastest of a row is bold, and the error is the row's worst as a share of "
        "its bound. Written by `scripts/study.py`; [gemm.md](gemm.md) says what it means.")
    return {"gemm_shapes.md": "\n\n".join(parts) + "\n"}


def bars(result):
    """Every variant at the reference size, a group for each device, the published figures first."""
    groups = [("Tesla K40c, as published", list(K40C.items()))]
    case = reference_case(result)
    records = [record for record in preferred_records(result) if record["label"] == case]
    groups += study_pictures.device_groups(result, records)
    return study_pictures.bars(f"gemm float32, {case}: GFLOP/s, logarithmic; vendors' libraries grey", groups)


def curves(result):
    """Wall time by size: with the copies for devices with memory of their own, without them for CPUs."""
    kinds = {entry["id"]: entry["kind"] for entry in result["devices"]}
    series = {}
    for record in result["transfers"]:
        if record["status"] != "verified":
            continue
        size, device = record["problem"]["m"], record["device"]
        times = {part: record[part]["wall_time_s"]["median"] for part in ("compute", "whole")}
        if kinds[device] == "cpu":
            series.setdefault((device, "run alone"), []).append((size, times["compute"]))
            continue
        series.setdefault((device, f"with copies, {record['host_memory']} memory"), []).append((size, times["whole"]))
        if record["host_memory"] == "pinned":
            series.setdefault((device, "run alone"), []).append((size, times["compute"]))
    devices = list(dict.fromkeys(device for device, _ in series))
    dashes = lambda kind: "2 4" if "ordinary" in kind else "7 4" if "pinned" in kind else ""
    curves = [study_pictures.Curve(f"{device} {kind}", points, devices.index(device), dashes(kind))
              for (device, kind), points in series.items()]
    return study_pictures.curves("gemm float32: what a program waits for, wall time by size", curves, "m = n = k",
                                 base_up=10, tick_up=seconds)


def pictures(result):
    drawn = {"gemm_variants.svg": bars(result), "gemm_transfers.svg": curves(result)}
    if precision_records(result, "symmetric"):
        drawn["gemm_precision_speed.svg"] = precision_curves(
            result, "gemm float32 on one GPU: TFLOP/s by size", lambda record: record["gflops"] / 1000, 2, "{:g}".format)
        drawn["gemm_precision_error.svg"] = precision_curves(
            result, "gemm float32 on one GPU: worst error by size, values below 1", lambda record: record["error"]["worst"], 10,
            "{:.0e}".format)
    return drawn
