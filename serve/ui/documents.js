// The list of a project's documents: by status, a page at a time, kept up to date, with deletion.

import { get, query, remove } from "./api.js";
import { $, announce, el, loading, problem, shownName } from "./dom.js";
import { counted, shownDocument } from "./details.js";

const PER_PAGE = 50;
const REFRESH = 3000; // ms, while something on the list is being processed
const UNFINISHED = ["pending", "processing"];

let project = null;
let cursor = null;
let running = null;
let beyond = false; // whether more than the first page was asked for
let clock = null;
let refreshing = false;

export function startDocuments() {
  $("status").addEventListener("change", () => reload());
  $("reload").addEventListener("click", () => reload());
  $("more").addEventListener("click", showMore);
}

export function showDocuments(chosen) {
  project = chosen;
  clearInterval(clock);
  clock = setInterval(refresh, REFRESH);
  return reload();
}

export function hideDocuments() {
  clearInterval(clock);
  running?.abort();
}

/** Something was added or has ended: look again, unless that would pull the list from under the person. */
export function documentsChanged() {
  const busy = beyond || $("document-list").contains(document.activeElement);
  if (project && !$("documents").hidden && !busy) reload({ quiet: true });
}

async function reload({ quiet = false } = {}) {
  cursor = null;
  beyond = false;
  if (!quiet) {
    $("document-list").replaceChildren();
    $("document-count").textContent = "";
    $("document-state").replaceChildren(loading("Loading the documents …"));
    $("more").hidden = true;
  }
  const items = await page(() => reload());
  if (!items) return;
  $("document-list").replaceChildren(...items);
  $("document-state").replaceChildren(...(items.length ? [] : [empty()]));
  count(quiet);
}

async function showMore() {
  beyond = true;
  $("more").disabled = true;
  const items = await page(showMore);
  $("more").disabled = false;
  if (!items) return;
  $("document-list").append(...items);
  count(false);
  if (items.length) focusItem(items[0]);
}

/** The items of the next page; null when there were none to be had (and the reason is shown). */
async function page(again) {
  running?.abort();
  const turn = (running = new AbortController());
  const parameters = { project_id: project.id, status: $("status").value, cursor, per_page: PER_PAGE };
  try {
    const answer = await get(query("documents", parameters), { signal: turn.signal });
    if (turn.signal.aborted) return null;
    cursor = answer.next_cursor;
    $("more").hidden = !cursor;
    $("document-state").replaceChildren();
    names(answer.documents);
    return answer.documents.map(item);
  } catch (error) {
    if (error.name !== "AbortError") $("document-state").replaceChildren(problem(error, again));
    return null;
  }
}

const item = (found) => shownDocument(found, project, confirmDelete);

/** The names that the search's file filter offers. */
function names(documents) {
  const known = [...new Set(documents.map((found) => found.filename))];
  $("filenames").replaceChildren(...known.map((name) => el("option", { value: name })));
}

function empty() {
  const text = $("status").value ? "No document has this status." : "There are no documents in this project yet.";
  return el("p", { class: "note" }, text);
}

function count(quiet) {
  const text = counted($("document-list").children.length, cursor !== null);
  if ($("document-count").textContent !== text && !quiet) announce(text);
  $("document-count").textContent = text;
}

/** Looks again at what is unfinished, a few at a time. */
async function refresh() {
  if (refreshing || document.hidden || !navigator.onLine) return;
  refreshing = true;
  const open = Array.from($("document-list").children).filter((one) => UNFINISHED.includes(one.dataset.status));
  for (const shown of open.slice(0, 5)) {
    try {
      replace(shown, item(await get(`documents/${shown.dataset.id}`)));
    } catch (error) {
      if (error.status !== 404) break; // the next round tries again; the banner tells of a server that is away
      shown.remove();
    }
  }
  refreshing = false;
}

function replace(shown, fresh) {
  const used = shown.contains(document.activeElement) || shown.querySelector("details[open]");
  if (shown.isConnected && !(used && fresh.dataset.status === shown.dataset.status)) shown.replaceWith(fresh);
}

function focusItem(shown) {
  shown.setAttribute("tabindex", "-1");
  shown.focus();
}

function confirmDelete(found, shown) {
  const dialog = $("confirm");
  const name = shownName(found.filename);
  const parts = [el("bdi", {}, name), " and everything found inside it will be gone for good."];
  $("confirm-text").replaceChildren(...parts);
  $("confirm-problem").textContent = "";
  $("confirm-no").onclick = () => dialog.close();
  $("confirm-yes").onclick = async () => {
    $("confirm-yes").disabled = true;
    try {
      await remove(`documents/${found.id}`);
      dialog.close();
      gone(shown, name);
    } catch (error) {
      if (error.status === 404) (dialog.close(), gone(shown, name));
      else $("confirm-problem").textContent = error.message;
    }
    $("confirm-yes").disabled = false;
  };
  dialog.showModal();
}

function gone(shown, name) {
  const neighbour = shown.nextElementSibling ?? shown.previousElementSibling;
  shown.remove();
  if (neighbour) focusItem(neighbour);
  else $("list-heading").focus();
  if (!$("document-list").children.length) $("document-state").replaceChildren(empty());
  count(true);
  announce(`${name} was deleted`);
}
