/** The connection of an adapter to its store, as its own test can cut it. */
import { Context, type Effect } from "effect";

/** Provided by the layer of a failing suite, next to the ports. */
export class Connection extends Context.Service<
  Connection,
  {
    /** From when this is done, the adapter cannot reach its store. */
    readonly break: Effect.Effect<void>;
    /** Lets the adapter reach its store again, with everything that was in it. */
    readonly restore: Effect.Effect<void>;
  }
>()("@accountlink/conformance/Connection") {}
