from .modules import Module, Sequential

__all__ = ["Module", "Sequential"]
