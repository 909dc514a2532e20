import { Clock, Context, type Duration, Effect, Layer, Option } from "effect";
import { type ClientAddress, networkOf } from "../addresses/client_address.ts";
import { Cache } from "../cache.ts";
import type { PublicError } from "../errors.ts";
import type { KeyId } from "../ids.ts";
import { Secrets } from "../secrets/secrets.ts";
import { dayMs } from "../timestamp.ts";

/** How long a key's network counts as known, in milliseconds. */
const knownFor = 30 * dayMs;

const renewInterval = "12 hours";

const countInterval = 60_000;

const reportInterval = "1 second";

/** The maximum sizes of a node's maps of networks and of key uses. A map that reaches its maximum is cleared. */
const maxNetworks = 10_000;
const maxUses = 100_000;

/** Logs signs of stolen or guessed keys. Networks are logged as pseudonyms, addresses never. @internal */
export class SecurityLog extends Context.Service<SecurityLog>()("@accountlink/core/SecurityLog", {
  make: Effect.gen(function* () {
    const secrets = yield* Secrets;
    const cache = yield* Cache;
    const scope = yield* Effect.scope;
    const nameOf = (address: ClientAddress) => secrets.addressName(networkOf(address));

    const refusals = new Map<string, number>();
    yield* clearEvery(countInterval, refusals);

    const noteRefusal = Effect.fnUntraced(function* (event: string, address: ClientAddress | null) {
      const counted = `${event} ${address === null ? "unknown" : networkOf(address).countedAs}`;
      const count = (refusals.get(counted) ?? 0) + 1;
      if (refusals.size >= maxNetworks) refusals.clear();
      refusals.set(counted, count);
      if (!isPowerOfTen(count)) return;
      const network = address === null ? "unknown" : yield* nameOf(address);
      yield* Effect.annotateLogs(Effect.logWarning(event), { network, count });
    });

    /** By address, how many refusals since its last line are not logged. */
    const unlogged = new Map<string, number>();

    const reportRefusals = Effect.fnUntraced(function* (address: ClientAddress | null, name: string) {
      while (true) {
        yield* Effect.sleep(reportInterval);
        const count = unlogged.get(name) ?? 0;
        if (count === 0) return unlogged.delete(name);
        unlogged.set(name, 0);
        const network = address === null ? "unknown" : yield* nameOf(address);
        yield* Effect.annotateLogs(Effect.logInfo("Requests refused before their key was read"), {
          network,
          count,
        });
      }
    });

    const uses = new Set<string>();
    yield* clearEvery(renewInterval, uses);

    const recordUse = Effect.fnUntraced(function* (key: KeyId, address: ClientAddress) {
      const network = yield* nameOf(address);
      const now = yield* Clock.currentTimeMillis;
      const entry = `used:${key}:${network}`;
      if (Option.isNone(yield* cache.get(entry, now))) {
        yield* Effect.annotateLogs(Effect.logInfo("Key used from a new network"), { key, network });
      }
      yield* Effect.ignore(cache.set(entry, "", now + knownFor, now));
    });

    return {
      /**
       * Records a wrong key or a throttled address. Logs the 1st, 10th, 100th … event of a network in a minute, so a
       * flood of requests does not flood the log. All unknown addresses count as one network.
       */
      noteRefusal: (error: PublicError | null, address: ClientAddress | null) => {
        const event = eventOf(error);
        return event === null ? Effect.void : noteRefusal(event, address);
      },

      /**
       * Logs a refusal of a request without a key: in full, or within a second of the last line of its address as a number
       * in the next line.
       */
      logKeyless: (address: ClientAddress | null, line: Effect.Effect<void>): Effect.Effect<void> =>
        Effect.suspend(() => {
          const name = address?.countedAs ?? "unknown";
          const count = unlogged.get(name);
          if (unlogged.size >= maxNetworks) unlogged.clear();
          unlogged.set(name, count === undefined ? 0 : count + 1);
          return count === undefined
            ? Effect.andThen(line, Effect.asVoid(Effect.forkIn(reportRefusals(address, name), scope)))
            : Effect.void;
        }),

      /**
       * Records in the background that a key was accepted. Logs the use if `Cache` has no use of this key from the same
       * network in the last 30 days. Does not log unknown addresses.
       */
      noteUse: (key: KeyId, address: ClientAddress | null) => {
        if (address === null) return Effect.void;
        const use = `${key} ${address.countedAs}`;
        if (uses.has(use)) return Effect.void;
        if (uses.size >= maxUses) uses.clear();
        uses.add(use);
        // If the cache is down, nobody knows whether the network is new, so a later use is recorded again.
        const recorded = recordUse(key, address).pipe(
          Effect.catch(() => Effect.sync(() => uses.delete(use))),
        );
        return Effect.asVoid(Effect.forkIn(recorded, scope));
      },
    };
  }),
}) {
  static readonly layer = Layer.effect(SecurityLog, SecurityLog.make);
}

const eventOf = (error: PublicError | null): string | null => {
  if (error?._tag === "InvalidApiKey") return error.problem === "wrong" ? "Wrong key" : null;
  if (error?._tag !== "SharedIpRateLimited") return null;
  return error.bucket === "ip_auth" ? "Throttled for wrong keys" : "Throttled";
};

const isPowerOfTen = (count: number): boolean => /^10*$/.test(String(count));

const clearEvery = (interval: Duration.Input, collection: { readonly clear: () => void }) =>
  Effect.sync(() => collection.clear()).pipe(Effect.delay(interval), Effect.forever, Effect.forkScoped);
