"""The committed result files that documents quote, and what the library's defaults take beside other libraries in them.

A file is named <machine>-<date>-<kind>.json. Of each machine and kind only the newest is committed, so that no document
can quote an older one.
"""
import collections
import functools
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
NAME = re.compile(r"(?P<machine>[a-z0-9_]+)-(?P<date>\d{4}-\d{2}-\d{2})-(?P<kind>[a-z0-9_-]+)\.json")

LIBRARIES = {
    "vendor_cublas": "cuBLAS", "vendor_cudnn": "cuDNN", "vendor_clblast": "CLBlast", "vendor_onednn": "oneDNN",
    "vendor_blis": "BLIS", "vendor_openblas": "OpenBLAS", "vendor_opencv": "OpenCV",
}

File = collections.namedtuple("File", "name machine kind content")

# One problem on one device: the default variant beside the fastest of the other libraries on the same hardware. `place` is
# the device in words, `work` orders problems by size, times are seconds, and `speed` is theirs over ours.
Comparison = collections.namedtuple("Comparison", "operator type place device case work variant ours_s rival theirs_s speed")


def is_for_everyone(comparison):
    """What the README shows: float32, which every library computes, and not `cpu:1`, which is there for comparing."""
    return comparison.type == "float32" and not comparison.device.startswith("cpu:1")


def older_files():
    """Names of files that a newer one of the same machine and kind replaces, and of those that are named otherwise."""
    newest, wrong = {}, []
    for path in sorted(RESULTS.iterdir()):  # by name, and so by date
        name = NAME.fullmatch(path.name)
        if name is None:
            wrong.append(path.name)
            continue
        key = (name["machine"], name["kind"])
        if key in newest:
            wrong.append(newest[key])
        newest[key] = path.name
    return wrong


@functools.cache
def files():
    """All of them, read once: every comparison asks."""
    found = []
    for path in sorted(RESULTS.glob("*.json")):
        name = NAME.fullmatch(path.name)
        found.append(File(path.name, name["machine"], name["kind"], json.loads(path.read_text())))
    return found


def of_tool(tool):
    """Files of one program, without those of studies, of which scripts/study.py writes, and of random problems."""
    return [file for file in files() if file.content["tool"] == tool and not {"studies", "random"} & file.content.keys()]


def device_of(content, device):
    return next(entry for entry in content["devices"] if entry["id"] == device)


def place_of(device):
    """A device in words that are short enough for a picture."""
    name = re.sub(r"\(R\)|\(TM\)|\bProcessor\b|\bNVIDIA\b", "", device["name"]).strip()
    if device["kind"] == "gpu":
        name = re.sub(r" \d+GB.*", "", name)  # H100 80GB HBM3
        return f"{name}, {'CUDA' if device['backend'] == 'cuda' else 'OpenCL'}"
    static = ", static" if device["driver"] == "POSIX threads" else ""
    return f"{name}, {threads(device['compute_units'])}{static}"


def threads(count):
    return f"{count} thread" + ("s" if count > 1 else "")


def hardware_of(device):
    """The same for two devices that are one card."""
    return device["uuid"] or device["id"]


def pytorch_times(machine, record):
    """What PyTorch took on this machine's card for the problem of a record: [(name, seconds)], the faster of its layouts."""
    problem, times = record["problem"], []
    if problem.get("accuracy") == "strict" or record["type"] != "float32":
        return []
    for file in of_tool("pytorch_peer"):
        for entry in file.content["records"] if file.machine == machine else []:
            if entry["operator"] != record["operator"]:
                continue
            theirs = {"height": entry["side"], "width": entry["side"], "filter_height": entry["filter"]}
            if entry["operator"] == "cnn_layer":
                theirs |= {"batch": entry["images"], "input_channels": entry["inputs"], "output_channels": entry["outputs"],
                           "padding": entry["padding"], "pool_size": entry["pool"] or 1}
            if all(problem.get(name) == value for name, value in theirs.items()):
                times.append(entry.get("chain_s") or entry["convolution_s"])
    return [("PyTorch", min(times))] if times else []


def bench_comparisons():
    for file in of_tool("tessera bench"):
        if file.content.get("interrupted"):
            continue  # what was ended early lacks problems that others have, large ones first
        hardware = {entry["id"]: hardware_of(entry) for entry in file.content["devices"]}
        verified = [record for record in file.content["records"] if record["status"] == "verified"]
        for record in verified:
            if not record["is_default"]:
                continue
            device = device_of(file.content, record["device"])
            rivals = [(LIBRARIES[other["variant"]], other["device_time_s"]["median"]) for other in verified
                      if other["variant"] in LIBRARIES and other["case"] == record["case"]
                      and other["operator"] == record["operator"] and hardware[other["device"]] == hardware[record["device"]]]
            if device["kind"] == "gpu":
                rivals += pytorch_times(file.machine, record)
            if not rivals:
                continue
            rival, theirs_s = min(rivals, key=lambda pair: pair[1])
            ours_s = record["device_time_s"]["median"]
            yield Comparison(record["operator"], record["type"], place_of(device), record["device"], record["case"],
                             record["gflops"] * ours_s, record["variant"], ours_s, rival, theirs_s, theirs_s / ours_s)


def comparisons():
    """Every comparison, operator by operator and device by device, as the files have them."""
    found = list(bench_comparisons())
    operators = list(dict.fromkeys(entry.operator for entry in sorted(found, key=lambda entry: entry.operator)))
    places = list(dict.fromkeys(entry.place for entry in found))
    return sorted(found, key=lambda entry: (operators.index(entry.operator), places.index(entry.place)))
