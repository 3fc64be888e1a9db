"""What holds for all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Nothing here tests how quick the machine is, and it may have much else to do.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
