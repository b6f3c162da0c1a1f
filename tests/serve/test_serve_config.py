"""configs/serve.yaml against Ray's own schema, strictly: Ray itself lets misspelt keys pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel, ValidationError

from engine.settings import load

pytestmark = pytest.mark.ray  # imports Ray, starts none
FILE = Path(__file__).resolve().parents[2] / "configs" / "serve.yaml"


def strangers(model: type[BaseModel], values: dict[str, Any], where: str = "") -> list[str]:
    """Keys that the model does not know, however deep."""
    unknown: list[str] = []
    for name, value in values.items():
        field = model.model_fields.get(name)
        if field is None:
            unknown.append(where + name)
            continue
        inner = _model_in(field.annotation)
        for part in value if isinstance(value, list) else [value]:
            if inner is not None and isinstance(part, dict):
                unknown += strangers(inner, part, f"{where}{name}.")
    return unknown


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)


def test_the_deployment_file_is_valid_and_names_only_what_exists() -> None:
    from ray.serve.schema import ServeDeploySchema  # noqa: TID251

    values = yaml.safe_load(FILE.read_text("utf-8"))
    assert strangers(ServeDeploySchema, values) == []
    ServeDeploySchema.model_validate(values)
    (application,) = values["applications"]
    settings = load(application["args"], environ={})
    assert (settings.serve.host, settings.serve.port) == tuple(values["http_options"][k] for k in ("host", "port"))
    assert settings.auth.configured
    assert application["import_path"] == "serve.app:app"


def test_the_check_finds_misspelt_keys_that_ray_accepts() -> None:
    from ray.serve.schema import ServeDeploySchema  # noqa: TID251

    values = yaml.safe_load(FILE.read_text("utf-8"))
    values["http_options"]["prot"] = 1
    values["applications"][0]["deployments"] = [{"name": "Api", "num_replica": 2}]
    assert strangers(ServeDeploySchema, values) == ["http_options.prot", "applications.deployments.num_replica"]


def test_the_file_builds_the_three_deployments_with_every_bound_set() -> None:
    from serve.app import app

    values = yaml.safe_load(FILE.read_text("utf-8"))["applications"][0]["args"]
    built = app(values)
    bound = {d.name: d for d in _deployments(built)}
    assert set(bound) == {"Api", "QueryEmbedder", "Ingest"}
    for deployment in bound.values():
        config = deployment._deployment_config
        assert config.max_queued_requests > 0
        assert config.autoscaling_config.upscale_delay_s == 5
        assert config.autoscaling_config.downscale_delay_s == 120
        assert config.graceful_shutdown_timeout_s >= 60
    assert bound["Api"]._deployment_config.autoscaling_config.min_replicas == 2
    assert bound["Ingest"]._deployment_config.max_ongoing_requests == 1
    with pytest.raises((ValidationError, Exception), match=r"serve\.prot"):
        app({"serve.prot": 8016})


def _deployments(application: Any) -> list[Any]:
    node = application._bound_deployment
    found = [node]
    for argument in node.init_args:
        if type(argument).__name__ == "Application":
            found += _deployments(argument)
    return found
