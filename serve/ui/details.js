// One document of the list: its state, facts, failure and losses, and what can be done with it.

import { button, el, nameNode, plural, shownName, size, time } from "./dom.js";
import { address } from "./place.js";
import { badge, losses, outcome, reason, stageName } from "./states.js";
import { fromStart, openViewer } from "./viewer.js";

/** A list item. `project`: whose role decides on "Delete"; `onDelete(found, item)`. */
export function shownDocument(found, project, onDelete) {
  const head = el("div", { class: "row" }, el("h3", { class: "title" }, nameNode(found.filename)), badge(found.status));
  return el(
    "li",
    { class: "item", "data-id": found.id, "data-status": found.status },
    head,
    el("div", { class: "row" }, el("p", { class: "hint" }, facts(found)), actions(found, project, onDelete)),
    found.error && reason(found.error),
    losses(found.warnings),
    more(found),
  );
}

function facts(found) {
  const done = found.status === "completed";
  const parts = [
    found.source_format && found.source_format.toUpperCase(),
    done && outcome(found),
    found.status === "processing" && found.stage && stageName(found.stage),
    size(found.size_bytes),
    found.status !== "completed" && found.searchable && "an older version is searchable",
    found.parent_id && "found inside another document",
    time(found.created_at),
  ].filter(Boolean);
  return parts.flatMap((part, n) => (n ? [" · ", part] : [part]));
}

function more(found) {
  const rows = {
    Title: found.title && shownName(found.title),
    Author: found.author && shownName(found.author),
    Language: found.language,
    Words: found.word_count ? found.word_count.toLocaleString("en") : "",
    "Time taken": found.parse_duration,
    "Own key": found.source_id && shownName(found.source_id),
    "Last change": time(found.updated_at),
    "Document id": found.id,
    "Found inside": found.parent_id,
  };
  const given = Object.entries(rows).filter(([, value]) => value);
  const list = given.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, el("bdi", {}, value))));
  return el("details", {}, el("summary", {}, "Details"), el("dl", {}, list));
}

function actions(found, project, onDelete) {
  const name = shownName(found.filename);
  const search = address(project.slug, "search", { file: found.filename });
  return el(
    "div",
    { class: "actions" },
    found.searchable && button("Open", () => openViewer(fromStart(found)), { "aria-label": `Open ${name}` }),
    found.searchable && el("a", { href: search, "aria-label": `Search in ${name}` }, "Search in it"),
    project.role !== "read" &&
      button("Delete", (event) => onDelete(found, event.target.closest("li")), {
        class: "quiet",
        "aria-label": `Delete ${name}`,
      }),
  );
}

export const counted = (n, more) => `${plural(n, "document")}${more ? " shown, there are more" : ""}`;
