// The search form and its hits.

import { post } from "./api.js";
import { $, announce, button, el, loading, plural, problem, shownName } from "./dom.js";
import { wordsOf } from "./highlight.js";
import { citation, passage } from "./passage.js";
import { address, place } from "./place.js";
import { firstPage, openViewer } from "./viewer.js";

// The format ids of the engine; a test holds this list against its table of extractors.
const FORMATS = (
  "bmp code csv doc docx eml epub gif heic html ipynb jpg json jsonl mbox md msg odp " +
  "ods odt org pdf png ppt pptx rst rtf tiff tsv txt webp xls xlsb xlsx xml zip"
).split(" ");
// parameter of the address → field of the form
const FIELDS = { q: "query", mode: "mode", format: "format", kind: "element", file: "filename", top: "top-k" };
const UNSET = { mode: "hybrid", top: "10" };
let running = null;

export function startSearch() {
  $("format").append(...FORMATS.map((format) => el("option", {}, format)));
  $("search-form").addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
  for (const name of Object.keys(FIELDS).slice(1)) $(FIELDS[name]).addEventListener("change", refine);
  $("clear-filters").addEventListener("click", clear);
}

/** The form as the address says, and the search carried out if there is one. */
export function showSearch(project) {
  const { parameters } = place();
  for (const [name, id] of Object.entries(FIELDS)) $(id).value = parameters.get(name) ?? UNSET[name] ?? "";
  const active = filtersSet();
  $("filters-set").textContent = active ? `(${active} set)` : "";
  if (active) $("filters").open = true;
  if ($("query").value.trim()) run(project);
  else reset();
}

function filtersSet() {
  return Object.keys(FIELDS)
    .slice(1)
    .filter((name) => $(FIELDS[name]).value !== (UNSET[name] ?? "")).length;
}

function reset() {
  running?.abort();
  $("result-count").textContent = "";
  $("results").replaceChildren(
    el(
      "p",
      { class: "note" },
      "Ask in words or as a question. Every passage found names its file, page and section, and opens there.",
    ),
  );
}

/** The form's content goes into the address, which carries the search out. */
function ask() {
  const given = {};
  for (const [name, id] of Object.entries(FIELDS)) {
    const value = $(id).value.trim();
    if (value !== (UNSET[name] ?? "")) given[name] = value;
  }
  const wanted = address(place().slug, "search", given);
  if (location.hash === wanted) document.dispatchEvent(new Event("place"));
  else location.hash = wanted;
}

function refine() {
  if ($("query").value.trim()) ask();
}

function clear() {
  for (const [name, id] of Object.entries(FIELDS).slice(1)) $(id).value = UNSET[name] ?? "";
  if ($("query").value.trim()) ask();
  else $("filters-set").textContent = "";
}

async function run(project) {
  running?.abort();
  const turn = (running = new AbortController());
  const filter = {
    source_format: $("format").value,
    element_type: $("element").value,
    filename: $("filename").value.trim(),
  };
  for (const name of Object.keys(filter)) if (!filter[name]) delete filter[name];
  const query = $("query").value.trim();
  const json = { query, project_id: project.id, top_k: Number($("top-k").value), mode: $("mode").value, filter };
  $("result-count").textContent = "";
  const waiting = setTimeout(() => $("results").replaceChildren(loading("Searching …")), 150); // quick ones: no flicker
  try {
    const answer = await post("documents/search", json, { signal: turn.signal });
    if (!turn.signal.aborted) show(answer.results, query, Object.keys(filter).length > 0, project);
  } catch (error) {
    if (error.name !== "AbortError") $("results").replaceChildren(problem(error, () => run(project)));
  } finally {
    clearTimeout(waiting);
  }
}

function show(hits, query, filtered, project) {
  const count = hits.length ? plural(hits.length, "passage") : "Nothing found";
  $("result-count").textContent = count;
  announce(count);
  const words = wordsOf(query);
  if (hits.length)
    $("results").replaceChildren(
      el(
        "ol",
        { class: "hits" },
        hits.map((hit) => shownHit(hit, words)),
      ),
    );
  else $("results").replaceChildren(nothing(filtered, project));
}

function nothing(filtered, project) {
  return el(
    "div",
    { class: "note" },
    el(
      "p",
      {},
      filtered ? "No passage fits the query and the filters." : "No passage of this project fits. Other words may.",
    ),
    filtered
      ? button("Clear filters", clear)
      : el("p", {}, el("a", { href: address(project.slug, "documents") }, "See the documents of this project")),
  );
}

function shownHit(hit, words) {
  const page = firstPage(hit);
  const where = page && `page ${page}`;
  const others = hit.alternates.length;
  const name = shownName(hit.filename);
  return el(
    "li",
    { class: "hit" },
    el("h2", {}, el("bdi", {}, shownName(hit.title || hit.filename))),
    el("p", { class: "citation" }, citation(hit)),
    passage(hit, words),
    others > 0 && el("p", { class: "hint" }, `The same text is in ${plural(others, "other document")}.`),
    el(
      "div",
      { class: "actions" },
      button(where ? `Open ${where}` : "Show in the document", () => openViewer(hit, words), {
        "aria-label": where ? `Open ${where} of ${name}` : `Show in the document ${name}`,
      }),
    ),
  );
}
