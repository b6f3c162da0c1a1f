"""What is sent to a webhook: the body, and the headers that prove who sent it.

Form and signature follow the Standard Webhooks specification 1.0 (standardwebhooks.com): HMAC-SHA256 over
`id.timestamp.body` with the webhook's own secret. The id stays the same over all tries of a delivery, so that a
receiver can tell a repetition.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from standardwebhooks.webhooks import Webhook

from engine.registry.online import Event


def body_of(event: Event) -> bytes:
    """The event as JSON: `type`, `timestamp` (of the event, ISO 8601 UTC), `data` (ids, state and counts; never text
    of a document)."""
    at = event.created_at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    data: dict[str, object] = {"project_id": event.project_id}
    if event.document_id is not None:
        data["document_id"] = event.document_id
    return json.dumps({"type": event.type, "timestamp": at, "data": {**data, **event.data}}).encode()


def headers_of(delivery_id: str, secret: str, body: bytes, now: datetime) -> dict[str, str]:
    """The headers of one try. `now` is signed too: receivers refuse what is older than a few minutes."""
    signature = Webhook(secret).sign(delivery_id, now.astimezone(UTC), body.decode())
    return {
        "connection": "close",
        "content-type": "application/json",
        "user-agent": "corpus-webhooks/1",
        "webhook-id": delivery_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": signature,
    }
