/** Follows the feed of events, and lists all links. */

import type { FeedEvent, Routes } from "./contract.ts";
import { eventsOf } from "./event_stream.ts";
import type { CallOptions } from "./options.ts";
import type { Data, Transport } from "./transport.ts";
import { sleep } from "./waiting.ts";

/** Which events to follow, and how. `retryFor` is unlimited by default. */
export interface EventOptions
  extends CallOptions,
    Partial<Omit<Routes["streamEvents"]["parameters"], "types">> {
  /** The types of the events to follow. By default, events of all types. */
  readonly types?: ReadonlyArray<FeedEvent["type"]> | undefined;
}

/** An event, and the cursor after it. Save the cursor once you have handled the event. */
export type FollowedEvent = FeedEvent & { readonly cursor: string };

/** Milliseconds to wait before reopening a broken stream. */
const pause = 2_000;

export async function* followEvents(
  { open, call }: Transport,
  { types, cursor, retryFor = Infinity, ...options }: EventOptions = {},
): AsyncGenerator<FollowedEvent, void> {
  const cursorOfNow = async () => (await call("getEvents", { ...options, retryFor, limit: 1 })).cursor;
  let last = cursor === "" ? undefined : cursor;
  // Read the current cursor first: a stream that breaks before its first event gives no cursor to resume from.
  if (options.from !== "oldest") last ??= await cursorOfNow();
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

const pageLength = 1_000;

/** Yields every link, and finally returns the cursor of the event feed from which to continue. */
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
