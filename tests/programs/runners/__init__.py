"""Runners of transforms in the shape of libraries that are not installed here.

Each module has `build()`, which returns a callable that takes an image to a tensor.
"""
