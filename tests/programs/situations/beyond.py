"""What is no cause in the loader: training itself, a program that stood still, too little to judge."""
import os
import subprocess
import sys
import time

import common
import torch
from torch.utils.data import DataLoader, Dataset


class Quick(Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        time.sleep(0.003)
        return torch.zeros(64)


def training_is_the_limit(bad):
    common.train(DataLoader(Quick(), 8, num_workers=1), step=0.08 if bad else 0.001)


def no_batch_is_taken(bad):
    loader = DataLoader(Quick(), 8, num_workers=2)
    if bad:
        print(len(loader))
    else:
        common.train(loader, step=0.05)


class Computed(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, index):
        common.burn(0.008)
        return torch.zeros(64)


STOPS = """import os, signal, sys, time
time.sleep(1)
os.killpg(int(sys.argv[1]), signal.SIGSTOP)
time.sleep(3)
os.killpg(int(sys.argv[1]), signal.SIGCONT)
"""


def train_stopped(bad, step, **loader):
    """Somebody in another session stops the whole program, and lets it go on."""
    if bad:
        command = [sys.executable, "-S", "-c", STOPS, str(os.getpgrp())]
        somebody = subprocess.Popen(command, env={}, start_new_session=True)
    common.train(DataLoader(**loader), step=step)
    if bad:
        somebody.wait()


def stopped_for_a_while(bad):
    """The workers are nearly always at work."""
    train_stopped(bad, 0.005, dataset=Computed(), batch_size=8, num_workers=4)


def stopped_in_a_step(bad):
    """The workers rest: training alone is in the middle of something."""
    train_stopped(bad, 0.15, dataset=Quick(), batch_size=8, num_workers=2)


if __name__ == "__main__":
    common.main(training_is_the_limit, no_batch_is_taken, stopped_for_a_while, stopped_in_a_step)
