"""Runners of transforms: a plain one, and some in the shape of libraries that are not installed here.

Modules of the latter have `build()`, which returns a callable that takes an image to a tensor.
"""
