/** How many nodes live, by the ledger. */
import { Clock, Effect, type Scope } from "effect";
import { uuidV4Unsafe } from "effect/crypto/SecureRandom";
import type { StoreUnavailable } from "../errors.ts";
import type { Millis } from "../link.ts";
import { CountLedger } from "../ports/count_ledger.ts";
import { warnOnce } from "./warn_once.ts";

/** How long a node counts as alive after it was last noted, in milliseconds. */
export const presenceMs = 10_000;
const presenceEvery = "2 seconds";

/** Notes this node until the scope closes. Gives the latest known number of nodes each time it is called. */
export const keepPresence: Effect.Effect<() => number, StoreUnavailable, CountLedger | Scope.Scope> =
  Effect.gen(function* () {
    const ledger = yield* CountLedger;
    const nodeId = uuidV4Unsafe();
    let nodes = 1;
    const note = (lifeMs: Millis) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis;
        nodes = Math.max(1, yield* ledger.renewNode(nodeId, now + lifeMs, now));
      });
    yield* note(presenceMs);
    yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(note(0), "2 seconds")));
    const renew = yield* warnOnce("Live nodes are not counted", note(presenceMs));
    yield* renew.pipe(Effect.delay(presenceEvery), Effect.forever, Effect.forkScoped);
    return () => nodes;
  });
