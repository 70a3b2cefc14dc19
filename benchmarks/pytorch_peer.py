#!/usr/bin/env python3
"""Times PyTorch's convolutions on the CUDA card, as a second opinion on how fast cuDNN is: PyTorch asks it for plans in
another way than this library's vendor_cudnn does. float32 with TF32 off; the layers of cnn_layer's benchmark, and conv2d's
images of 4096 x 4096. Each time is the mean of a batch between two events, the median of several batches.
"""
import argparse
import json
import statistics

LAYERS = [  # images, inputs, outputs, rows and columns, filter, padding, pool
    (1, 256, 256, 228, 5, 0, 2),
    (1, 64, 64, 56, 3, 1, 2),
    (1, 256, 512, 28, 3, 1, 0),
    (1, 3, 32, 224, 5, 2, 2),
    (8, 64, 64, 56, 3, 1, 2),
    (8, 256, 512, 28, 3, 1, 0),
    (8, 3, 32, 224, 5, 2, 2),
]
IMAGE_SIDE = 4096
FILTER_SIDES = (3, 5, 7)
BATCHES, RUNS = 11, 20


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write the records here as well")
    arguments = parser.parse_args()

    import torch  # late, so that --help needs no PyTorch
    from torch.nn import functional

    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.benchmark = True  # tries cuDNN's plans and keeps the fastest

    def seconds_of(run):
        for _ in range(5):
            run()
        times = []
        for _ in range(BATCHES):
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            for _ in range(RUNS):
                run()
            stop.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(stop) / RUNS / 1e3)
        return statistics.median(times)

    def layer(images, inputs, outputs, side, filter_side, padding, pool, memory):
        image = torch.rand(images, inputs, side, side, device="cuda").to(memory_format=memory)
        weights = (torch.rand(outputs, inputs, filter_side, filter_side, device="cuda") - 0.5).to(memory_format=memory)
        bias = torch.rand(outputs, device="cuda")

        def chain():
            result = torch.relu_(functional.conv2d(image, weights, bias, padding=padding))
            return functional.max_pool2d(result, pool) if pool else result

        alone = seconds_of(lambda: functional.conv2d(image, weights, padding=padding))
        return {"convolution_s": alone, "chain_s": seconds_of(chain)}

    records = []
    with torch.no_grad():
        for shape in LAYERS:
            for memory in (torch.contiguous_format, torch.channels_last):
                names = ("images", "inputs", "outputs", "side", "filter", "padding", "pool")
                layout = "nchw" if memory == torch.contiguous_format else "nhwc"
                times = layer(*shape, memory)
                records.append({"operator": "cnn_layer", "layout": layout, **dict(zip(names, shape)), **times})
        for side in FILTER_SIDES:
            image = torch.rand(1, 1, IMAGE_SIDE, IMAGE_SIDE, device="cuda")
            weights = torch.rand(1, 1, side, side, device="cuda")
            alone = seconds_of(lambda: functional.conv2d(image, weights, padding=side // 2))
            records.append({"operator": "conv2d", "side": IMAGE_SIDE, "filter": side, "convolution_s": alone})
    for record in records:
        print(record)
    result = {
        "tool": "pytorch_peer",
        "pytorch": torch.__version__,
        "cudnn": torch.backends.cudnn.version(),
        "card": torch.cuda.get_device_name(),
        "records": records,
    }
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
