// The access token: asked for when the server wants one, kept in this tab's sessionStorage only.

import { $ } from "./dom.js";

const KEY = "corpus.token";
let asking = null;

export const token = () => sessionStorage.getItem(KEY);

/** The header that carries the token; empty without one. */
export const bearer = (value = token()) => (value ? { Authorization: `Bearer ${value}` } : {});

/** Wait until there is another token than `refused`, asking the person for it. All who wait share one question. */
export async function renew(refused) {
  if (token() !== refused && !asking) return;
  asking ??= ask(refused !== null).finally(() => (asking = null));
  await asking;
}

export function signOut() {
  sessionStorage.removeItem(KEY);
  location.reload(); // so that nothing that was read stays in memory
}

async function ask(refused) {
  const dialog = $("sign-in");
  const field = $("token");
  sessionStorage.removeItem(KEY);
  $("sign-in-problem").textContent = refused ? "The token is not accepted any more, or never was." : "";
  field.value = "";
  dialog.addEventListener("cancel", stay);
  dialog.showModal();
  field.focus();
  try {
    for (;;) {
      const given = await submitted($("sign-in-form"), field);
      const why = await refusal(given);
      if (!why) return accept(given);
      $("sign-in-problem").textContent = why;
      field.select();
    }
  } finally {
    dialog.removeEventListener("cancel", stay);
    dialog.close();
  }
}

const stay = (event) => event.preventDefault(); // nothing works behind this dialog, so Escape leaves it open

function accept(given) {
  sessionStorage.setItem(KEY, given);
  $("token").value = "";
  document.dispatchEvent(new Event("signed-in"));
}

function submitted(form, field) {
  return new Promise((resolve) => {
    form.addEventListener("submit", (event) => (event.preventDefault(), resolve(field.value.trim())), { once: true });
  });
}

/** Why the server does not take this token; empty when it does. */
async function refusal(given) {
  if (!/^[\x21-\x7e]+$/.test(given)) return "A token has letters, digits and signs only, without spaces.";
  try {
    const answer = await fetch("api/v1/projects", { headers: bearer(given), cache: "no-store" });
    if (answer.status === 401) return "This token is not accepted. Check that it is whole and has not run out.";
    return answer.ok || answer.status === 403 ? "" : `The server answered ${answer.status}. Try again in a moment.`;
  } catch {
    return "The server cannot be reached. Try again in a moment.";
  }
}
