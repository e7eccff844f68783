"""The experiments with their settings, and estimates of their durations."""
import dataclasses
import os

CORES = os.cpu_count() or 1
START_S = 4.0  # to start Python, PyTorch and workers
FIGURE_S = 3.0
# CPU seconds per sample in workers on a current machine; only for estimates.
SAMPLE_S = {"classification": 0.004, "segmentation": 0.05, "detection": 0.03}
PROGRAM = {"classification": "classify", "segmentation": "segment", "detection": "detect"}
ROUND_SAMPLES = {"segmentation": 4, "detection": 3}  # per epoch; classification: all photographs


@dataclasses.dataclass(frozen=True)
class Run:
    """One training run under the tracer. Its name contains all settings, so that its trace can be reused."""
    workload: str
    batch_size: int
    workers: int
    epochs: int
    samples: int  # per epoch

    @property
    def name(self):
        return f"{self.workload}_b{self.batch_size}_w{self.workers}_e{self.epochs}_n{self.samples}"

    @property
    def seconds(self):
        """The estimated duration."""
        work = self.samples * self.epochs * SAMPLE_S[self.workload]
        return START_S + work / max(1, min(self.workers, CORES))

    def command(self, programs, data):
        return ["/usr/bin/python3", programs / f"{PROGRAM[self.workload]}.py", "--data", data, "--batch-size",
                str(self.batch_size), "--workers", str(self.workers), "--epochs", str(self.epochs)]


@dataclasses.dataclass(frozen=True)
class Settings:
    photos: int
    epochs: int
    batch_sizes: tuple
    workers: tuple        # each is combined with each batch size
    study_batch: int      # the batch size in the study of worker counts
    study_workers: tuple
    detection_epochs: int
    segmentation_epochs: int
    overhead_rounds: int
    overhead_epochs: int


QUICK = Settings(photos=512, epochs=1, batch_sizes=(32, 64, 128), workers=(1, 2, 4), study_batch=32,
                 study_workers=(1, 2, 3, 4, 6, 8), detection_epochs=30, segmentation_epochs=15, overhead_rounds=3, overhead_epochs=6)
FULL = Settings(photos=2048, epochs=2, batch_sizes=(64, 128, 256, 512), workers=(1, 2, 3, 4), study_batch=64,
                study_workers=tuple(sorted({1, 2, 3, 4, 6, 8, 12, 16, CORES, 2 * CORES})), detection_epochs=200,
                segmentation_epochs=80, overhead_rounds=9, overhead_epochs=8)


def grid(settings):
    """All combinations of batch size and workers, for figures 2 to 5."""
    return [Run("classification", size, workers, settings.epochs, settings.photos)
            for size in settings.batch_sizes for workers in settings.workers]


def study(settings):
    """Different numbers of workers, for figure 6."""
    return [Run("classification", settings.study_batch, workers, settings.epochs, settings.photos)
            for workers in settings.study_workers]


def workloads(settings):
    """One run of each of the three workloads, for tables I and II."""
    workers = min(2, CORES)
    return {"classification": Run("classification", settings.batch_sizes[-1], workers, settings.epochs, settings.photos),
            "segmentation": Run("segmentation", 2, workers, settings.segmentation_epochs, ROUND_SAMPLES["segmentation"]),
            "detection": Run("detection", 2, workers, settings.detection_epochs, ROUND_SAMPLES["detection"])}


def all_runs(settings):
    return list(dict.fromkeys([*grid(settings), *study(settings), *workloads(settings).values()]))


def overhead_run(settings):
    """One worker and the largest batch, as in the paper; long enough for the start-up not to matter."""
    return Run("classification", settings.batch_sizes[-1], 1, settings.overhead_epochs, settings.photos)


def minutes(seconds):
    return f"{seconds / 60:.1f} min" if seconds >= 100 else f"{seconds:.0f} s"
