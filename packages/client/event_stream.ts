import type { Received } from "./transport.ts";

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  /** The ID of the last event that had an ID; empty before the first such event. */
  readonly id: string;
  /** Milliseconds to wait before reconnecting, as last sent by the stream; null if never sent. */
  readonly retry: number | null;
}

/** The service sends a comment every 10 seconds, so longer silence means a broken connection. */
const longestSilence = 25_000;

/**
 * Yields the events of a response until the response ends or its connection breaks. Rejects only when the caller
 * aborts.
 */
export async function* eventsOf(
  { response, lifeline }: Received,
  caller: AbortSignal | undefined,
): AsyncGenerator<ServerEvent> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return lifeline.cut();
  const nextEvent = makeParser();
  let rest = "";
  try {
    while (true) {
      const { value, done } = await lifeline.within(longestSilence, reader.read()).catch(() => {
        caller?.throwIfAborted();
        return { value: undefined, done: true };
      });
      if (done) return;
      const lines = (rest + value).split(/\r?\n/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const event = nextEvent(line);
        if (event !== null) yield event;
      }
    }
  } finally {
    lifeline.cut();
    reader.cancel().catch(() => {});
  }
}

/**
 * Makes a parser of server-sent events. It takes one line at a time, and returns the event that the line completes, or
 * null if the line completes none.
 */
const makeParser = () => {
  let [event, id] = ["", ""];
  let data: string | null = null;
  let retry: number | null = null;
  return (line: string): ServerEvent | null => {
    const [, name, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === "data") data = data === null ? value : `${data}\n${value}`;
    if (name === "event") event = value;
    if (name === "id") id = value;
    if (name === "retry" && /^\d+$/.test(value)) retry = Number(value);
    if (line !== "") return null;
    const ended = data === null ? null : { event: event || "message", data, id, retry };
    event = "";
    data = null;
    return ended;
  };
};
