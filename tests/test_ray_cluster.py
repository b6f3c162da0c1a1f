"""ray-cluster.yaml, judged offline: by Ray's own schema and preparation, and strictly, since the schema lets misspelt
keys of nested parts pass. What goes to the cloud is held against the cloud's own description of its API."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import botocore.session
import pytest
import yaml
from botocore.validate import ParamValidator

ROOT = Path(__file__).resolve().parents[1]
CONFIG: dict[str, Any] = yaml.safe_load((ROOT / "ray-cluster.yaml").read_text("utf-8"))
PREPARE = """
import json, sys
from ray.autoscaler._private.util import prepare_config, validate_config
prepared = prepare_config(json.load(sys.stdin))
validate_config(prepared)
json.dump(prepared, sys.stdout)
"""
START_OPTIONS = """
import json, sys
from ray.scripts.scripts import start
json.dump([name for option in start.params for name in option.opts], sys.stdout)
"""
DOCKER_OPTIONS = {"--env", "--env-file", "--ulimit", "--no-healthcheck", "--security-opt", "--volume", "--shm-size"}


def in_ray(code: str, given: object = None) -> Any:
    """What a little program prints that imports Ray; it must not be imported here."""
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(given), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout[done.stdout.index(done.stdout.strip()[0]) :])


def schema() -> dict[str, Any]:
    spec = find_spec("ray")
    assert spec is not None and spec.submodule_search_locations
    return json.loads((Path(spec.submodule_search_locations[0]) / "autoscaler" / "ray-schema.json").read_text("utf-8"))


def unknown_keys(value: object, part: dict[str, Any], place: str = "") -> Iterator[str]:
    """Every key that the schema does not name where it names any, whatever it says about additional ones."""
    if not isinstance(value, dict):
        return
    named: dict[str, Any] = part.get("properties", {})
    patterns: dict[str, Any] = part.get("patternProperties", {})
    for key, inner in value.items():
        known = named.get(key) or next((p for regex, p in patterns.items() if re.search(regex, key)), None)
        if known is not None:
            yield from unknown_keys(inner, known, f"{place}{key}.")
        elif named:
            yield place + key


def cloud_errors(config: dict[str, Any]) -> Iterator[str]:
    """What EC2's description of RunInstances has against the machines; the counts are Ray's to fill in."""
    model = botocore.session.get_session().get_service_model("ec2")
    shape = model.operation_model("RunInstances").input_shape
    for name, kind in config["available_node_types"].items():
        report = ParamValidator().validate({"MinCount": 1, "MaxCount": 1, **kind["node_config"]}, shape)
        if report.has_errors():
            yield f"{name}: {report.generate_report()}"


def problems(config: dict[str, Any]) -> list[str]:
    wrong_resources = [
        f"{name}: {resource}"
        for name, kind in config["available_node_types"].items()
        for resource in kind["resources"]
        if resource not in ("CPU", "GPU", "memory", "object_store_memory")
    ]
    return [*unknown_keys(config, schema()), *cloud_errors(config), *wrong_resources]


def test_ray_accepts_it_and_adds_nothing_of_its_own() -> None:
    prepared = in_ray(PREPARE, CONFIG)
    assert prepared["head_node_type"] == "head"
    for part in ("setup_commands", "head_setup_commands", "worker_setup_commands"):
        assert prepared[part] == []
    assert {name: kind["min_workers"] for name, kind in prepared["available_node_types"].items()} == {
        "head": 0, "cpu_worker": 2, "gpu_worker": 0,
    }  # fmt: skip


def test_no_key_is_misspelt() -> None:
    assert problems(CONFIG) == []


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("docker",), "run_option"), (("provider",), "regoin"), (("auth",), "ssh_usr"), ((), "idle_timeout_minute"),
        (("available_node_types", "cpu_worker"), "min_worker"),
        (("available_node_types", "cpu_worker", "node_config"), "InstanceTyp"),
        (("available_node_types", "cpu_worker", "node_config", "MetadataOptions"), "HttpToken"),
        (("available_node_types", "head", "resources"), "CPUS"),
    ],
)  # fmt: skip
def test_a_misspelt_key_would_be_found(path: tuple[str, ...], wrong: str) -> None:
    config = copy.deepcopy(CONFIG)
    part = config
    for step in path:
        part = part[step]
    part[wrong] = 1
    assert any(wrong in problem for problem in problems(config))


def test_the_commands_take_the_options_they_are_given() -> None:
    known = set(in_ray(START_OPTIONS))
    commands = CONFIG["head_start_ray_commands"] + CONFIG["worker_start_ray_commands"]
    assert set(re.findall(r"--[a-z-]+", " ".join(c for c in commands if c.startswith("ray start")))) <= known
    assert {option.partition("=")[0] for option in CONFIG["docker"]["run_options"]} <= DOCKER_OPTIONS


def test_disks_are_encrypted_the_dashboard_stays_inside_and_the_settings_exist() -> None:
    for kind in CONFIG["available_node_types"].values():
        assert all(disk["Ebs"]["Encrypted"] for disk in kind["node_config"]["BlockDeviceMappings"])
    assert "--dashboard-host=127.0.0.1" in " ".join(CONFIG["head_start_ray_commands"])
    used = next(o for o in CONFIG["docker"]["run_options"] if "CORPUS_CONFIG" in o).rpartition("/")[2]
    assert (ROOT / "configs" / used).is_file()
