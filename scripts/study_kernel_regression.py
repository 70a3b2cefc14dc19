"""The study of kernel_regression: its tables and its pictures."""
import study_pictures
import study_tables
from study_tables import seconds, table, tuning

VERSIONS, QUERIES, ROWS = "versions", "queries", "rows"
# Seconds that the published study took for 60000 training images and 1000 queries, in the words of the variants here.
PUBLISHED = {
    "sequential": "365.7 s", "naive": "66 s (GPU)", "one_kernel": "27.5 s", "two_kernels": "21.0 s",
}


def published(record):
    is_study = record["label"].startswith("60000 rows, 1000 ")
    return PUBLISHED.get(record["variant"], "") if is_study else ""


def queries_of(record):
    return record["problem"]["queries"]


def rows_of(record):
    return record["problem"]["training_rows"]


def versions(result):
    rows = []
    for device in (entry["id"] for entry in result["devices"]):
        ours = [record for record in study_tables.largest_measured(result, VERSIONS) if record["device"] == device]
        for record in study_tables.by_type_and_speed(ours):
            cells = study_tables.speed_cells(record)
            rows.append([
                f"`{device}`", f"`{record['variant']}`", record["label"], tuning(record),
                seconds(record["device_time_s"]["median"]) if record["gflops"] else record["status"], published(record),
                cells["peak"], cells["runs"], cells["error"],
            ])
    return table(["device", "variant", "data", "tuning", "time:", "the study:", "of peak:", "runs:", "error / bound:"], rows)


def tables(result):
    series = {
        "source": study_tables.source(result),
        "queries": study_tables.times_over(result, QUERIES, queries_of),
        "rows": study_tables.times_over(result, ROWS, rows_of),
        "profile": study_tables.profile(result, {}),
    }
    study = result["studies"][0]
    if "devices" not in study:  # a file of the series alone
        return series
    return {
        **series,
        "versions": versions(result),
        "blocks": study_tables.by_tunable(study["blocks"], "data"),
        "scores": study_tables.scores(result, "data sets"),
        "default_choice": study_tables.default_choice(result, "data sets"),
    }


def pages(_result):
    return {}


def curves(result, part, size_of):
    """Time over the sizes of a part, in bytes: a curve for each device and variant."""
    records = [record for record in study_tables.preferred_records(result, part)
               if record["gflops"] and record["type"] == "uint8"]
    devices = [entry["id"] for entry in result["devices"]]
    found = []
    for device, variant in dict.fromkeys((record["device"], record["variant"]) for record in records):
        points = [(size_of(r), r["device_time_s"]["median"]) for r in records
                  if (r["device"], r["variant"]) == (device, variant)]
        if len(points) > 1:
            number_of = devices.index(device)
            found.append(study_pictures.Curve(f"{device} {variant}", points, number_of,
                                              "6 3" if study_tables.is_vendor(variant) else ""))
    return found


def pictures(result):
    records = [record for record in study_tables.largest_measured(result, VERSIONS)
               if record["label"] == "60000 rows, 1000 queries, uint8"]
    drawn = {
        "kernel_regression_variants.svg": study_pictures.bars(
            "kernel_regression, 60000 images, 1000 queries, uint8: GFLOP/s, logarithmic",
            study_pictures.device_groups(result, records)),
    }
    for part, size_of, title, across in (
            (QUERIES, queries_of, "kernel_regression, 60000 training images of bytes: time", "queries"),
            (ROWS, rows_of, "kernel_regression, 1000 queries of bytes: time", "training images")):
        series = curves(result, part, size_of)
        if series:  # not if the run was ended before
            drawn[f"kernel_regression_{part}.svg"] = study_pictures.curves(title, series, across, 10, seconds)
    return drawn
