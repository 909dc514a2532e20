import { type DataScope, EventStore } from "@accountlink/core";
import { Effect, Option } from "effect";
import { linkSteps } from "../links/link_steps.ts";
import { makeScopes } from "../scopes.ts";

/** The operations that read the event feed of a scope, and the operations on links, which append to this feed. */
export const eventSteps = Effect.fnUntraced(function* (scope: DataScope) {
  const store = yield* EventStore;
  const { pid } = scope;
  const read = (after: number, limit = 1_000) => Effect.map(store.read(pid, after, limit), Option.getOrNull);
  const all = Effect.map(read(0), (events) => events ?? []);
  return {
    pid,
    links: yield* linkSteps(scope),
    read,
    range: store.range(pid),
    all,
  };
});

export const newEventSteps = Effect.flatMap(makeScopes, ({ global }) => eventSteps(global));
