/** Following the feed of events, and listing all links. */

import type { FeedEvent, Routes } from "./contract.ts";
import { eventsOf } from "./event_stream.ts";
import type { CallOptions } from "./options.ts";
import type { Data, Transport } from "./transport.ts";
import { sleep } from "./waiting.ts";

/** Which events to follow, and how. `retryFor` is without end by default. */
export interface EventOptions
  extends CallOptions,
    Partial<Omit<Routes["streamEvents"]["parameters"], "types">> {
  /** Only events of these types. */
  readonly types?: ReadonlyArray<FeedEvent["type"]> | undefined;
}

/** An event, and the cursor to go on after it. Save it once you are done with the event. */
export type FollowedEvent = FeedEvent & { readonly cursor: string };

/** Milliseconds until a stream that broke is opened again. */
const pause = 2_000;

/** Every event from a cursor on. */
export async function* followEvents(
  { open, call }: Transport,
  { types, cursor, retryFor = Infinity, ...options }: EventOptions = {},
): AsyncGenerator<FollowedEvent, void> {
  const cursorOfNow = async () => (await call("getEvents", { ...options, retryFor, limit: 1 })).cursor;
  // A stream that breaks before its first event does not say where it began.
  let last = cursor ?? (options.from === "oldest" ? undefined : await cursorOfNow());
  while (true) {
    const input = { ...options, retryFor, types: types?.join(","), cursor: last };
    const opened = await open("streamEvents", input, {});
    let isOver = false;
    for await (const { event, data, id } of eventsOf(opened, options.signal)) {
      last = id;
      isOver = event === "timeout";
      if (isOver) break;
      yield { ...(JSON.parse(data) as FeedEvent), cursor: id };
    }
    if (!isOver) await sleep(pause, options.signal);
  }
}

/** How many links a page has. */
const pageLength = 1_000;

/** Every link, and in the end the cursor of the feed. */
export async function* listLinks(
  { call }: Transport,
  options: CallOptions = {},
): AsyncGenerator<Data<"listLinks">["links"][number], string> {
  let page = await call("listLinks", { ...options, limit: pageLength });
  while (true) {
    yield* page.links;
    if (page.cursor === null) return page.events;
    page = await call("listLinks", { ...options, limit: pageLength, cursor: page.cursor });
  }
}
