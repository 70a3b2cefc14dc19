"""The tables of docs/studies, from a result file of `tessera bench --study`. Formats what the tool concluded; the only
arithmetic here is unit conversion and ratios within a row."""

# GFLOP/s of the published study of gemm, float32 on a Tesla K40c, by the variant that computes the same way. What it
# found for cuBLAS stands beside every vendor's library.
K40C = {"naive": 112.8, "coalesced_a": 186.5, "tiled": 365.7, "vendor": 2363.8}


def number(value):
    """Four significant digits at most, without an exponent."""
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def seconds(value):
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def is_vendor(variant):
    return variant.startswith("vendor_")


def table(header, rows):
    """A Markdown table; a column whose name ends with ':' is aligned right."""
    names = [name.rstrip(":") for name in header]
    rules = ["--:" if name.endswith(":") else "---" for name in header]
    lines = ["| " + " | ".join(names) + " |", "|" + "|".join(rules) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def tuning(record):
    return " ".join(f"{name}={value}" for name, value in record["tuning"].items())


def share(error):
    return f"{error['worst'] / error['bound']:.1g}" if error and error["bound"] else ""


def source(name, result, folder="../../"):
    devices = "; ".join(f"`{entry['id']}` {entry['name']} ({entry['driver']})" for entry in result["devices"])
    machine = result["machine"]
    remarks = ""
    if result.get("note"):
        remarks += f"\n\n**Note of whoever measured:** {result['note']}."
    if not any(entry["kind"] == "gpu" for entry in result["devices"]):
        remarks += "\n\n**No device of this run is a GPU:** it shows what the study tells, and little about speeds."
    return (
        f"Measured {result['date'][:10]}, [{name}]({folder}benchmarks/results/{name}), commit "
        f"{result['library']['commit']}, on a machine with {machine['threads']} hardware threads of "
        f"{machine['cpu']}. Devices: {devices}.{remarks}"
    )


def preferred_records(result):
    """One record for each device, shape and variant: that with the preferred tuning, which comes first."""
    seen = {}
    for record in result["records"]:
        if record.get("part") == "shapes":
            seen.setdefault((record["device"], record["case"], record["variant"]), record)
    return list(seen.values())


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
            name, gflops = record["variant"], record["gflops"]
            published = K40C.get("vendor" if is_vendor(name) else name)
            over_plain = f"{gflops / plain[device]:.2f}" if gflops and plain.get(device) else ""
            rows.append([
                f"`{device}`", f"`{name}`", tuning(record),
                number(gflops) if gflops else record["status"], over_plain,
                f"{100 * record['peak_share']:.1f} %" if record["peak_share"] else "",
                str(record["device_time_s"]["count"]) if gflops else "",
                share(record["error"]),
                number(published), f"{published / K40C['naive']:.2f}" if published else "",
            ])
    return table(
        ["device", "variant", "tuning", "GFLOP/s:", "x naive:", "of peak:", "runs:", "error / bound:", "K40c, GFLOP/s:",
         "x naive:"], rows)


def tiles(result):
    entries = [entry for entry in result["studies"][0]["tiles"] if not entry["is_vendor"]]
    values = sorted({int(value) for entry in entries for value in entry["gflops"]})
    rows = []
    for entry in entries:
        if entry["tunable"] is None:
            continue
        best = max((speed for speed in entry["gflops"].values() if speed), default=None)
        cells = []
        for value in values:
            speed = entry["gflops"].get(str(value))
            text = number(speed) if speed else "skipped" if str(value) in entry["gflops"] else ""
            cells.append(f"**{text}**" if speed and speed == best else text)
        rows.append([f"`{entry['device']}`", f"`{entry['variant']}`", entry["tunable"]] + cells)
    return table(["device", "variant", "tunable"] + [f"{value}:" for value in values], rows)


def scores(result):
    rows = []
    for device in result["studies"][0]["devices"]:
        for entry in device["variants"]:
            if entry["measured"] == 0:
                continue
            ratio = entry["to_best_own"]
            rows.append([
                f"`{device['device']}`", f"`{entry['variant']}`", f"{entry['measured']} of {device['cases']}",
                number(entry["geometric_mean_gflops"]),
                f"{number(entry['least_gflops'])} to {number(entry['most_gflops'])}",
                f"{ratio['geometric_mean']:.3f}" if ratio else "", str(entry["fastest"]),
                f"{entry['worst_error_over_bound']:.1g}",
            ])
    return table(
        ["device", "variant", "shapes:", "GFLOP/s, mean:", "least to most:", "of best own, mean:", "fastest in:",
         "error / bound:"], rows)


def default_choice(result):
    rows = []
    for device in result["studies"][0]["devices"]:
        pairs = [("the library's best", device["default_to_best_own"])]
        if device["default_to_vendor"]:
            pairs.append(("the best of all", device["default_to_best_of_all"]))
        pairs += [(f"`{vendor}`", ratio) for vendor, ratio in device["default_to_vendor"].items()]
        for name, ratio in pairs:
            if not ratio:
                continue
            verdict = ""
            if name == "the library's best":
                verdict = "yes" if device["kept"] else f"no, below {device['least_allowed']}"
            rows.append([
                f"`{device['device']}`", name, str(ratio["cases"]), f"{ratio['geometric_mean']:.3f}",
                f"{ratio['least']:.3f}", ratio["least_case"], verdict,
            ])
    return table(["device", "the default over", "shapes:", "mean:", "least:", "where", "kept"], rows)


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


def tables(name, result):
    return {
        "source": source(name, result),
        "steps": steps(result),
        "tiles": tiles(result),
        "scores": scores(result),
        "default_choice": default_choice(result),
        "transfers": transfers(result),
        "break_even": break_even(result),
    }


def shapes_page(operator, name, result):
    """All shapes of all devices: a page of its own, generated whole."""
    parts = [
        f"# The study of {operator}: every shape",
        f"GFLOP/s by the median device time; the fastest of a row is bold, and the error is the row's worst as a share of "
        f"its bound. Written by `scripts/study.py`; [{operator}.md]({operator}.md) says what it means.",
        source(name, result),
    ]
    records = preferred_records(result)
    for device in result["studies"][0]["devices"]:
        ours = [record for record in records if record["device"] == device["device"]]
        variants = [entry["variant"] for entry in device["variants"] if entry["measured"]]
        rows = []
        for case in dict.fromkeys(record["case"] for record in ours):
            row = {record["variant"]: record for record in ours if record["case"] == case}
            speeds = [record["gflops"] for record in row.values() if record["gflops"]]
            cells = []
            for variant in variants:
                speed = row[variant]["gflops"] if variant in row else None
                cells.append(f"**{number(speed)}**" if speed and speed == max(speeds) else number(speed))
            errors = [record["error"] for record in row.values() if record["gflops"]]
            worst = max(errors, key=lambda error: error["worst"] / error["bound"], default=None)
            rows.append([next(iter(row.values()))["label"]] + cells + [share(worst)])
        header = ["m x n x k"] + [f"`{variant}`:" for variant in variants] + ["error / bound:"]
        parts.append(f"## `{device['device']}`\n\n{table(header, rows)}")
    return "\n\n".join(parts) + "\n"
