"""Runners of transforms: a plain one, and some in the style of libraries that need not be installed.

Modules of the latter have `build()`, which returns a callable that turns an image into a tensor.
"""
