/** The event feed: the event records, their storage port, and services that read the feed and wait for events. */
export * from "./event.ts";
export * from "./event_feed.ts";
export * from "./event_store.ts";
export * from "./event_watch.ts";
export type { FeedStep } from "./feed_steps.ts";
