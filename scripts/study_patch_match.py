"""The study of patch_match: its tables and its pictures."""
import study_pictures
import study_tables
from study_tables import seconds, table, tuning

VERSIONS, WINDOWS, STACKS = "versions", "windows", "stacks"

# What the published study told of its two kernels.
PROFILED = {"insertion": "30 % occupancy", "min_and_swap": "95 % occupancy, a fifth of the stalls"}


def side_of(record):
    """Of the window, which is a cube."""
    return int(record["problem"]["window"].split("x")[0])


def versions(result):
    rows = []
    for device in (entry["id"] for entry in result["devices"]):
        ours = [record for record in study_tables.largest_measured(result, VERSIONS) if record["device"] == device]
        for record in study_tables.by_type_and_speed(ours):
            cells = study_tables.speed_cells(record)
            rows.append([f"`{device}`", f"`{record['variant']}`", record["label"], tuning(record),
                         seconds(record["device_time_s"]["median"]) if record["gflops"] else record["status"],
                         cells["runs"], cells["error"]])
    return table(["device", "variant", "volume", "tuning", "time:", "runs:", "error / bound:"], rows)


def kernels(result, part):
    """The study's two kernels side by side, and the fastest of all."""
    rows = [[f"`{entry['device']}`", entry["case"], seconds(entry["original_s"]), seconds(entry["reduction_s"]),
             f"{entry['original_s'] / entry['reduction_s']:.2f}", f"`{entry['fastest']}`", seconds(entry["fastest_s"]),
             f"{entry['original_s'] / entry['fastest_s']:.1f}"]
            for entry in result["studies"][0]["kernels"][part]]
    return table(["device", "volume", "`insertion`:", "`min_and_swap`:", "times as fast:", "fastest", "its time:",
                  "times as fast as `insertion`:"], rows)


def tables(result):
    return {
        "source": study_tables.source(result),
        "versions": versions(result),
        "kernels_windows": kernels(result, WINDOWS),
        "kernels_stacks": kernels(result, STACKS),
        "groups": study_tables.by_tunable(result["studies"][0]["groups"], "volume"),
        "windows": study_tables.times_over(result, WINDOWS, side_of),
        "stacks": study_tables.times_over(result, STACKS, lambda record: record["problem"]["max_patches"]),
        "profile": study_tables.profile(result, PROFILED),
        "scores": study_tables.scores(result, "volumes"),
    }


def pages(_result):
    return {}


def pictures(result):
    records = [record for record in study_tables.largest_measured(result, VERSIONS)
               if record["label"].startswith("352x240x150 uint8")]
    windows = [record for record in study_tables.preferred_records(result, WINDOWS) if record["gflops"]]
    devices = [entry["id"] for entry in result["devices"]]
    curves = []
    for device, variant in dict.fromkeys((record["device"], record["variant"]) for record in windows):
        points = [(side_of(r), r["device_time_s"]["median"]) for r in windows
                  if (r["device"], r["variant"]) == (device, variant)]
        if len(points) > 1:
            dashes = {"insertion": "2 3", "min_and_swap": "6 3"}.get(variant, "")
            curves.append(study_pictures.Curve(f"{device} {variant}", points, devices.index(device), dashes))
    return {
        "patch_match_variants.svg": study_pictures.bars(
            "patch_match, 352 x 240 x 150 bytes, window 11, step 3: GFLOP/s, logarithmic",
            study_pictures.device_groups(result, records)),
        "patch_match_windows.svg": study_pictures.curves(
            "patch_match, 176 x 120 x 75 bytes, step 3: time", curves, "window's side", 10, seconds),
    }
