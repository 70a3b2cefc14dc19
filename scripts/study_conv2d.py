"""The study of conv2d: its tables, its list of sizes and its pictures."""
import study_conv2d_parts as parts
import study_pictures
import study_tables
from study_tables import number, seconds, table, tuning

REFERENCE = "4096^2 7x7"
# The published study's three versions for a CPU, by the variants that compute the same way, and what is ours beyond them.
VERSIONS = ("accumulate", "private_sum", "unrolled")
THREADED = VERSIONS + ("marching",)
# How much faster than the step before, and its largest speed-up over one thread, as published.
PUBLISHED_STEP = {"private_sum": "at least 1.4 x `accumulate`", "tiled": "2 to 2.8 x `naive`"}
PUBLISHED_SPEED_UP = {"accumulate": "5.2, 8 threads"}
# What the speed of each variant is compared with: the plain loops of a GPU, the first version of a CPU.
PLAIN = ("naive", "accumulate")


def preferred_records(result, part="sizes"):
    return study_tables.preferred_records(result, part)


def device_ids(result):
    return [entry["id"] for entry in result["devices"]]


def steps(result):
    """Every variant on the largest image with the largest filter, beside what the study found for the same step."""
    rows = []
    records = [record for record in preferred_records(result)
               if record["label"] == REFERENCE and record["status"] != "unsupported"]
    for device in device_ids(result):
        ours = [record for record in records if record["device"] == device]
        plain = next((record["gflops"] for record in ours if record["variant"] in PLAIN), None)
        for record in sorted(ours, key=lambda entry: (entry["gflops"] is None, entry["gflops"])):
            cells, gflops = study_tables.speed_cells(record), record["gflops"]
            rows.append([
                f"`{device}`", f"`{record['variant']}`", tuning(record),
                seconds(record["device_time_s"]["median"]) if gflops else "", cells["speed"],
                f"{gflops / plain:.2f}" if gflops and plain else "", cells["peak"], cells["runs"],
                PUBLISHED_STEP.get(record["variant"], ""),
            ])
    return table(["device", "variant", "tuning", "time:", "GFLOP/s:", "x plain:", "of peak:", "runs:", "the study"], rows)


def thread_rows(result, cases=None):
    """Device by device and case by case, from the first version on."""
    rows = [row for row in result["studies"][0]["threads"]
            if row["variant"] in THREADED and (cases is None or row["case"] in cases)]
    order = {key: place for place, key in enumerate(dict.fromkeys((row["device"], row["case"]) for row in rows))}
    return sorted(rows, key=lambda row: (order[row["device"], row["case"]], THREADED.index(row["variant"])))


def thread_table(rows):
    numbers = sorted({int(threads) for row in rows for threads in row["seconds"]})
    cells = [[
        f"`{row['device']}`", row["case"], f"`{row['variant']}`",
        *(seconds(row["seconds"][str(n)]) if str(n) in row["seconds"] else "" for n in (numbers[0], numbers[-1])),
        *(f"{row['speed_up'][str(n)]:.2f}" if str(n) in row["speed_up"] else "" for n in numbers[1:]),
    ] for row in rows]
    header = [f"{numbers[0]} thread:", f"{numbers[-1]} threads:"] + [f"speed-up, {n}:" for n in numbers[1:]]
    return table(["device", "case", "variant"] + header, cells)


def threads(result):
    """Speed-ups on the largest image."""
    rows = thread_rows(result, [REFERENCE])
    return thread_table(rows) if rows else "No device of this run can be opened with fewer threads than it has."


def most_speed_up(result):
    """The largest speed-up of each version over all sizes and numbers of threads."""
    best = {}
    for row in thread_rows(result):
        for threads, speed_up in row["speed_up"].items():
            key = (row["device"], row["variant"])
            if key not in best or speed_up > best[key][0]:
                best[key] = (speed_up, int(threads), row["case"])
    rows = [[f"`{device}`", f"`{variant}`", f"{speed_up:.2f}", str(threads), case, PUBLISHED_SPEED_UP.get(variant, "")]
            for (device, variant), (speed_up, threads, case) in sorted(
                best.items(), key=lambda entry: (entry[0][0], THREADED.index(entry[0][1])))]
    return table(["device", "variant", "most speed-up:", "threads:", "case", "the study, at most"], rows)


def times_of(result, case, threads_of):
    """Seconds by device and variant; `threads_of` chooses among the numbers of threads of a row."""
    return {(row["device"], row["variant"]): row["seconds"][threads_of(row["seconds"], key=int)]
            for row in thread_rows(result, [case])}


def versions(result):
    """Each version over the one before, with one thread and with all."""
    cases = list(dict.fromkeys(row["case"] for row in thread_rows(result)))
    rows = []
    for device in dict.fromkeys(row["device"] for row in thread_rows(result)):
        for case in cases:
            cells = [f"`{device}`", case]
            for threads_of in (min, max):
                times = times_of(result, case, threads_of)
                for before, after in zip(THREADED, THREADED[1:]):
                    slow, fast = times.get((device, before)), times.get((device, after))
                    cells.append(f"{slow / fast:.2f}" if slow and fast else "")
            rows.append(cells)
    names = ["v1 : v2", "v2 : v3", "v3 : `marching`"]
    return table(["device", "case"] + [f"{name}, 1 thread:" for name in names] + [f"{name}, all:" for name in names], rows)


