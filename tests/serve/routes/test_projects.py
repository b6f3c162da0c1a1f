"""Projects: a taken name, a name that cannot be one, settings no upload could be processed with."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx


def code_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json().get("error", {}).get("code", "")


def test_of_many_who_make_the_same_project_one_does(api: httpx.Client) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: code_of(api.post("/projects", json={"slug": "wanted"})), range(8)))
    assert sorted(answers) == [(201, ""), *[(409, "CONFLICT")] * 7]


def test_a_uuid_names_no_new_project_and_gives_no_old_one(api: httpx.Client) -> None:
    known = api.get("/projects/demo").json()["id"]
    for slug in (known, "9c2f1bd2-9f9f-4a51-8a57-0d6f5b7c2e11", "No Slug"):
        assert code_of(api.post("/projects", json={"slug": slug})) == (422, "INVALID_REQUEST")


def test_settings_that_no_upload_could_be_processed_with_are_refused(api: httpx.Client) -> None:
    bad = {"chunking": {"strategy": "nonsense"}}
    assert code_of(api.post("/projects", json={"slug": "bad", "settings": bad})) == (422, "INVALID_REQUEST")
    assert code_of(api.get("/projects/bad")) == (404, "PROJECT_NOT_FOUND")
    before = api.get("/projects/demo").json()["settings"]
    assert code_of(api.patch("/projects/demo", json={"settings": bad})) == (422, "INVALID_REQUEST")
    assert api.get("/projects/demo").json()["settings"] == before
