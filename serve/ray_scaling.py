"""How many ingest workers there should be: as many as there are uploads to work on, within the bounds.

The ledger's queue decides, not the calls that announce uploads: it is still there after a restart. Ray Serve
applies the bounds and the delays of the deployment to what the policy wants, and copies this module to where its
controller runs, so it imports nothing of ours.
"""

from __future__ import annotations

import math
from typing import Any

WORK = "open_uploads"  # the name under which every ingest replica reports the ledger's queue
POLICY = "serve.ray_scaling:by_open_uploads"


def by_open_uploads(context: Any) -> tuple[float, dict[str, Any]]:
    """(wanted replicas, no state) for `ray.serve.config.AutoscalingContext`. All replicas report the same queue, as
    it was at different moments: the highest figure counts."""
    reports: dict[Any, float] = (context.aggregated_metrics or {}).get(WORK, {})
    known = [figure for figure in reports.values() if math.isfinite(figure)]
    wanted = math.ceil(max(known)) if known else context.target_num_replicas
    return float(max(1, wanted)), {}
