"""The study of conv2d: its tables, its list of sizes and its pictures."""
import study_pictures
import study_tables
from study_tables import number, seconds, table, tuning

REFERENCE = "4096^2 7x7"
NOT_MEASURED = study_tables.NOT_MEASURED
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


def block_text(settings):
    """The block of a tuning: "16x16", of naive's two sides or tiled's edge."""
    return f"{settings['block_columns']}x{settings['block_rows']}" if "block_rows" in settings else "{0}x{0}".format(
        settings["tile"])


def block_times(result):
    """Seconds by (device, case), kernel and block."""
    found = {}
    for entry in result["studies"][0].get("blocks", []):
        down = entry["tuning"].get("down_columns")
        kernel = "tiled" if down is None else "naive, down" if down else "naive, across"
        found.setdefault((entry["device"], entry["case"]), {}).setdefault(kernel, {})[block_text(entry["tuning"])] = entry[
            "seconds"]
    return found


BLOCKS = ("8x8", "16x16", "32x32", "32x8")


def blocks(result):
    """Times of the study's two kernels over blocks, the plain one in both directions."""
    rows = []
    for (device, case), kernels in block_times(result).items():
        for kernel in ("naive, across", "naive, down", "tiled"):
            times = kernels.get(kernel, {})
            known = [value for value in times.values() if value]
            if known:
                rows.append([f"`{device}`", case, kernel] + [
                    ("**{}**" if times[block] == min(known) else "{}").format(seconds(times[block]))
                    if times.get(block) else "" for block in BLOCKS])
    if not rows:
        return NOT_MEASURED
    return table(["device", "case", "kernel"] + [f"{block.replace('x', ' x ')}:" for block in BLOCKS], rows)


def gain_of_tile(result):
    """How many times as fast `tiled` is as each direction of `naive`, block by block."""
    rows = []
    for (device, case), kernels in block_times(result).items():
        for direction in ("across", "down"):
            plain, tile = kernels.get(f"naive, {direction}", {}), kernels.get("tiled", {})
            gains = [plain[block] / tile[block] if plain.get(block) and tile.get(block) else None for block in BLOCKS[:3]]
            if any(gains):
                rows.append([f"`{device}`", case, direction] + [f"{gain:.2f}" if gain else "" for gain in gains] + [
                    "2 to 2.8" if case.endswith("7x7") else ""])
    if not rows:
        return NOT_MEASURED
    return table(["device", "case", "neighbouring threads of `naive`"] + [
        f"{block.replace('x', ' x ')}:" for block in BLOCKS[:3]] + ["the study"], rows)


def curve_rows(result):
    """Size by size: the study's three versions, with a standing pool and with new threads."""
    rows = result["studies"][0].get("curves", [])
    cases = list(dict.fromkeys(row["case"] for row in rows))
    place = lambda row: (cases.index(row["case"]), VERSIONS.index(row["variant"]), row["device"], row["new_threads"])
    return sorted(rows, key=place)


def threads_of(row):
    return f"`{row['device']}`, " + ("created for each run" if row["new_threads"] else "a standing pool")


def curves(result):
    """The most speed-up of each version and size, and how it ends beyond the processors."""
    rows = []
    for row in curve_rows(result):
        best = max(row["speed_up"], key=lambda count: row["speed_up"][count])
        last = max(row["speed_up"], key=int)
        rows.append([row["case"].split()[0], f"`{row['variant']}`", threads_of(row), seconds(row["seconds"]["1"]),
                     seconds(row["seconds"][best]), f"{row['speed_up'][best]:.2f}", best, f"{row['speed_up'][last]:.2f}", last])
    if not rows:
        return NOT_MEASURED
    return table(["size", "version", "threads", "1 thread:", "fastest:", "speed-up:", "with:", "speed-up at last:",
                  "with:"], rows)


def every_curve(result):
    """All numbers of threads, for the page of all sizes."""
    found = curve_rows(result)
    numbers = sorted({int(count) for row in found for count in row["seconds"]})
    rows = [[row["case"].split()[0], f"`{row['variant']}`", threads_of(row)] + [
        f"{seconds(row['seconds'][str(n)])} ({row['speed_up'][str(n)]:.2f})" if str(n) in row["seconds"] else ""
        for n in numbers] for row in found]
    return table(["size", "version", "threads"] + [f"{n}:" for n in numbers], rows)


