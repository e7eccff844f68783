"""SPDL: a pipeline of stages in threads."""
import sys

import numpy
import PIL.Image
import spdl.pipeline
import torch

import clock
import material


def load(file):
    start = clock.now()
    pixels = torch.from_numpy(numpy.array(PIL.Image.open(file).resize((128, 128))))
    clock.tell("load", start)
    return pixels


def main():
    files = material.files(sys.argv[1])
    builder = spdl.pipeline.PipelineBuilder().add_source(files * 2).pipe(load, concurrency=2).aggregate(8).pipe(torch.stack)
    batches = samples = 0
    pipeline = builder.add_sink(4).build(num_threads=2)
    with pipeline.auto_stop():
        for batch in pipeline.get_iterator(timeout=60):
            batches += 1
            samples += len(batch)
            clock.busy(300)
    clock.ends(batches, samples)


if __name__ == "__main__":
    main()
