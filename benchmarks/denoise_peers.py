#!/usr/bin/env python3
"""Compares `tessera denoise` with the programs of the authors of BM3D and BM4D, and with non-local means: time, PSNR and
SSIM on the same noisy input, with the same sigma, on the same processors, in turn.

The peers come from PyPI, are measured and never shipped (the licence of bm3d and bm4d forbids commercial use):
numpy, bm3d, bm4d, scikit-image, and opencv-python-headless, which takes images of bytes alone. Whichever is missing is
left out, and said so.

Inputs are float32 from 0 to 255 with white noise: Shepp and Logan's phantom (made by `tessera phantom`), a textured
volume, a scene with edges and texture, and pictures given with --picture, those in colour in grey as well. A time of
ours is that of the whole program, files and start with it; one of theirs is that of the call alone. Processor seconds
are those of all threads, and hold on a machine that is busy too. PSNR and SSIM are those of `tessera psnr`, of all. The
last lines say what ours have more than the authors' program in dB.

example: benchmarks/denoise_peers.py --tessera build/release/bin/tessera --picture docs/pictures/mosaic.png
"""
import argparse
import datetime
import importlib
import importlib.metadata
import json
import pathlib
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

SIGMAS = (5, 15, 25, 50)
PROFILES = ("fast", "normal", "high")
TIMED_SIGMA = 25


def arguments_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default="build/release/bin/tessera", metavar="PROGRAM")
    parser.add_argument("--device", default="cpu:0", help="that ours runs on (default: %(default)s)")
    parser.add_argument("--picture", action="append", default=[], metavar="PNG", help="a picture more, grey or in colour")
    parser.add_argument("--repetitions", type=int, default=3, help="of what is timed (default: %(default)s)")
    parser.add_argument("--no-quality", action="store_true", help="only the inputs that are timed, at one sigma")
    parser.add_argument("--no-times", action="store_true",
                        help="once each, with the processor's seconds alone: for a machine that is busy")
    parser.add_argument("--json", metavar="FILE", help="write the records here as well")
    return parser.parse_args()


