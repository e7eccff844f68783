"""Runs a script under PyTorch's profiler: profiled.py OUTPUT.json SCRIPT ARGUMENT…"""
import runpy
import sys

import torch.profiler

output, sys.argv = sys.argv[1], sys.argv[2:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
    runpy.run_path(sys.argv[0], run_name="__main__")
profile.export_chrome_trace(output)
