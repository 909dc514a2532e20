import { Effect, Stream } from "effect";
import { monotonicMillis } from "../monotonic_millis.ts";
import type { Millis } from "../timestamp.ts";
import type { FeedEvent } from "./event.ts";

/**
 * A step of a stream: its beginning, an event with the cursor to continue after it, a sign of life, or the end.
 * @internal
 */
export type FeedStep =
  | { readonly step: "begin" }
  | { readonly step: "event"; readonly event: FeedEvent; readonly cursor: string }
  | { readonly step: "idle" }
  | { readonly step: "timeout"; readonly cursor: string };

/** The time without an event after which a stream sends a sign of life, in milliseconds. */
const idleInterval = 10_000;

interface StepPage {
  readonly events: ReadonlyArray<FeedStep>;
  readonly more: boolean;
  readonly isEnded: boolean;
}

interface FeedReads {
  /** Reads the next events; without any, waits for one until a time by `monotonicMillis`. */
  readonly read: (until: Millis) => Effect.Effect<StepPage>;
  /** Reads past events without waiting. */
  readonly readNow: (now: Millis) => Effect.Effect<StepPage>;
  /** The cursor after the last event that was read. */
  readonly cursor: Effect.Effect<string>;
}

/** Emits the steps of a stream until a time by `monotonicMillis`, or until its reads end. */
export const feedSteps = ({ read, readNow, cursor }: FeedReads, until: Millis): Stream.Stream<FeedStep> => {
  const steps = Effect.fnUntraced(function* (isBehind: boolean) {
    const now = yield* monotonicMillis;
    const idleAt = Math.min(until, now + idleInterval);
    const { events, more, isEnded } = yield* isBehind ? readNow(now) : read(idleAt);
    // A timer may fire shortly before its time. So a wait for `until` that found no event ends the stream,
    // whatever the clock says.
    const hasWaited = !isBehind && idleAt === until && events.length === 0 && !more;
    const isOver = isEnded || hasWaited || (yield* monotonicMillis) >= until;
    if (isOver) {
      const end: FeedStep = { step: "timeout", cursor: yield* cursor };
      return [[...events, end], "over"] as const;
    }
    // Reading many events that a filter leaves out takes longer than clients wait for a sign of life.
    const idle: ReadonlyArray<FeedStep> = isBehind && !more ? [] : [{ step: "idle" }];
    return [events.length > 0 ? events : idle, more ? "behind" : "open"] as const;
  });

  // Use a single `unfold` instead of `concat`: each further operator costs kilobytes per open stream.
  type State = "start" | "behind" | "open" | "over";
  const parts = Stream.unfold<State, ReadonlyArray<FeedStep>, never, never>("start", (state) => {
    if (state === "over") return Effect.undefined;
    return state === "start"
      ? Effect.succeed([[{ step: "begin" }], "behind"] as const)
      : steps(state === "behind");
  });
  return Stream.flattenIterable(parts);
};
