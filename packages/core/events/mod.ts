/** The feed of events: records, port, reads and waits. */
export * from "./event.ts";
export * from "./event_feed.ts";
export * from "./event_store.ts";
export * from "./event_watch.ts";
