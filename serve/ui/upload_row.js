// One line of the uploads: the file, how far it is, why it failed, what can be done.

import { button, el, nameNode, shownName, size } from "./dom.js";
import { address } from "./place.js";
import { badge, losses, outcome, reason, stageName } from "./states.js";
import { fromStart, openViewer } from "./viewer.js";

/** Gives `job` its row. `actions`: cancel(job), retry(job). */
export function newRow(job, actions) {
  job.actions = actions;
  job.head = el("span", { class: "state" });
  job.bar = el("progress", { "aria-label": `Progress of ${shownName(job.file.name)}` });
  job.body = el("div", { class: "outcome" });
  const name = el(
    "p",
    { class: "title" },
    nameNode(job.file.name),
    el("span", { class: "hint" }, ` ${size(job.file.size)}`),
  );
  job.row = el("li", { class: "item" }, el("div", { class: "row" }, name, job.head), job.bar, job.body);
  document.getElementById("uploads").append(job.row);
}

/** Shows the job's state; `facts` as upload.js gives them. */
export function draw(job, facts) {
  job.row.dataset.state = job.state;
  const { text, part } = progress(job.state, facts);
  job.head.replaceChildren(badge(job.state), text && el("span", { class: "hint" }, ` ${text}`));
  job.bar.hidden = !(job.state === "sending" || (job.state === "processing" && facts.stage));
  if (part === null) job.bar.removeAttribute("value");
  else job.bar.value = part;
  if (job.shown !== job.state) job.body.replaceChildren(...body(job, facts)); // else buttons lose the focus
  job.shown = job.state;
}

function progress(state, facts) {
  if (state === "sending" && facts.wait) return { text: `the server asks to wait ${facts.wait} s`, part: null };
  if (state === "sending" && facts.total) {
    const part = facts.sent / facts.total;
    return part < 1 ? { text: `${Math.floor(part * 100)} %`, part } : { text: "being stored", part: null };
  }
  if (state === "processing") return { text: facts.stage ? stageName(facts.stage) : "in the queue", part: null };
  return { text: "", part: null };
}

function body(job, { error, found }) {
  const name = shownName(job.file.name);
  const labelled = (text) => ({ "aria-label": `${text} ${name}` });
  if (job.state === "failed") {
    const again = job.again && button("Try again", () => job.actions.retry(job), labelled("Try again:"));
    return [reason(error), losses(found?.warnings), again].filter(Boolean);
  }
  if (job.state === "completed") return completed(job, found, labelled);
  if (["waiting", "sending"].includes(job.state)) {
    return [button("Cancel", () => job.actions.cancel(job), { class: "quiet", ...labelled("Cancel") })];
  }
  return [];
}

function completed(job, found, labelled) {
  const search = address(job.slug, "search", { file: found.filename });
  const actions =
    found.searchable &&
    el(
      "div",
      { class: "actions" },
      button("Open", () => openViewer(fromStart(found)), labelled("Open")),
      el("a", { href: search, ...labelled("Search in") }, "Search in it"),
    );
  const line = el("div", { class: "row" }, el("p", { class: "hint" }, outcome(found)), actions);
  return [line, losses(found.warnings)].filter(Boolean);
}
