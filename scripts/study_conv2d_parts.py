"""Of the study of conv2d: blocks and directions, the published curves over threads, and misses of caches."""
import study_pictures
import study_tables
from study_tables import NOT_MEASURED, number, seconds, table

VERSIONS = ("accumulate", "private_sum", "unrolled")


def block_text(settings):
    """The block of a tuning: "16x16", of naive's two sides or tiled's edge."""
    return f"{settings['block_columns']}x{settings['block_rows']}" if "block_rows" in settings else "{0}x{0}".format(
        settings["tile"])


def block_speeds(result):
    """GFLOP/s by (device, case), kernel and block. What `tiled` does is in the table of tiles too."""
    found = {}
    study = result["studies"][0]
    for entry in study.get("blocks", []):
        down = entry["tuning"].get("down_columns")
        kernel = "tiled" if down is None else "naive, down" if down else "naive, across"
        found.setdefault((entry["device"], entry["case"]), {}).setdefault(kernel, {})[block_text(entry["tuning"])] = entry[
            "gflops"]
    for entry in study["tiles"]:
        kernels = found.get((entry["device"], entry["case"]))
        if kernels is not None and entry["variant"] == "tiled":
            for edge, speed in entry["gflops"].items():
                kernels.setdefault("tiled", {}).setdefault(f"{edge}x{edge}", speed)
    return found


BLOCKS = ("8x8", "16x16", "32x32", "32x8")


def blocks(result):
    """GFLOP/s of the study's two kernels over blocks, the plain one in both directions."""
    rows = []
    for (device, case), kernels in block_speeds(result).items():
        for kernel in ("naive, across", "naive, down", "tiled"):
            speeds = kernels.get(kernel, {})
            known = [value for value in speeds.values() if value]
            if known:
                rows.append([f"`{device}`", case, kernel] + [
                    ("**{}**" if speeds[block] == max(known) else "{}").format(number(speeds[block]))
                    if speeds.get(block) else "" for block in BLOCKS])
    if not rows:
        return NOT_MEASURED
    return table(["device", "case", "kernel"] + [f"{block.replace('x', ' x ')}:" for block in BLOCKS], rows)


def gain_of_tile(result):
    """How many times as fast `tiled` is as each direction of `naive`, block by block."""
    rows = []
    for (device, case), kernels in block_speeds(result).items():
        for direction in ("across", "down"):
            plain, tile = kernels.get(f"naive, {direction}", {}), kernels.get("tiled", {})
            gains = [tile[block] / plain[block] if plain.get(block) and tile.get(block) else None for block in BLOCKS[:3]]
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
    picture = "![Speed-up of accumulate by threads, for each size](conv2d_curves.svg)"
    return f"{picture}\n\n" + table(["size", "version", "threads", "1 thread:", "fastest:", "speed-up:", "with:",
                                     "speed-up at last:", "with:"], rows)


def every_curve(result):
    """All numbers of threads, for the page of all sizes."""
    found = curve_rows(result)
    numbers = sorted({int(count) for row in found for count in row["seconds"]})
    rows = [[row["case"].split()[0], f"`{row['variant']}`", threads_of(row)] + [
        f"{seconds(row['seconds'][str(n)])} ({row['speed_up'][str(n)]:.2f})" if str(n) in row["seconds"] else ""
        for n in numbers] for row in found]
    return table(["size", "version", "threads"] + [f"{n}:" for n in numbers], rows)


# What the published study counted of its second version, to its first, in the order of the table's columns. Of the first
# level it told of all misses together.
PUBLISHED_MISSES = ["", "-28%", "", "-25%", "", "", "", "-50%", "", "+100%"]
FILLED = "filled_"


def misses(result):
    """What Cachegrind counted of the versions, and of those whose output a pass before has filled with zeros."""
    if not result["misses"]:
        return NOT_MEASURED
    name, run = result["misses"][0]
    kind = lambda entry: (entry["side"], entry["filter"], entry["variant"].startswith(FILLED))
    rows = [["as published", "v2"] + PUBLISHED_MISSES]
    for entry in run["misses"]:
        first = next(other for other in run["misses"] if kind(other) == kind(entry))
        # Of counts so small that the process itself makes them there is no ratio to tell.
        over = lambda level, way: (f"{entry[level][way] / first[level][way] - 1:+.0%}"
                                   if entry is not first and first[level][way] > 10000 else "")
        # The probe's own loops are compiled without optimisation: their reads are of variables, which hit.
        cells = ["", ""] if kind(entry)[2] else [f"{entry['references']['read']:,}", over("references", "read")]
        for level, way in (("first_level", "read"), ("first_level", "write"), ("last_level", "read"),
                           ("last_level", "write")):
            # Below 0 is what one process happens to miss more than another.
            cells += [f"{entry[level][way]:,}" if entry[level][way] >= 0 else "few", over(level, way)]
        version = f"`{entry['variant'].removeprefix(FILLED)}`" + (", filled before" if kind(entry)[2] else "")
        rows.append([f"{entry['side']}^2 {entry['filter']}x{entry['filter']}", version] + cells)
    size = lambda text: f"{int(text.split(',')[0]) >> 10:,} KiB, {text.split(',')[1]} ways"
    header = ["case", "version", "reads:", "to v1:", "D1 read misses:", "to v1:", "D1 write misses:", "to v1:", "last-level read misses:", "to v1:",
              "last-level write misses:", "to v1:"]
    return (f"{study_tables.link(name)}, {run['valgrind']}, {run['date'][:10]}: first level {size(run['first_level'])}, last "
            f"level {size(run['last_level'])}.\n\n{table(header, rows)}")


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
