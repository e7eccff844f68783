"""Each operation calls with_a_frame (native/at_its_end.c) of the given library, which burns CPU time."""
import ctypes
import sys

from torch.utils.data import DataLoader

from runners.samples import Samples

ROUNDS, SAMPLES = 100_000_000, 32

library = ctypes.CDLL(sys.argv[1])


class Spin:
    def __call__(self, sample):
        library.with_a_frame(ctypes.c_long(ROUNDS))
        return sample


for _ in DataLoader(Samples(SAMPLES, [Spin()]), num_workers=1, batch_size=SAMPLES, collate_fn=list):
    pass
