// The page put together: projects, views by address, sign-in, whether the server can be reached.

import { get } from "./api.js";
import { documentsChanged, hideDocuments, showDocuments, startDocuments } from "./documents.js";
import { $, el, loading, problem, shownName } from "./dom.js";
import { address, place, remember, remembered } from "./place.js";
import { noProjects, showChoice, startProjects } from "./projects.js";
import { showSearch, startSearch } from "./search.js";
import { signOut, token } from "./session.js";
import { startUploads, uploadsTo } from "./upload.js";
import { startViewer } from "./viewer.js";

const PROBE = 5000; // ms between looks at a server that did not answer
let projects = null;
let probing = null;

async function loadProjects() {
  begin(loading("Loading the projects …"));
  try {
    ({ projects } = await get("projects"));
  } catch (error) {
    begin(problem(error, loadProjects));
    return;
  }
  $("sign-out").hidden = !token();
  show();
}

/** In the middle of a visit it may be somebody else, who has other projects: then nothing shown may stay. */
async function signedIn() {
  $("sign-out").hidden = false;
  if (projects === null) return;
  const ids = (list) => list.map((project) => project.id).join();
  try {
    if (ids((await get("projects")).projects) !== ids(projects)) location.reload();
  } catch (error) {
    begin(problem(error, loadProjects)); // better nothing than what may be somebody else's
  }
}

/** Only the start section, with this in it. */
function begin(content) {
  $("start").replaceChildren(content);
  $("start").hidden = false;
  for (const id of ["search", "documents", "views"]) $(id).hidden = true;
}

/** What the address says. */
function show() {
  if (projects === null) return;
  hideDocuments();
  const { slug, view } = place();
  const named = projects.find((project) => project.slug === slug || project.id === slug);
  showChoice(projects, named ?? null);
  if (!projects.length) begin(noProjects());
  else if (named) open(named, view);
  else if (slug) begin(unknown(slug));
  else location.replace(address(usual().slug, "search"));
}

const usual = () => projects.find((project) => project.slug === remembered()) ?? projects[0];

function unknown(slug) {
  const text = `There is no project ${shownName(slug)} here, or it is not open to you. Choose another one above.`;
  return el("p", { class: "note" }, text);
}

function open(project, view) {
  remember(project.slug);
  uploadsTo(project);
  $("start").hidden = true;
  $("views").hidden = false;
  for (const id of ["search", "documents"]) {
    $(id).hidden = id !== view;
    const link = $(`to-${id}`);
    link.href = address(project.slug, id);
    if (id === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${view === "search" ? "Search" : "Documents"} · ${project.slug} · Corpus`;
  if (view === "search") showSearch(project);
  else showDocuments(project);
}

function startReach() {
  document.addEventListener("reachable", (event) => (event.detail ? found() : lost()));
  window.addEventListener("offline", lost);
  window.addEventListener("online", probe);
}

function lost() {
  $("banner").textContent = navigator.onLine
    ? "The server cannot be reached. Trying again by itself …"
    : "This device is offline. The page goes on when it is back.";
  $("banner").hidden = false;
  probing ??= setInterval(probe, PROBE);
}

async function probe() {
  try {
    await fetch("livez", { cache: "no-store" });
  } catch {
    return; // still away; the banner says so
  }
  found();
  if ($("main").querySelector(".problem")) projects === null ? loadProjects() : show();
}

function found() {
  clearInterval(probing);
  probing = null;
  $("banner").hidden = true;
}

function start() {
  startReach();
  startViewer();
  startSearch();
  startDocuments();
  startUploads(documentsChanged);
  startProjects((project) => {
    projects = [...(projects ?? []), project];
    location.hash = address(project.slug, "documents");
  });
  $("project").addEventListener("change", (event) => (location.hash = address(event.target.value, place().view)));
  $("sign-out").addEventListener("click", signOut);
  $("skip").addEventListener("click", (event) => (event.preventDefault(), $("main").focus())); // `#` is the address
  window.addEventListener("hashchange", show);
  document.addEventListener("place", show);
  document.addEventListener("signed-in", signedIn);
  document.addEventListener("files-added", () => {
    if (place().view !== "documents") location.hash = $("to-documents").getAttribute("href");
  });
  loadProjects();
}

start();