def misses(result):
    """What Cachegrind counted of the three versions."""
    if not result["misses"]:
        return NOT_MEASURED
    name, run = result["misses"][0]
    rows = []
    for entry in run["misses"]:
        first = next(other for other in run["misses"]
                     if (other["side"], other["filter"]) == (entry["side"], entry["filter"]))
        over = lambda level, way: f"{entry[level][way] / first[level][way] - 1:+.0%}" if entry is not first else ""
        cells = [f"{entry['references']['read']:,}", over("references", "read")]
        for level, way in (("first_level", "read"), ("last_level", "read"), ("last_level", "write")):
            cells += [f"{entry[level][way]:,}", over(level, way)]
        rows.append([f"{entry['side']}^2 {entry['filter']}x{entry['filter']}", f"`{entry['variant']}`"] + cells)
    size = lambda text: f"{int(text.split(',')[0]) >> 10:,} KiB, {text.split(',')[1]} ways"
    header = ["case", "version", "reads:", "to v1:", "D1 read misses:", "to v1:", "last-level read misses:", "to v1:",
              "last-level write misses:", "to v1:"]
    return (f"{study_tables.link(name)}, {run['valgrind']}, {run['date'][:10]}: first level {size(run['first_level'])}, last "
            f"level {size(run['last_level'])}.\n\n{table(header, rows)}")


# What the published study told of its two GPU kernels.
PROFILED = {("naive", "down_columns=1"): "10 % of throughput", "tiled": "89 % of throughput"}


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
        "blocks": blocks(result),
        "gain_of_tile": gain_of_tile(result),
        "curves": curves(result),
        "misses": misses(result),
        "profile": study_tables.profile(result, PROFILED),
    }


def pages(result):
    """All sizes of all devices, and all numbers of threads: a page of its own, generated whole."""
    parts = study_tables.every_case(
        result, preferred_records(result), "image, filter", "# The study of conv2d: every size",
        "int32, border `same`. GFLOP/s by the median device time, each product and sum an operation; the fastest of a row "
        "is bold. Written by `scripts/study.py`; [conv2d.md](conv2d.md) says what it means.")
    rows = thread_rows(result)
    if rows:
        parts.append("## Threads\n\n" + thread_table(rows))
    if curve_rows(result):
        parts.append("## Curves\n\nBorder `valid`, 3 x 3: time and, in brackets, speed-up over one thread, by the number of "
                     "threads.\n\n" + every_curve(result))
    return {"conv2d_sizes.md": "\n\n".join(parts) + "\n"}


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


def drawn_curves(result):
    """Speed-up of the first version over threads, a curve for each size: threads created for each run, and dashed a
    standing pool of the same device."""
    rows = [row for row in curve_rows(result) if row["variant"] == VERSIONS[0]]
    created = {row["device"] for row in rows if row["new_threads"]}
    rows = [row for row in rows if row["device"] == max(created)]
    sizes = list(dict.fromkeys(row["case"].split()[0] for row in rows))
    series = [study_pictures.Curve(f"{row['case'].split()[0]}{'' if row['new_threads'] else ', pool'}",
                                   [(int(count), value) for count, value in row["speed_up"].items()],
                                   sizes.index(row["case"].split()[0]), "" if row["new_threads"] else "7 4")
              for row in rows]
    return study_pictures.curves("conv2d int32, valid, 3x3, accumulate: speed-up over one thread; a standing pool dashed",
                                 series, "threads", base_up=2, tick_up=lambda tick: f"{tick:g}")


def pictures(result):
    found = {"conv2d_variants.svg": bars(result)}
    if thread_rows(result, [REFERENCE]):
        found["conv2d_threads.svg"] = speed_ups(result)
    if any(row["new_threads"] for row in curve_rows(result)):
        found["conv2d_curves.svg"] = drawn_curves(result)
    return found
