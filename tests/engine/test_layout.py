"""Stage layouts for different clusters."""

from __future__ import annotations

import pytest

from engine.errors import ConfigError
from engine.layout import plan_layout
from engine.settings import load

DEFAULTS = load(environ={})


def test_cpu_machines_get_one_fused_worker_per_core() -> None:
    layout = plan_layout(DEFAULTS, 2, 0)
    assert (layout.kind, layout.workers, layout.worker_cpus, layout.threads) == ("fused", 2, 1.0, 1)


def test_a_gpu_parts_preparing_from_embedding() -> None:
    layout = plan_layout(DEFAULTS, 16, 1)
    assert (layout.kind, layout.workers, layout.embedders, layout.embedder_gpus) == ("split", 15, 1, 1.0)


def test_a_gateway_leaves_the_gpu_alone() -> None:
    assert plan_layout(load({"embedding.backend": "gateway"}, environ={}), 16, 1).kind == "fused"


@pytest.mark.parametrize("cpus", [1, 2, 4, 64])
@pytest.mark.parametrize("gpus", [0, 1, 4])
def test_the_pools_always_fit(cpus: int, gpus: int) -> None:
    layout = plan_layout(DEFAULTS, cpus, gpus)
    assert layout.workers * layout.worker_cpus + layout.embedders * layout.embedder_cpus <= cpus
    assert layout.embedders * layout.embedder_gpus <= gpus


def test_too_small_a_cluster_is_refused_with_its_figures() -> None:
    with pytest.raises(ConfigError, match="2 CPUs and 0 GPUs, too few for fused: 64 workers"):
        plan_layout(load({"pipeline.workers": 64}, environ={}), 2, 0)
    with pytest.raises(ConfigError, match="0 CPUs"):
        plan_layout(DEFAULTS, 0, 0)


def test_a_guest_reserves_little_so_that_the_others_can_grow() -> None:
    layout = plan_layout(DEFAULTS, 0.8, 0, guest=True)
    assert (layout.kind, layout.workers, layout.worker_cpus) == ("fused", 1, 0.25)
    assert plan_layout(DEFAULTS, 0.1, 0, guest=True).worker_cpus == pytest.approx(0.1)
    big = plan_layout(DEFAULTS, 14.8, 0, guest=True)
    assert (big.workers, big.worker_cpus) == (14, 0.25)


def test_a_guest_takes_the_part_of_a_gpu_that_is_left() -> None:
    layout = plan_layout(DEFAULTS, 6, 0.5, guest=True)
    assert (layout.kind, layout.embedders, layout.embedder_gpus) == ("split", 1, 0.5)


def test_a_full_cluster_has_no_room_for_a_guest() -> None:
    with pytest.raises(ConfigError, match="0 CPUs and 0 GPUs left"):
        plan_layout(DEFAULTS, 0, 0, guest=True)
