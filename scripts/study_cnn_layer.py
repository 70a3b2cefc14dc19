"""The study of cnn_layer: its tables and its picture."""
import study_pictures
import study_tables
from study_tables import number, seconds, table, tuning

# How much the published study found for each finding, in the words of the tunable.
PUBLISHED = {"filter_outermost": "48", "unroll": "18", "fused": "0.83"}
MEANING = {
    "filter_outermost": "loops over input channel and filter outside",
    "unroll": "channel loop unrolled",
    "fused": "bias, ReLU and pool in one loop",
    "aligned": "weights as aligned vectors",
    "sums_aligned": "the sums' array at multiples of 128 bytes",
    "sums_zeroed": "the sums filled with zeros first",
    "global_ids": "places from get_global_id",
}
# How many times as fast as its sequential program the published study's was, on a Tesla M60.
PUBLISHED_TIMES = "217"


def reference(result):
    """The label of the study's own layer, which is the largest."""
    return preferred_records(result)[-1]["label"]


def preferred_records(result):
    return study_tables.preferred_records(result, "layers")


def variants(result):
    """Every variant on the study's layer, and where that takes too long, on the largest that does not."""
    rows = []
    for device in (entry["id"] for entry in result["devices"]):
        ours = [record for record in preferred_records(result)
                if record["device"] == device and record["status"] != "unsupported"]
        chosen = {}
        for record in ours:  # ascending work
            if record["gflops"] or record["variant"] not in chosen:
                chosen[record["variant"]] = record
        naive = {record["label"]: record["gflops"] for record in ours if record["variant"] == "naive"}
        for record in sorted(chosen.values(), key=lambda entry: (entry["gflops"] is None, entry["gflops"])):
            cells, gflops = study_tables.speed_cells(record), record["gflops"]
            plain = naive.get(record["label"])
            rows.append([
                f"`{device}`", f"`{record['variant']}`", record["label"], tuning(record),
                seconds(record["device_time_s"]["median"]) if gflops else "", cells["speed"],
                f"{gflops / plain:.1f}" if gflops and plain else "", cells["peak"], cells["runs"], cells["error"],
            ])
    return table(["device", "variant", "layer", "tuning", "time:", "GFLOP/s:", "x naive:", "of peak:", "runs:",
                  "error / bound:"], rows)


def off_and_on(entry):
    """Speeds off and on. Where the tunable exists in pairs ("0x8": off with 8 channels) those of the pair that has both."""
    names = entry["tunable"].split(" x ")
    place = names.index(entry.get("finding", entry["tunable"]))
    by_other = {}
    for value, speed in entry["gflops"].items():
        parts = value.split("x")
        by_other.setdefault(tuple(parts[:place] + parts[place + 1:]), {})[parts[place]] = speed
    both = [speeds for speeds in by_other.values() if {"0", "1"} <= speeds.keys()]
    speeds = both[0] if both else next(iter(by_other.values()))
    return (speeds.get("0"), speeds.get("1")) if both or len(names) == 1 else (None, None)


def sums_in_memory(result):
    """What the study tried of its private array, where the array has an address."""
    rows, speeds = [], {}
    for entry in result["studies"][0].get("sums_in_memory", []):
        form = (entry["tuning"]["sums_aligned"], entry["tuning"]["sums_zeroed"])
        speeds.setdefault((entry["device"], entry["case"]), {})[form] = entry["gflops"]
    for (device, case), by_form in speeds.items():
        plain = by_form.get((0, 1))
        cells = [number(by_form.get(form)) for form in ((0, 1), (1, 1), (0, 0))]
        over = [f"{by_form[form] / plain:.2f}" if plain and by_form.get(form) else "" for form in ((1, 1), (0, 0))]
        rows.append([f"`{device}`", case, cells[0], cells[1], over[0], cells[2], over[1]])
    if not rows:
        return study_tables.NOT_MEASURED
    return table(["device", "layer", "zeroed, GFLOP/s:", "and aligned:", "over it:", "not zeroed:", "over it:"], rows)


