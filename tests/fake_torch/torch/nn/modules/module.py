class Module:
    """Calls forward() through _call_impl(), as PyTorch's modules do."""

    def _call_impl(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    __call__ = _call_impl

    def forward(self, *inputs):
        raise NotImplementedError(f"{type(self).__name__} has no forward()")
