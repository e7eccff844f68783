"""Ultralytics: YOLO trained from nothing on generated boxes."""
import pathlib
import sys

import numpy
import PIL.Image
from ultralytics import YOLO
from ultralytics.data import augment

import clock
import material

clock.watch(augment.RandomPerspective, augment.RandomHSV)
sizes = []


def without_validation(trainer):
    trainer.validate, trainer.final_eval = lambda: ({}, 0.0), lambda: None


def make(root):
    for part in ("train", "val"):
        for kind in ("images", "labels"):
            (root / kind / part).mkdir(parents=True, exist_ok=True)
        for number in range(32):
            PIL.Image.fromarray(numpy.asarray(material.pixels(number))).save(root / "images" / part / f"{number}.jpg")
            (root / "labels" / part / f"{number}.txt").write_text("0 0.5 0.5 0.3 0.3\n")
    (root / "data.yaml").write_text(f"path: {root}\ntrain: images/train\nval: images/val\nnames: {{0: thing}}\n")


def main():
    root = pathlib.Path(sys.argv[1]) / "yolo"
    if not root.exists():
        make(root)
    model = YOLO("yolov8n.yaml", verbose=False)
    model.add_callback("on_train_batch_end", lambda trainer: sizes.append(trainer.args.batch))
    model.add_callback("on_train_start", without_validation)
    model.train(data=str(root / "data.yaml"), epochs=1, imgsz=64, batch=8, workers=2, device="cpu", val=False, plots=False,
                save=False, verbose=False, project=str(root / "runs"), exist_ok=True, cache=False, close_mosaic=0)
    clock.ends(len(sizes), sum(sizes))


if __name__ == "__main__":
    main()
