"""DALI on the CPU: a pipeline of its operators, as an iterator of PyTorch's."""
import sys

import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from nvidia.dali.plugin.pytorch import DALIGenericIterator

import clock
import material


@pipeline_def(batch_size=8, num_threads=2, device_id=None, seed=1)
def photos(root):
    files, labels = fn.readers.file(file_root=root, name="reader")
    images = fn.resize(fn.decoders.image(files, device="cpu", output_type=types.RGB), size=(128, 128))
    return images, labels


def main():
    iterator = DALIGenericIterator([photos(str(material.photos(sys.argv[1])))], ["images", "labels"], reader_name="reader",
                                   auto_reset=True)
    clock.train(iterator, lambda batch: len(batch[0]["images"]))


if __name__ == "__main__":
    main()
