"""Copied into a virtual environment whose torchvision was built for CUDA and whose PyTorch was not.

The wheel's native operators cannot be loaded there, and the import of its Python part fails, because it
refers to some of them. This module declares them before, without an implementation. Transforms and datasets
use none of them, so these work as in the wheel.
"""
import sys

SCHEMAS = ("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
           "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


class Declared:
    """A finder that finds no module, but declares the operators when torchvision is imported."""

    library = None  # keeps the operators alive

    @classmethod
    def find_spec(cls, name, *_):
        if name == "torchvision" and cls.library is None:
            from torch.library import Library

            cls.library = Library("torchvision", "DEF")
            for schema in SCHEMAS:
                cls.library.define(schema)


sys.meta_path.insert(0, Declared)
