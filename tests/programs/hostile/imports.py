"""Module names that are not text, and forged audit events."""
import sys

import work


def strange(index):
    answers = 0
    for name in ("no\udcffmodule", "torch\udc80", "torch.no_such_module", "tor\0ch"):
        try:
            __import__(name)
        except (ImportError, UnicodeEncodeError, ValueError) as error:
            answers += len(type(error).__name__)
    for arguments in ((), (5,), (None, None), ("torch",), ("\ud800",), (b"torch", 2)):
        sys.audit("import", *arguments)
        sys.audit("open", *arguments)
    return answers


def main():
    print(strange(0))
    work.epoch(strange, workers=0, name="inside samples")
    work.epoch(strange, workers=1, name="inside a worker's")
    work.end()


print(sys.audit("import", 5), sys.audit("import", "\udcff"), sys.audit("import"))
main()
