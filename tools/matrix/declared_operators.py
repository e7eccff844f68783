"""Copied into a virtual environment whose torchvision was built for CUDA and whose PyTorch was not.

The wheel's native operators cannot be loaded there, and its Python half, which names some of them when it is
imported, does not import. This declares them first, without an implementation: transforms and datasets, which use none
of them, are the wheel's own and work.
"""
import sys

SCHEMAS = ("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
           "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


class Declared:
    """Finds no module; declares the operators when torchvision is looked for."""

    library = None  # operators go with it

    @classmethod
    def find_spec(cls, name, *_):
        if name == "torchvision" and cls.library is None:
            from torch.library import Library

            cls.library = Library("torchvision", "DEF")
            for schema in SCHEMAS:
                cls.library.define(schema)


sys.meta_path.insert(0, Declared)
