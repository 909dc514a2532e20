import { Context, type Effect } from "effect";

/** The connection of an adapter to its store. The layer of an outage suite provides it together with the ports. */
export class Connection extends Context.Service<
  Connection,
  {
    readonly break: Effect.Effect<void>;
    /** Makes the store reachable again, with its data. */
    readonly restore: Effect.Effect<void>;
  }
>()("@accountlink/testing/conformance/Connection") {}