def findings(result):
    """Each finding off and on, beside what the study found."""
    rows = []
    for entry in result["studies"][0]["findings"]:
        off, on = off_and_on(entry)
        finding = entry.get("finding", entry["tunable"])
        if not off and not on:
            continue
        rows.append([
            f"`{entry['device']}`", entry["case"], f"`{finding}`", MEANING[finding],
            number(off) if off else "skipped", number(on) if on else "skipped",
            f"{on / off:.2f}" if off and on else "", PUBLISHED.get(finding, ""),
        ])
    return table(["device", "layer", "tunable", "meaning", "off, GFLOP/s:", "on, GFLOP/s:", "on over off:",
                  "the study, M60:"], rows)


def sequential(result):
    """One thread on the study's layer."""
    label, rows = reference(result), []
    for entry in result["studies"][0].get("sequential", []):
        if entry["case"] == label and entry["gflops"]:
            rows.append([f"`{entry['device']}`", label, seconds(entry["seconds"]), f"{entry['gflops']:.2f}"])
    return table(["device", "layer", "time:", "GFLOP/s:"], rows) if rows else study_tables.NOT_MEASURED


def times_sequential(result):
    """How many times as fast as one thread the study's scheme is on each device, and what is fastest there."""
    label = reference(result)
    alone = {entry["device"]: entry["gflops"] for entry in result["studies"][0].get("sequential", [])
             if entry["case"] == label and entry["gflops"]}
    if not alone:
        return study_tables.NOT_MEASURED
    slow = max(alone.values())
    rows = []
    for device in (entry["id"] for entry in result["devices"]):
        ours = [record for record in preferred_records(result)
                if record["device"] == device and record["label"] == label and record["gflops"]
                and not study_tables.is_vendor(record["variant"])]
        scheme = next((record["gflops"] for record in ours if record["variant"] == "subtile"), None)
        best = max(ours, key=lambda record: record["gflops"], default=None)
        if best is None:
            continue
        base = alone.get(device, slow)
        rows.append([f"`{device}`", number(scheme) if scheme else "", f"{scheme / base:.0f}" if scheme else "",
                     f"`{best['variant']}`", number(best["gflops"]), f"{best['gflops'] / base:.0f}", PUBLISHED_TIMES])
    return table(["device", "`subtile`, GFLOP/s:", "x `sequential`:", "fastest", "GFLOP/s:", "x `sequential`:",
                  "the study's scheme, M60:"], rows)


def groups_and_items(result):
    """A row for each number of groups, a column for each number of work-items."""
    cells = [cell for cell in result["studies"][0]["groups_and_items"] if cell["gflops"]]
    items = sorted({cell["items"] for cell in cells})
    rows = []
    for device, case in dict.fromkeys((cell["device"], cell["case"]) for cell in cells):
        ours = [cell for cell in cells if (cell["device"], cell["case"]) == (device, case)]
        best = max(cell["gflops"] for cell in ours)
        for groups in sorted({cell["groups"] for cell in ours}):
            row = {cell["items"]: cell["gflops"] for cell in ours if cell["groups"] == groups}
            speeds = [number(row[count]) if count in row else "skipped" for count in items]
            rows.append([f"`{device}`", case, str(groups)] + [
                f"**{speed}**" if row.get(count) == best else speed for count, speed in zip(items, speeds)])
    return table(["device", "layer", "groups:"] + [f"{count} work-items:" for count in items], rows)


def tables(result):
    return {
        "source": study_tables.source(result),
        "variants": variants(result),
        "findings": findings(result),
        "sums_in_memory": sums_in_memory(result),
        "groups_and_items": groups_and_items(result),
        "scores": study_tables.scores(result, "layers"),
        "default_choice": study_tables.default_choice(result, "layers"),
        "sequential": sequential(result),
        "times_sequential": times_sequential(result),
        "profile": study_tables.profile(result, {}),
    }


def pages(_result):
    return {}


def pictures(result):
    """Every variant on the study's layer, a group for each device."""
    label, groups = reference(result), []
    for entry in result["devices"]:
        ours = [(record["variant"], record["gflops"]) for record in preferred_records(result)
                if record["device"] == entry["id"] and record["label"] == label and record["gflops"]]
        if ours:
            groups.append((f"{entry['id']}: {entry['name']}", sorted(ours, key=lambda bar: bar[1])))
    return {"cnn_layer_variants.svg": study_pictures.bars(f"cnn_layer, {label}: GFLOP/s, logarithmic", groups)}
