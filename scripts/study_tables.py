"""What the documents of all studies share: numbers as text, and tables from a result file of `tessera bench --study`.
Formats what the tool concluded; the only arithmetic here is unit conversion and ratios within a row."""

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


# In the place of a table whose part of the study no committed file has.
NOT_MEASURED = "Not measured yet."


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


def error_share(error):
    return error["worst"] / error["bound"] if error["bound"] else 0


def share(error):
    """The error as a share of its bound; "exact" where the bound is 0 and so is the error."""
    if not error:
        return ""
    return f"{error_share(error):.1g}" if error["bound"] else "exact"


def link(name, folder="../../"):
    return f"[{name}]({folder}benchmarks/results/{name})"


def source(result, folder="../../"):
    """Where the figures are from: the oldest file that is still used, then what was measured since."""
    lines = []
    for name, run in result["files"]:
        devices = "; ".join(f"`{entry['id']}` {entry['name']} ({entry['driver']})" for entry in run["devices"])
        machine, parts = run["machine"], run["studies"][0].get("parts", [])
        if run.get("interrupted"):  # older files name all that was wanted
            measured = {record.get("part") for record in run["records"]}
            parts = [part for part in parts if part in measured]
        since = "" if not lines else "Later, the " + ("part" if len(parts) == 1 else "parts") + " "
        since += ", ".join(f"`{part}`" for part in parts) + ": measured" if lines else "Measured"
        remarks = ""
        if run.get("note"):
            remarks += f" **Note of whoever measured:** {run['note']}."
        if not any(entry["kind"] == "gpu" for entry in run["devices"]):
            remarks += " **No device of this run is a GPU:** it shows what the study tells, and little about speeds."
        lines.append(
            f"{since} {run['date'][:10]}, {link(name, folder)}, commit "
            f"{run['library']['commit']}, on a machine with {machine['threads']} hardware threads of "
            f"{machine['cpu']}. Devices: {devices}.{remarks}")
    return "\n\n".join(lines)


def percent(share):
    return f"{100 * share:.0f} %" if share is not None else ""


# What a wait is called, in plain words; ncu's word where there is none.
WAITS = {
    "long_scoreboard": "memory", "short_scoreboard": "shared memory", "mio_throttle": "shared memory's queue",
    "lg_throttle": "memory's queue", "math_pipe_throttle": "arithmetic unit", "barrier": "barrier",
    "not_selected": "another warp's turn", "wait": "fixed delay", "branch_resolving": "branch", "dispatch_stall": "dispatch",
    "no_instruction": "instruction fetch", "imc_miss": "constant cache", "tex_throttle": "texture queue",
    "membar": "memory barrier", "drain": "stores at the end", "sleeping": "sleep", "misc": "other",
}


def profile(result, published):
    """What the hardware did, a row for each kernel of each variant. `published`: what a study told of its own, by variant,
    or by variant and the tuning's words; {} of a study that told nothing of the kind."""
    if not result["profiles"]:
        return "Not profiled yet: `scripts/profile_gpu.sh` measures it."
    name, run = result["profiles"][0]
    rows = []
    for entry in run["profiles"]:
        if entry["operator"] != result["studies"][0]["operator"]:
            continue
        settings = tuning(entry)
        for kernel in entry["kernels"]:
            waits = ", ".join(f"{WAITS.get(stall['reason'], stall['reason'])} {percent(stall['share'])}"
                              for stall in kernel["stalls"])
            rows.append([
                f"`{entry['variant']}`" + (f" {settings}" if settings else ""),
                f"`{kernel['kernel'].removeprefix('tessera_' + entry['operator'] + '_')}`",
                seconds(kernel["seconds"]) if kernel["seconds"] else "",
                f"{percent(kernel['achieved_occupancy'])} of {percent(kernel['theoretical_occupancy'])}",
                percent(kernel["compute_share"]), percent(kernel["memory_share"]), percent(kernel["dram_share"]),
                percent(kernel["l1_hit_rate"]), percent(kernel["l2_hit_rate"]), waits,
                *([published.get((entry["variant"], settings), published.get(entry["variant"], ""))] if published else []),
            ])
    header = ["variant", "kernel", "time:", "occupancy:", "of compute:", "of memory:", "of device memory:", "L1 hits:",
              "L2 hits:", "warps wait for"] + (["the study"] if published else [])
    origin = ", ".join(sorted({entry["ncu"] for entry in run["profiles"] if entry["ncu"]}))
    return f"{link(name)}, {run['date'][:10]}, ncu {origin}.\n\n{table(header, rows)}"


def preferred_records(result, part):
    """One record for each device, case and variant of a part: that with the preferred tuning, which comes first."""
    seen = {}
    for record in result["records"]:
        if record.get("part") == part:
            seen.setdefault((record["device"], record["case"], record["variant"]), record)
    return list(seen.values())


def speed_cells(record):
    """GFLOP/s or what stands in its place, the share of the peak, and the error."""
    gflops = record["gflops"]
    return {
        "speed": number(gflops) if gflops else record["status"],
        "peak": f"{100 * record['peak_share']:.1f} %" if record["peak_share"] else "",
        "runs": str(record["device_time_s"]["count"]) if gflops else "",
        "error": share(record["error"]),
    }


