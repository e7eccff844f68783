"""Makes a batch, then starts itself twice, as a launcher of ranks does; each says its pid. Argument: 'rank' starts none."""
import os
import subprocess
import sys

from torch.utils.data import DataLoader

for _ in DataLoader([1, 2, 3], batch_size=3):
    print(os.getpid(), flush=True)
if sys.argv[1:] != ["rank"]:
    for _ in range(2):
        subprocess.run([sys.executable, __file__, "rank"], check=True)
