// Adding documents: files wait, are sent a few at a time, and each is followed until it is searchable or has failed.

import { ApiError, newKey, upload } from "./api.js";
import { $, announce, pause, plural, shownName } from "./dom.js";
import { dropped } from "./files.js";
import { draw, newRow } from "./upload_row.js";
import { watch } from "./watch.js";

const SENDERS = 2; // beside the event streams and the rest of the page: browsers open six connections to a server
const TRIES = 30; // of one file while the server asks to wait
const AT_HOME = ["waiting", "sending"]; // lost when the page is left
const ENDED = ["completed", "failed", "cancelled", "deleted"];

const jobs = [];
let sending = 0;
let project = null;
let changed = () => {};

/** `onChange()` is called whenever a document was accepted or has ended. */
export function startUploads(onChange) {
  changed = onChange;
  $("files").addEventListener("change", (event) => {
    add(Array.from(event.target.files));
    event.target.value = ""; // so that the same file can be chosen again
  });
  $("clear-uploads").addEventListener("click", clear);
  window.addEventListener("beforeunload", (event) => {
    if (jobs.some((job) => AT_HOME.includes(job.state))) event.preventDefault();
  });
  startDropping();
}

/** The project that files are added to from now on; those added before keep theirs. */
export function uploadsTo(chosen) {
  project = chosen;
  $("adding").hidden = chosen.role === "read";
}

function startDropping() {
  let inside = 0;
  const over = (on) => $("drop").classList.toggle("over", on);
  const ours = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragenter", (event) => ours(event) && over((inside += 1) > 0));
  document.addEventListener("dragleave", (event) => ours(event) && over((inside -= 1) > 0));
  document.addEventListener("dragover", (event) => ours(event) && event.preventDefault());
  document.addEventListener("drop", (event) => {
    if (!ours(event)) return;
    event.preventDefault(); // else the browser leaves the page for the file
    over((inside = 0) > 0);
    if (!document.querySelector("dialog[open]")) take(event.dataTransfer);
  });
}

async function take(transfer) {
  try {
    add(await dropped(transfer));
  } catch (error) {
    announce("What was dropped could not be read.");
    console.warn(error);
  }
}

function add(files) {
  if (!files.length || !project || project.role === "read") return;
  const options = optionsNow();
  for (const file of files) {
    const named = $("replace").checked ? { source_id: file.name } : {};
    const fields = { project_id: project.id, ...options, ...named };
    const job = { file, fields, slug: project.slug, key: newKey(), stop: new AbortController() };
    newRow(job, { cancel, retry });
    jobs.push(job);
    set(job, "waiting");
  }
  $("uploads-area").hidden = false;
  announce(`${plural(files.length, "file")} added`);
  document.dispatchEvent(new Event("files-added"));
  next();
}

function optionsNow() {
  const given = { chunking_strategy: $("strategy").value, max_tokens: $("max-tokens").value };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value));
}

function next() {
  while (sending < SENDERS) {
    const job = jobs.find((one) => one.state === "waiting");
    if (!job) return;
    sending += 1;
    send(job).finally(() => ((sending -= 1), next()));
  }
}

async function send(job) {
  set(job, "sending", { sent: 0, total: job.file.size });
  const progress = (sent, total) => set(job, "sending", { sent, total });
  for (let tries = 1; ; tries += 1) {
    try {
      job.id = (await upload(job.file, job.fields, job.key, progress, job.stop.signal)).document_id;
      follow(job); // not awaited: the next file can go
      return;
    } catch (error) {
      if (!(error instanceof ApiError)) return set(job, "cancelled");
      if (!error.passing || error.retryAfter === null || tries === TRIES) return fail(job, error);
      set(job, "sending", { wait: error.retryAfter });
      await pause((error.retryAfter + Math.random()) * 1000, job.stop.signal);
    }
  }
}

async function follow(job) {
  set(job, "processing");
  changed();
  try {
    const found = await watch(
      job.id,
      (type, data) => type === "document.stage" && set(job, "processing", { stage: data.stage }),
    );
    if (!found) set(job, "deleted");
    else if (found.status === "failed") fail(job, found.error, found);
    else end(job, found);
  } catch (error) {
    fail(job, error);
  }
  changed();
}

function end(job, found) {
  set(job, "completed", { found });
  announce(`${shownName(job.file.name)}: completed. ${counts()}`);
}

/** `error`: what the API answered, or what the document's record says. */
function fail(job, error, found = null) {
  job.again = found === null && (error.passing ?? false);
  set(job, "failed", { error, found });
  announce(`${shownName(job.file.name)}: failed. ${error.message}`);
}

function set(job, state, facts = {}) {
  job.state = state;
  draw(job, facts);
  summary();
}

function cancel(job) {
  job.stop.abort();
  if (job.state === "waiting") set(job, "cancelled");
}

/** Once more with the same key: what the server has taken already is not taken twice. */
function retry(job) {
  if (job.id) follow(job);
  else set(job, "waiting");
  next();
}

function clear() {
  for (const job of jobs.filter((one) => ENDED.includes(one.state))) {
    job.row.remove();
    jobs.splice(jobs.indexOf(job), 1);
  }
  $("uploads-area").hidden = !jobs.length;
  summary();
  if (jobs.length) $("uploads-heading").focus();
  else $("files").focus();
}

function counts() {
  const ended = jobs.filter((job) => ENDED.includes(job.state)).length;
  const failed = jobs.filter((job) => job.state === "failed").length;
  return `${ended} of ${plural(jobs.length, "file")} done${failed ? `, ${failed} failed` : ""}`;
}

function summary() {
  $("uploads-summary").textContent = jobs.length ? counts() : "";
  const busy = jobs.filter((job) => !ENDED.includes(job.state)).length;
  $("busy-count").textContent = busy ? `(${busy} in progress)` : "";
  $("busy-count").hidden = !busy;
  $("clear-uploads").hidden = busy === jobs.length;
}
