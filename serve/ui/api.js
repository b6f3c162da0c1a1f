// Requests to the API: one place for the token, the error form, and whether the server can be reached.

import { bearer, renew, token } from "./session.js";

const BASE = "api/v1/";

/** An answer that is not 2xx, or none at all (code UNREACHABLE). */
export class ApiError extends Error {
  constructor(status, { code = "INTERNAL", message = "", details = {}, request_id } = {}, retryAfter = null) {
    super(message || `The server answered ${status}.`);
    Object.assign(this, { status, code, details, requestId: request_id, retryAfter });
  }

  /** Whether the same request may well succeed a little later. */
  get passing() {
    return this.code === "UNREACHABLE" || [429, 502, 503, 504].includes(this.status);
  }
}

/** Fetch `path`; a 401 waits for another token and asks again. Throws ApiError, AbortError. */
export async function request(path, { method = "GET", headers = {}, json, signal } = {}) {
  const body = json === undefined ? undefined : JSON.stringify(json);
  const kind = body === undefined ? {} : { "Content-Type": "application/json" };
  for (;;) {
    const used = token();
    const all = { Accept: "application/json", ...bearer(used), ...kind, ...headers };
    const answer = await reached(fetch(BASE + path, { method, headers: all, body, signal, cache: "no-store" }));
    if (answer.ok) return answer;
    if (answer.status !== 401) throw await failure(answer);
    await renew(used);
    signal?.throwIfAborted();
  }
}

export const get = async (path, options) => (await request(path, options)).json();
export const post = async (path, json, options) => (await request(path, { ...options, method: "POST", json })).json();
export const remove = (path, options) => request(path, { ...options, method: "DELETE" });
export const picture = async (path, options) =>
  (await request(path, { ...options, headers: { Accept: "image/png, application/json" } })).blob();

/** `path` with the given parameters; empty ones are left out. */
export function query(path, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "" && value != null);
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

/** A key that makes a repeated request one request. Not crypto.randomUUID: that is missing on plain http. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Send one file. XMLHttpRequest, since fetch does not tell how much of a body has gone. */
export async function upload(file, fields, key, onProgress, signal) {
  for (;;) {
    const used = token();
    const answer = await sendForm(file, fields, { ...bearer(used), "Idempotency-Key": key }, onProgress, signal);
    if (answer.ok) return answer.json();
    if (answer.status !== 401) throw await failure(answer);
    await renew(used);
    signal.throwIfAborted();
  }
}

function sendForm(file, fields, headers, onProgress, signal) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("file", file, file.name);
  const call = new XMLHttpRequest();
  const sent = new Promise((resolve, reject) => {
    call.addEventListener("load", () => resolve(asResponse(call)));
    call.addEventListener("error", () => reject(new TypeError("the connection broke off")));
    call.addEventListener("abort", () => reject(new DOMException("cancelled", "AbortError")));
  });
  call.upload.addEventListener("progress", (event) => onProgress(event.loaded, event.total));
  call.open("POST", BASE + "documents/parse");
  for (const [name, value] of Object.entries(headers)) call.setRequestHeader(name, value);
  signal.addEventListener("abort", () => call.abort(), { once: true });
  call.send(form);
  return reached(
    sent,
    "The connection broke off while the file was sent. It may also be larger than the server takes.",
  );
}

function asResponse(call) {
  const headers = new Headers();
  for (const name of ["Retry-After", "X-Request-ID"]) {
    if (call.getResponseHeader(name)) headers.set(name, call.getResponseHeader(name));
  }
  return new Response(call.responseText, { status: call.status, headers });
}

/** Tells the page (`reachable` event) whether the server answered at all. */
async function reached(answer, broken = "The server cannot be reached.") {
  try {
    const response = await answer;
    document.dispatchEvent(new CustomEvent("reachable", { detail: true }));
    return response;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    document.dispatchEvent(new CustomEvent("reachable", { detail: false }));
    const message = navigator.onLine ? broken : "This device is offline.";
    throw new ApiError(0, { code: "UNREACHABLE", message });
  }
}

async function failure(answer) {
  const retryAfter = Number.parseInt(answer.headers.get("Retry-After") ?? "", 10);
  let error = {};
  try {
    error = (await answer.json()).error ?? {};
  } catch {
    // Not from this API: a proxy's own page, or nothing. The status alone is told.
  }
  error.request_id ??= answer.headers.get("X-Request-ID");
  return new ApiError(answer.status, error, Number.isNaN(retryAfter) ? null : retryAfter);
}
