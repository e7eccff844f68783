from .container import Sequential
from .module import Module

__all__ = ["Module", "Sequential"]
