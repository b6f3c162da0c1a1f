// What the states of a document are called, and its outcome: facts, the reason of a failure, what was lost.

import { el, nameNode, plural } from "./dom.js";

const STATES = {
  waiting: "Waiting",
  sending: "Sending",
  cancelled: "Cancelled",
  pending: "Waiting",
  processing: "Processing",
  completed: "Completed",
  failed: "Failed",
  deleted: "Deleted",
};
const STAGES = {
  list: "Listing",
  fetch: "Fetching the file",
  detect: "Recognising the format",
  sanitize: "Removing active content",
  extract: "Reading the text",
  ocr: "Reading scanned pages",
  vision: "Looking at difficult pages",
  redact: "Redacting personal data",
  chunk: "Cutting it into passages",
  embed: "Computing embeddings",
  publish: "Making it searchable",
};

const stateName = (state) => STATES[state] ?? String(state);
export const stageName = (stage) => STAGES[stage] ?? `Processing (${stage})`;
export const badge = (state) => el("span", { class: `badge ${state in STATES ? state : ""}` }, stateName(state));

/** What came out of a completed document, as a sentence part. */
export function outcome(found) {
  if (found.skip_reason) return `No text to search (${found.skip_reason})`;
  const pages = found.page_count ? `${plural(found.page_count, "page")}, ` : "";
  return pages + plural(found.chunk_count, "passage");
}

/** Why a document failed: message, code, stage. */
export function reason({ code, message, stage }) {
  return el(
    "div",
    { class: "reason" },
    el("p", {}, message || "No reason was recorded."),
    el("p", { class: "hint" }, el("code", {}, code), stage && `, while ${stageName(stage).toLowerCase()}`),
  );
}

/** The loss report, folded; null when nothing was lost. */
export function losses(warnings) {
  if (!warnings?.length) return null;
  const shown = warnings.map((loss) =>
    el(
      "li",
      {},
      loss.message || loss.code,
      el(
        "span",
        { class: "hint" },
        " ",
        el("code", {}, loss.code),
        where(loss.place),
        loss.count > 1 && ` · ${loss.count} times`,
      ),
    ),
  );
  return el(
    "details",
    {},
    el("summary", {}, plural(warnings.length, "loss", "losses")),
    el("ul", { class: "losses" }, shown),
  );
}

const where = (place) => (place ? [" · ", nameNode(place)] : null);