def package(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed: left out", file=sys.stderr)
        return None


class Inputs:
    """Clean volumes as arrays of z, y, x; images of y, x or y, x, 3."""

    def __init__(self, numpy, tessera, folder):
        self.numpy, self.tessera, self.folder = numpy, tessera, folder

    def phantom(self, side):
        clean = self.folder / f"phantom{side}.npy"
        subprocess.run([self.tessera, "phantom", "--size", str(side), "--noise", "1", "--out", self.folder / "noisy.npy",
                        "--clean", clean], check=True, stdout=subprocess.DEVNULL)
        return self.numpy.load(clean)

    def texture(self, *sizes):
        """Waves of three directions, and a ball of other waves."""
        z, y, x = self.numpy.meshgrid(*(self.numpy.linspace(-1, 1, size) for size in sizes), indexing="ij")
        sin = self.numpy.sin
        waves = 128 + 40 * sin(25 * x + 6 * y) + 30 * sin(31 * y - 9 * z) + 20 * sin(17 * z + 13 * x)
        ball = 90 + 60 * sin(40 * x * y + 22 * z)
        return self.numpy.where(x * x + y * y + z * z < 0.4, ball, waves).clip(0, 255).astype("float32")

    def scene(self, side):
        """A slope, discs and bars with sharp edges, cloth of two directions, and fine noise that belongs to it."""
        numpy = self.numpy
        y, x = numpy.meshgrid(*(numpy.linspace(0, 1, side),) * 2, indexing="ij")
        image = 60 + 100 * x + 40 * y
        for cx, cy, r, grey in ((0.25, 0.3, 0.16, 220), (0.7, 0.25, 0.12, 30), (0.6, 0.72, 0.2, 160)):
            image = numpy.where((x - cx) ** 2 + (y - cy) ** 2 < r * r, grey, image)
        cloth = 120 + 45 * numpy.sin(side * 0.35 * (x + 0.4 * y)) * numpy.sin(side * 0.3 * (y - 0.3 * x))
        image = numpy.where((x < 0.45) & (y > 0.55), cloth, image)
        bars = numpy.where((x * 40).astype(int) % 2 == 0, 200, 50)
        image = numpy.where((abs(y - 0.5) < 0.04) & (x > 0.5), bars, image)
        return image.clip(0, 255).astype("float32")


def pictures(path):
    """By name: the picture, and of one in colour the mean of its channels too."""
    from skimage import io
    name, pixels = pathlib.Path(path).stem, io.imread(path).astype("float32")
    if pixels.ndim == 2:
        return {name: pixels}
    colours = pixels[..., :3]
    return {name: colours, f"{name} in grey": colours.mean(axis=2)}


class Tessera:
    def __init__(self, program, device, folder):
        self.program, self.device, self.folder = program, device, folder

    def denoise(self, numpy, noisy, sigma, profile):
        """The result and the seconds of the whole program."""
        source, result = self.folder / "in.npy", self.folder / "out.npy"
        numpy.save(source, noisy)
        result.unlink(missing_ok=True)
        start = time.perf_counter()
        subprocess.run([self.program, "denoise", source, result, "--sigma", str(sigma), "--range", "255", "--profile",
                        profile, "--device", self.device], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        return numpy.load(result), time.perf_counter() - start

    def likeness(self, numpy, clean, other):
        one, two = self.folder / "clean.npy", self.folder / "other.npy"
        numpy.save(one, clean.astype("float32"))
        numpy.save(two, other.astype("float32"))
        text = subprocess.run([self.program, "psnr", one, two, "--peak", "255"], check=True, capture_output=True,
                              text=True).stdout
        psnr, ssim = re.search(r"PSNR ([\d.]+) dB", text), re.search(r"SSIM ([\d.]+)", text)
        return float(psnr[1]), float(ssim[1])


def peers():
    """Name to a function of (noisy, sigma); None of what it is not for."""
    found = {}
    bm3d, bm4d, restoration = package("bm3d"), package("bm4d"), package("skimage.restoration")
    if bm3d:
        def two_dimensional(noisy, sigma):
            is_colour = noisy.ndim == 3 and noisy.shape[2] == 3
            if noisy.ndim == 3 and not is_colour:
                return None
            return bm3d.bm3d_rgb(noisy, sigma) if is_colour else bm3d.bm3d(noisy, sigma)
        found["bm3d"] = two_dimensional
    if bm4d:
        def three_dimensional(noisy, sigma):
            return None if noisy.ndim == 2 or noisy.shape[2] == 3 else bm4d.bm4d(noisy, sigma)
        found["bm4d"] = three_dimensional
    if restoration:
        def means(noisy, sigma):
            channel = 2 if noisy.ndim == 3 and noisy.shape[2] == 3 else None
            return restoration.denoise_nl_means(noisy, patch_size=5 if noisy.ndim == 2 or channel else 3,
                                                patch_distance=6 if noisy.ndim == 2 or channel else 5, h=0.8 * sigma,
                                                sigma=sigma, fast_mode=True, channel_axis=channel)
        found["non-local means"] = means
    opencv = package("cv2")
    if opencv:
        def means_of_bytes(noisy, sigma):
            is_colour = noisy.ndim == 3 and noisy.shape[2] == 3
            if noisy.ndim == 3 and not is_colour:
                return None
            pixels, strength = noisy.round().clip(0, 255).astype("uint8"), 0.9 * sigma
            if is_colour:
                return opencv.fastNlMeansDenoisingColored(pixels, None, strength, strength, 7, 21)
            return opencv.fastNlMeansDenoising(pixels, None, strength, 7, 21)
        found["OpenCV's means"] = means_of_bytes
    return found


def versions():
    names = ("numpy", "bm3d", "bm4d", "scikit-image", "opencv-python-headless")
    found = {}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def processor_seconds():
    """That this process and those that it has waited for have used, of all threads."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in usage)


def compare(numpy, ours, others, name, clean, sigma, repetitions):
    """Records of every program on one input; programs run in turn, so that a slow minute strikes all of them."""
    noisy = (clean + numpy.random.default_rng(1).normal(0, sigma, clean.shape)).astype("float32")
    programs = {f"tessera {profile}": (lambda n, s, p=profile: ours.denoise(numpy, n, s, p)) for profile in PROFILES}
    for peer, function in others.items():
        def timed(n, s, f=function):
            start = time.perf_counter()
            result = f(n, s)
            return result, time.perf_counter() - start
        programs[peer] = timed
    seconds, used, likeness = {program: [] for program in programs}, {program: [] for program in programs}, {}
    for _ in range(repetitions):
        for program, run in programs.items():
            before = processor_seconds()
            result, taken = run(noisy, sigma)
            if result is None:
                continue
            used[program].append(processor_seconds() - before)
            seconds[program].append(taken)
            if program not in likeness:
                likeness[program] = ours.likeness(numpy, clean, numpy.asarray(result))
    return [{"input": name, "shape": list(clean.shape), "sigma": sigma, "program": program, "psnr_db": likeness[program][0],
             "ssim": likeness[program][1], "processor_seconds": statistics.median(used[program]),
             "seconds": statistics.median(seconds[program]), "repetitions": len(seconds[program])}
            for program in programs if program in likeness]


def without_times(records):
    for record in records:
        del record["seconds"], record["repetitions"]
    return records


def show(records):
    for record in records:
        size = " x ".join(str(length) for length in record["shape"])
        seconds = f"  {record['seconds']:8.3f} s" if "seconds" in record else ""
        print(f"{record['input']:18} {size:14} sigma {record['sigma']:2}  {record['program']:16} "
              f"{record['psnr_db']:6.2f} dB  {record['ssim']:.4f}  {record['processor_seconds']:8.3f} s used{seconds}",
              flush=True)


def show_beside_authors(records):
    """What each profile has more than bm3d or bm4d, in the order of the sigmas."""
    found = {}
    for record in records:
        key = (record["input"], tuple(record["shape"]))
        found.setdefault(key, {}).setdefault(record["program"], {})[record["sigma"]] = record["psnr_db"]
    for (name, shape), programs in found.items():
        theirs = programs.get("bm3d") or programs.get("bm4d")
        for profile in PROFILES if theirs else ():
            ours = programs[f"tessera {profile}"]
            text = " ".join(f"{ours[sigma] - theirs[sigma]:+.2f}" for sigma in sorted(ours))
            print(f"{name:18} {' x '.join(str(length) for length in shape):14} {profile:7} {text} dB")


def main():
    arguments = arguments_of()
    repetitions = 1 if arguments.no_times else arguments.repetitions
    numpy = package("numpy")
    if numpy is None:
        sys.exit("denoise_peers.py: needs numpy")
    others = peers()
    records = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ours, inputs = Tessera(arguments.tessera, arguments.device, folder), Inputs(numpy, arguments.tessera, folder)
        timed = {"scene": inputs.scene(512), "phantom": inputs.phantom(64)}
        for kind, clean in timed.items():
            found = compare(numpy, ours, others, kind, clean, TIMED_SIGMA, repetitions)
            records += without_times(found) if arguments.no_times else found
            show(found)
        if not arguments.no_quality:
            judged = {"phantom": timed["phantom"], "textured volume": inputs.texture(48, 64, 64), "scene": inputs.scene(256)}
            for path in arguments.picture:
                judged |= pictures(path)
            for kind, clean in judged.items():
                for sigma in SIGMAS:
                    if kind == "phantom" and sigma == TIMED_SIGMA:
                        continue  # is there already
                    found = compare(numpy, ours, others, kind, clean, sigma, 1)
                    if arguments.no_times:
                        without_times(found)
                    show(found)
                    records += found
    show_beside_authors(records)
    result = {"tool": "denoise_peers", "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
              "machine": processor(), "device": arguments.device,
              "tessera": subprocess.run([arguments.tessera, "--version"], check=True, capture_output=True,
                                        text=True).stdout.strip(),
              "packages": versions(), "records": records}
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
