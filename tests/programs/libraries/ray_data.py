"""Ray Data: rows that are mapped, and batches of tensors."""
import logging
import sys

import numpy
import ray

import clock
import material


def load(row):
    start = clock.now()
    clock.busy(500)
    row = {"pixels": numpy.flip(numpy.asarray(material.pixels(int(row["item"]))), 1).copy()}
    clock.tell("load", start)
    return row


def main():
    ray.init(num_cpus=2, logging_level=logging.ERROR, log_to_driver=False, include_dashboard=False,
             runtime_env={"env_vars": {"PYTHONPATH": sys.path[0]}})
    ray.data.DataContext.get_current().enable_progress_bars = False
    data = ray.data.from_items(list(range(96))).map(load)
    batches = samples = 0
    for batch in data.iter_torch_batches(batch_size=8):
        batches += 1
        samples += len(batch["pixels"])
        clock.busy(300)
    clock.ends(batches, samples)


if __name__ == "__main__":
    main()
