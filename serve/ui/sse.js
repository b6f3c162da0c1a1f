// Server-sent events read from a fetch answer: EventSource cannot carry the Authorization header.

/** Yields {id, event, data} as the standard's parser would (html.spec.whatwg.org, "parsing an event stream"). */
export async function* events(body) {
  let event = fresh();
  for await (const line of lines(body.pipeThrough(new TextDecoderStream()))) {
    if (line === "") {
      if (event.data.length) yield { ...event, data: event.data.join("\n") };
      event = fresh(event.id);
    } else if (!line.startsWith(":")) {
      take(event, line);
    }
  }
}

const fresh = (id = null) => ({ id, event: "message", data: [] });

function take(event, line) {
  const colon = line.indexOf(":");
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (name === "data") event.data.push(value);
  else if (name === "event") event.event = value;
  else if (name === "id") event.id = value;
}

async function* lines(stream) {
  const reader = stream.getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (rest + value).split(/\r\n|\n|\r(?!$)/); // a lone CR at the end may be half of a CRLF
      rest = parts.pop();
      yield* parts;
    }
  } finally {
    reader.cancel().catch(() => {}); // the stream is over or given up either way
  }
}