def tiles(result):
    """GFLOP/s by tuning value; with a column for the case where there are several."""
    entries = [entry for entry in result["studies"][0]["tiles"] if not entry["is_vendor"]]
    # "8", or "64x128" where a tunable exists in pairs with another: those behind the others.
    sides = lambda value: (value.count("x"), [int(side) for side in value.split("x")])
    values = sorted({value for entry in entries for value in entry["gflops"]}, key=sides)
    several = len({entry["case"] for entry in entries}) > 1
    rows = []
    for entry in entries:
        if entry["tunable"] is None:
            continue
        best = max((speed for speed in entry["gflops"].values() if speed), default=None)
        cells = []
        for value in values:
            speed = entry["gflops"].get(value)
            text = number(speed) if speed else "skipped" if value in entry["gflops"] else ""
            cells.append(f"**{text}**" if speed and speed == best else text)
        case = [entry["case"]] if several else []
        rows.append([f"`{entry['device']}`", *case, f"`{entry['variant']}`", entry["tunable"]] + cells)
    case = ["case"] if several else []
    return table(["device", *case, "variant", "tunable"] + [f"{value}:" for value in values], rows)


def scores(result, cases):
    """`cases` is what the study's cases are called: "shapes"."""
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
                f"{entry['worst_error_over_bound']:.1g}" if entry["worst_error_over_bound"] else "exact",
            ])
    return table(
        ["device", "variant", f"{cases}:", "GFLOP/s, mean:", "least to most:", "of best own, mean:", "fastest in:",
         "error / bound:"], rows)


def default_choice(result, cases):
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
    return table(["device", "the default over", f"{cases}:", "mean:", "least:", "where", "kept"], rows)


def list_of_cases(result, records, variants_of, first_column):
    """For each device a table of GFLOP/s with a row for each case and a column for each variant that has one."""
    parts = []
    for device in result["studies"][0]["devices"]:
        ours = [record for record in records if record["device"] == device["device"]]
        variants = variants_of(device)
        rows = []
        for case in dict.fromkeys(record["case"] for record in ours):
            row = {record["variant"]: record for record in ours if record["case"] == case}
            speeds = [record["gflops"] for record in row.values() if record["gflops"]]
            cells = []
            for variant in variants:
                speed = row[variant]["gflops"] if variant in row else None
                cells.append(f"**{number(speed)}**" if speed and speed == max(speeds) else number(speed))
            errors = [record["error"] for record in row.values() if record["gflops"]]
            worst = max(errors, key=error_share, default=None)
            rows.append([next(iter(row.values()))["label"]] + cells + [share(worst)])
        header = [first_column] + [f"`{variant}`:" for variant in variants] + ["error / bound:"]
        parts.append(f"## `{device['device']}`\n\n{table(header, rows)}")
    return parts


def every_case(result, records, first_column, title, meaning):
    """The parts of a page with all cases of all devices, which is generated whole."""
    measured = lambda device: [entry["variant"] for entry in device["variants"] if entry["measured"]]
    return [title, meaning, source(result)] + list_of_cases(result, records, measured, first_column)


def largest_measured(result, part):
    """The preferred records of a part, of each device, type and variant the last that was measured: cases are in ascending
    order, and a variant that is too slow for the largest has a smaller one."""
    chosen = {}
    for record in preferred_records(result, part):
        key = (record["device"], record["type"], record["variant"])
        if record["status"] != "unsupported" and (record["gflops"] or key not in chosen):
            chosen[key] = record
    return list(chosen.values())


def by_type_and_speed(records):
    """The slowest of each type first, what was not measured behind it."""
    types = list(dict.fromkeys(record["type"] for record in records))
    return sorted(records, key=lambda record: (types.index(record["type"]), record["gflops"] is None, record["gflops"]))


def by_tunable(entries, cases):
    """GFLOP/s by tuning value: a table for each tunable. `cases` is what the column of cases is called."""
    parts = []
    for tunable in dict.fromkeys(entry["tunable"] for entry in entries):
        ours = [entry for entry in entries if entry["tunable"] == tunable and any(entry["gflops"].values())]
        values = sorted({value for entry in ours for value in entry["gflops"]},
                        key=lambda value: [int(side) for side in value.split("x")])
        rows = []
        for entry in ours:
            best = max(speed for speed in entry["gflops"].values() if speed)
            cells = []
            for value in values:
                speed = entry["gflops"].get(value)
                text = number(speed) if speed else "skipped" if value in entry["gflops"] else ""
                cells.append(f"**{text}**" if speed and speed == best else text)
            rows.append([f"`{entry['device']}`", f"`{entry['variant']}`", entry["case"]] + cells)
        if rows:
            header = ["device", "variant", cases] + [f"{value}:" for value in values]
            parts.append(f"`{tunable}`:\n\n" + table(header, rows))
    return "\n\n".join(parts)


def times_over(result, part, size_of):
    """Times by the number that a part is over: a row for each device, type and variant."""
    records = [record for record in preferred_records(result, part) if record["gflops"]]
    sizes = sorted({size_of(record) for record in records})
    rows = []
    for key in dict.fromkeys((record["device"], record["variant"], record["type"]) for record in records):
        cells = {size_of(record): seconds(record["device_time_s"]["median"]) for record in records
                 if (record["device"], record["variant"], record["type"]) == key}
        rows.append([f"`{key[0]}`", f"`{key[1]}`", key[2]] + [cells.get(size, "") for size in sizes])
    return table(["device", "variant", "type"] + [f"{size}:" for size in sizes], rows)
