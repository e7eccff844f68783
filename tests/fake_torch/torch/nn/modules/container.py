from .module import Module


class Sequential(Module):
    """Calls the modules in turn, each with the result of the one before."""

    def __init__(self, *modules):
        self._modules = {str(place): module for place, module in enumerate(modules)}

    def __iter__(self):
        return iter(self._modules.values())

    def forward(self, input):
        for module in self:
            input = module(input)
        return input
