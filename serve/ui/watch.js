// Follows documents while they are processed. A browser opens few connections to one server, so that few streams are
// read at once; each gives its place up after a turn while others wait, and goes on later where it was.

import { ApiError, get, request } from "./api.js";
import { pause } from "./dom.js";
import { events } from "./sse.js";

const STREAMS = 2;
const TURN = 10_000; // ms
const SLOWEST = 15_000; // ms between two tries
const TERMINAL = ["document.completed", "document.failed", "document.deleted"];

const waiting = [];
let open = 0;

/** Calls `onEvent(type, data)` as things happen; resolves with the document (null: deleted) once it has ended. */
export function watch(id, onEvent) {
  return new Promise((resolve, reject) => {
    waiting.push({ id, onEvent, resolve, reject, last: null, tries: 0 });
    next();
  });
}

function next() {
  while (open < STREAMS && waiting.length) {
    open += 1;
    follow(waiting.shift()).finally(() => ((open -= 1), next()));
  }
}

async function follow(job) {
  const turn = new AbortController();
  const clock = setInterval(() => waiting.length && turn.abort(), TURN);
  try {
    if (await read(job, turn.signal)) job.resolve(await ended(job.id));
    else again(job);
  } catch (error) {
    if (error.name === "AbortError") waiting.push(job);
    else if (error.status === 404) job.resolve(null);
    else if (error instanceof ApiError && !error.passing) job.reject(error);
    else again(job); // the connection broke, or the server is busy
  } finally {
    clearInterval(clock);
  }
}

/** True when the terminal event was read (or had been before: 204). */
async function read(job, signal) {
  const resume = job.last === null ? {} : { "Last-Event-ID": job.last };
  const headers = { Accept: "text/event-stream", ...resume };
  const answer = await request(`documents/${job.id}/events`, { headers, signal });
  if (answer.status === 204) return true;
  for await (const event of events(answer.body)) {
    job.tries = 0;
    if (event.id) job.last = event.id;
    job.onEvent(event.event, JSON.parse(event.data).data ?? {});
    if (TERMINAL.includes(event.event)) return true;
  }
  return false;
}

/** The document's final state. */
async function ended(id) {
  try {
    return await get(`documents/${id}`);
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

function again(job) {
  job.tries += 1;
  pause(Math.min(SLOWEST, 500 * 2 ** job.tries)).then(() => (waiting.push(job), next()));
}
