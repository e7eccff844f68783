"""Numbers of the paper, for comparison with ours.

IISWC 2024, "Characterization of Machine Learning Preprocessing Pipelines via Framework and Hardware
Profiling".
"""

# Worker time in ms: (operation, mean).
OPERATIONS = {
    "classification": [("Loader", 4.76), ("RandomResizedCrop", 1.11), ("RandomHorizontalFlip", 0.06), ("ToTensor", 0.34),
                       ("Normalize", 0.21), ("Collation", 49.8)],
    "segmentation": [("LoadImage", 72.0), ("RandBalancedCrop", 91.1), ("RandFlip", 4.4), ("Cast", 2.2),
                     ("RandomBrightnessAugmentation", 0.8), ("GaussianNoise", 6.5), ("Collation", 14.2)],
    "detection": [("Load", 9.6), ("Resize", 9.4), ("RandomHorizontalFlip", 0.5), ("ToTensor", 6.8), ("Normalize", 7.8),
                  ("Collation", 7.4)],
}
BATCH = {"classification": 128, "segmentation": 2, "detection": 2}  # of Collation above
# Standard deviation of a batch's preprocessing time, in % of its mean.
VARIATION = {"classification": "5.5 to 10.7", "segmentation": "66.8", "detection": "15.5"}

# In %, for batches of 512 and as many workers as GPUs: 1, 2, 3, 4.
WAITS_OVER_500MS = [100, 60.2, 37.8, 30.8]
OUT_OF_ORDER = [0, 34.8, 57.3, 61.2]
STALLED = [94.6, 90.0, 86.0, 83.2]

WORKERS = "8 to 28 workers: an epoch takes 1280.8 to 635.6 s, flat after 20; the operations' CPU seconds grow by 53 %"

# (tool, added wall time, data on disk), for one GPU, one worker and batches of 512.
OVERHEAD = [("LotusTrace", "+0.14 %", "233 bytes an image"),
            ("py-spy", "+8.5 %", ""),
            ("austin", "+3.2 %", "6.8 GB on 26,061 images"),
            ("Scalene", "+96 %", ""),
            ("PyTorch profiler", "+86 %", "out of memory on all of ImageNet")]
