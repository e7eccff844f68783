MP_STATUS_CHECK_INTERVAL = 5.0  # seconds between looks at whether the other side lives

from . import collate, fetch, pin_memory, worker  # noqa: E402

__all__ = ["MP_STATUS_CHECK_INTERVAL", "collate", "fetch", "pin_memory", "worker"]
