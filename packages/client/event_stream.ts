import type { Received } from "./transport.ts";

/** One event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  /** The id of the last event that had one; empty before. */
  readonly id: string;
  /** Milliseconds to wait before connecting again, as the stream said last; null before. */
  readonly retry: number | null;
}

/** The service is never silent for so long: it sends a comment every 10 seconds. */
const longestSilence = 25_000;

/** The events of an answer, up to where it ends or its connection breaks. Rejects when the caller ends it, only. */
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

/** Takes one line after the other, and gives an event at the line that ends it. */
const makeParser = () => {
  let [event, id] = ["", ""];
  let data: string | null = null;
  let retry: number | null = null;
  return (line: string): ServerEvent | null => {
    const [, name, value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
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
