// The choice of a project, and making a new one.

import { newKey, post } from "./api.js";
import { $, button, el } from "./dom.js";

/** The list of choices. `current`: the chosen project, or null when the address names none that exists. */
export function showChoice(projects, current) {
  const choose = current ? [] : [el("option", { value: "" }, "Choose …")];
  const options = projects.map((project) => el("option", { value: project.slug }, project.slug));
  $("project").replaceChildren(...choose, ...options);
  $("project").value = current?.slug ?? "";
  $("project-choice").hidden = false;
  $("project").disabled = !projects.length;
}

/** `onMade(project)` is called with a project made here. */
export function startProjects(onMade) {
  const dialog = $("new-project");
  $("new-project-button").addEventListener("click", open);
  $("new-project-cancel").addEventListener("click", () => dialog.close());
  $("new-project-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const sender = event.target.querySelector("[type=submit]");
    sender.disabled = true;
    $("new-project-problem").textContent = "";
    try {
      const headers = { "Idempotency-Key": newKey() };
      const project = await post("projects", { slug: $("slug").value.trim() }, { headers });
      dialog.close();
      onMade(project);
    } catch (error) {
      $("new-project-problem").textContent = error.message;
      $("slug").focus();
    }
    sender.disabled = false;
  });
}

function open() {
  $("slug").value = "";
  $("new-project-problem").textContent = "";
  $("new-project").showModal();
  $("slug").focus();
}

export function noProjects() {
  return el(
    "div",
    { class: "note" },
    el("h1", {}, "No project yet"),
    el("p", {}, "Documents live in projects. Make the first one, or ask whoever runs this server for access to one."),
    button("New project", open, { class: "main" }),
  );
}
