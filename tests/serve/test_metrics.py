"""What /metrics says, that its labels are bounded, and that the dashboard asks for what exists."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from prometheus_client.parser import text_string_to_metric_families

from engine.search.records import Mode
from serve.metrics import MODES, MOST_ROUTES, Metrics, merged

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD = ROOT / "configs" / "grafana-dashboard.json"
Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


def series(text: bytes) -> Series:
    """(name, labels) → value, read back by the client library's own parser."""
    found: Series = {}
    for family in text_string_to_metric_families(text.decode()):
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found, f"{key} twice"
            found[key] = sample.value
    return found


def value(metrics: Metrics, name: str, **labels: str) -> float:
    return series(metrics.text())[name, frozenset({**labels, "replica": metrics.replica}.items())]


def filled(replica: str = "r1") -> Metrics:
    metrics = Metrics(replica)
    metrics.request_began()
    metrics.request_ended("GET", "/api/v1/documents/{document_id}", 404, 0.02)
    metrics.uploaded(1000)
    metrics.ingested("OCR_FAILED", 3.0)
    metrics.queue(7, 2)
    metrics.searched("hybrid", 0.03)
    metrics.embedded(4)
    metrics.delivered("retried")
    metrics.rate_limited("search")
    metrics.limiter_unreachable()
    return metrics


def test_everything_is_counted_where_it_belongs() -> None:
    metrics = filled()
    metrics.request_began()
    metrics.uploaded(500)
    metrics.ingested("completed")
    route = "/api/v1/documents/{document_id}"
    assert value(metrics, "corpus_http_requests_total", method="GET", route=route, status="4xx") == 1
    assert value(metrics, "corpus_http_request_seconds_bucket", route=route, le="0.025") == 1
    assert value(metrics, "corpus_http_request_seconds_bucket", route=route, le="0.01") == 0
    assert value(metrics, "corpus_http_requests_in_progress") == 1
    assert value(metrics, "corpus_upload_bytes_total") == 1500
    assert value(metrics, "corpus_uploads_total") == 2
    assert value(metrics, "corpus_ingested_total", code="OCR_FAILED") == 1
    assert value(metrics, "corpus_ingested_total", code="completed") == 1
    assert value(metrics, "corpus_ingest_seconds_count") == 1
    assert value(metrics, "corpus_ingest_queue", state="waiting") == 7
    assert value(metrics, "corpus_ingest_queue", state="leased") == 2
    assert value(metrics, "corpus_search_seconds_sum", mode="hybrid") == pytest.approx(0.03)
    assert value(metrics, "corpus_embed_batch_size_bucket", le="4.0") == 1
    assert value(metrics, "corpus_webhook_deliveries_total", outcome="retried") == 1
    assert value(metrics, "corpus_rate_limited_total", operation="search") == 1
    assert value(metrics, "corpus_rate_limiter_unreachable_total") == 1
    assert value(metrics, "process_resident_memory_bytes") > 1e6


def test_the_figure_that_must_be_nought_is_there_from_the_start() -> None:
    metrics = Metrics()
    assert value(metrics, "corpus_truncated_inputs_total") == 0
    metrics.truncated(3)
    assert value(metrics, "corpus_truncated_inputs_total") == 3


def test_labels_are_bounded_whatever_callers_send() -> None:
    metrics = Metrics()
    for number in range(1000):
        metrics.request_began()
        metrics.request_ended(f"M{number}", f"/guess/{number}", 200 + number % 5, 0.1)
        metrics.ingested(f"CODE_{number}")
        metrics.searched(f"mode-{number}", 0.1)
        metrics.delivered(f"outcome-{number}")
        metrics.rate_limited(f"operation-{number}")
    found = series(metrics.text())
    per_name = [sum(1 for name, _ in found if name == n) for n in {name for name, _ in found}]
    routes = {dict(labels).get("route") for _, labels in found}
    assert len(routes - {None}) == MOST_ROUTES + 1
    assert "other" in routes
    assert max(per_name) < (MOST_ROUTES + 1) * 16
    assert value(metrics, "corpus_search_seconds_count", mode="other") == 1000


def test_every_mode_of_search_has_its_series() -> None:
    assert set(get_args(Mode)) <= MODES


def test_two_in_one_process_do_not_mix() -> None:
    one, other = filled("a"), Metrics("b")
    assert value(other, "corpus_uploads_total") == 0
    assert value(one, "corpus_uploads_total") == 1


def test_reports_of_several_processes_are_one_valid_report() -> None:
    one, other = filled("a"), filled("b")
    other.uploaded(1)
    travelled = json.loads(json.dumps(other.snapshot()))  # plain values only
    text = merged([one.snapshot(), travelled])
    found = series(text)
    assert found["corpus_uploads_total", frozenset({("replica", "a")})] == 1
    assert found["corpus_uploads_total", frozenset({("replica", "b")})] == 2
    kinds = re.findall(r"^# TYPE (\S+) ", text.decode(), re.M)
    assert len(kinds) == len(set(kinds))


# ---------------------------------------------------------------- the dashboard
RESERVED = {"sum", "rate", "increase", "max", "by", "le", "histogram_quantile", "or", "vector"}


def dashboard() -> dict[str, Any]:
    return json.loads(DASHBOARD.read_text("utf-8"))


def queries() -> list[str]:
    return [target["expr"] for panel in dashboard()["panels"] for target in panel.get("targets", [])]


def known() -> dict[str, set[str]]:
    """Series name → its label names, `job` as a scrape adds it."""
    names: dict[str, set[str]] = {}
    for name, labels in series(filled().text()):
        names.setdefault(name, {"job"}).update(key for key, _ in labels)
    return names


@pytest.mark.parametrize("query", queries())
def test_every_query_asks_for_series_and_labels_that_exist(query: str) -> None:
    names = known()
    asked = re.findall(r"\b((?:corpus|process)_[a-z_]+)\{([^}]*)\}", query)
    assert asked, query
    for name, matchers in asked:
        assert name in names, f"{name} is not a series"
        assert set(re.findall(r"(\w+)\s*=~?", matchers)) <= names[name]
        for grouped in re.findall(r"by \(([^)]*)\)", query):
            assert {label.strip() for label in grouped.split(",")} <= names[name]
    words = set(re.findall(r"[a-z_]+", re.sub(r"\{[^}]*\}|\"[^\"]*\"|\[[^\]]*\]|\$\w+", "", query)))
    labels = {label for name, _ in asked for label in names[name]}
    assert words - RESERVED - labels - set(names) == set()
    assert query.count("(") == query.count(")")


def test_every_metric_of_ours_is_on_the_dashboard() -> None:
    ours = {re.sub(r"_(total|bucket|sum|count)$", "", name) for name in known() if name.startswith("corpus_")}
    text = " ".join(queries())
    assert {name for name in ours if name not in text} == set()


def test_panels_do_not_overlap_and_name_their_source() -> None:
    board = dashboard()
    taken: set[tuple[int, int]] = set()
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    for panel in board["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells
        for target in panel.get("targets", []):
            assert target["datasource"]["uid"] == "${datasource}"
    assert {variable["name"] for variable in board["templating"]["list"]} == {"datasource", "job"}