def executors(result):
    """The time of the static partition over that of oneTBB, with all threads."""
    rows = []
    for case in dict.fromkeys(row["case"] for row in thread_rows(result)):
        times = times_of(result, case, max)
        ratios = [(times.get(("cpu:1", variant)), times.get(("cpu:0", variant))) for variant in THREADED]
        rows.append([case] + [f"{static / tbb:.2f}" if static and tbb else "" for static, tbb in ratios])
    return table(["case"] + [f"`{variant}`:" for variant in THREADED], rows)


def types(result):
    """Times on the largest image in both types, and with filters of rank 1."""
    sizes = [record for record in preferred_records(result) if record["label"].startswith("4096^2")]
    records = [record for record in sizes + preferred_records(result, "types") if record["gflops"]]
    shown = ("separable", "separable_lanes", "separable_bands", "marching", "marching_lanes", "marching_bands", "unrolled",
             "tiled", "naive")
    vendors = sorted({record["variant"] for record in records if study_tables.is_vendor(record["variant"])})
    variants = [name for name in (*shown, *vendors) if any(record["variant"] == name for record in records)]
    rows = []
    for device in device_ids(result):
        ours = [record for record in records if record["device"] == device]
        for label in dict.fromkeys(record["label"] for record in ours):
            row = {record["variant"]: record["device_time_s"]["median"] for record in ours if record["label"] == label}
            name = label if len(label.split()) > 2 else f"{label} int32"
            best = min(row.values())
            cells = [seconds(row[variant]) if variant in row else "" for variant in variants]
            rows.append([f"`{device}`", name] + [
                f"**{cell}**" if row.get(variant) == best else cell for variant, cell in zip(variants, cells)])
    return table(["device", "case"] + [f"`{variant}`:" for variant in variants], rows)


# What the published study told of its two GPU kernels.
PROFILED = {
    ("naive", "block_columns=16 block_rows=16 down_columns=1"): "10 % of throughput", "tiled": "89 % of throughput",
}


def tables(result):
    return {
        "source": study_tables.source(result),
        "steps": steps(result),
        "threads": threads(result),
        "most_speed_up": most_speed_up(result),
        "versions": versions(result),
        "executors": executors(result),
        "tiles": study_tables.tiles(result),
        "types": types(result),
        "scores": study_tables.scores(result, "cases"),
        "default_choice": study_tables.default_choice(result, "cases"),
        "blocks": parts.blocks(result),
        "gain_of_tile": parts.gain_of_tile(result),
        "curves": parts.curves(result),
        "misses": parts.misses(result),
        "profile": study_tables.profile(result, PROFILED),
    }


def pages(result):
    """All sizes of all devices, and all numbers of threads: a page of its own, generated whole."""
    text = study_tables.every_case(
        result, preferred_records(result), "image, filter", "# The study of conv2d: every size",
        "int32, border `same`. GFLOP/s by the median device time, each product and sum an operation; the fastest of a row "
        "is bold. Written by `scripts/study.py`; [conv2d.md](conv2d.md) says what it means.")
    rows = thread_rows(result)
    if rows:
        text.append("## Threads\n\n" + thread_table(rows))
    if parts.curve_rows(result):
        text.append("## Curves\n\nBorder `valid`, 3 x 3: time and, in brackets, speed-up over one thread, by the number of "
                     "threads.\n\n" + parts.every_curve(result))
    return {"conv2d_sizes.md": "\n\n".join(text) + "\n"}


def bars(result):
    """Every variant at the reference size, a group for each device."""
    records = [record for record in preferred_records(result) if record["label"] == REFERENCE]
    return study_pictures.bars(f"conv2d int32, {REFERENCE}: GFLOP/s, logarithmic",
                               study_pictures.device_groups(result, records))


def speed_ups(result):
    """Speed-up over threads on the largest image: a colour for each version, dashes for the static partition."""
    rows = thread_rows(result, [REFERENCE])
    most = max(int(threads) for row in rows for threads in row["speed_up"])
    series = [study_pictures.Curve("as many as threads", [(1, 1), (most, most)], 7, "2 4")]
    for row in rows:
        points = [(int(threads), speed_up) for threads, speed_up in row["speed_up"].items()]
        series.append(study_pictures.Curve(f"{row['device']} {row['variant']}", points, THREADED.index(row["variant"]),
                                           "7 4" if row["device"] == "cpu:1" else ""))
    return study_pictures.curves(f"conv2d int32, {REFERENCE}: speed-up over one thread; static partition dashed", series, "threads", base_up=2,
                                 tick_up=lambda tick: f"{tick:g}")


def pictures(result):
    found = {"conv2d_variants.svg": bars(result)}
    if thread_rows(result, [REFERENCE]):
        found["conv2d_threads.svg"] = speed_ups(result)
    if any(row["new_threads"] for row in parts.curve_rows(result)):
        found["conv2d_curves.svg"] = parts.drawn_curves(result)
    return found
