import { Deferred, Effect, type Option } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Pid } from "../ids.ts";
import type { FeedEvent } from "./event.ts";
import type { EventStore } from "./event_store.ts";

type Read = EventStore["Service"]["read"];
type Found = Deferred.Deferred<Option.Option<ReadonlyArray<FeedEvent>>, StoreUnavailable>;

/**
 * Shares one read among all equal reads of one turn of the event loop. Nobody joins a read that has begun, so each
 * caller sees everything stored before its call.
 */
export const makeSharedReads = Effect.fnUntraced(function* (read: Read) {
  const scope = yield* Effect.scope;
  const joining = new Map<string, Found>();

  return (pid: Pid, after: number, limit: number): ReturnType<Read> =>
    Effect.suspend(() => {
      const name = `${pid} ${after} ${limit}`;
      const joined = joining.get(name);
      if (joined !== undefined) return Deferred.await(joined);
      const shared: Found = Deferred.makeUnsafe();
      joining.set(name, shared);
      const begin = Effect.andThen(
        Effect.yieldNow,
        Effect.suspend(() => {
          joining.delete(name);
          return read(pid, after, limit);
        }),
      );
      // The read is forked in the service's scope, so that it continues if the first caller is interrupted.
      return Effect.andThen(Effect.forkIn(Deferred.into(begin, shared), scope), Deferred.await(shared));
    });
});
