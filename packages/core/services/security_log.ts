/**
 * Security events as log lines of their own: wrong keys, throttles, and keys that come from a new network.
 */
import { Clock, Context, Effect, Layer, Option } from "effect";
import { type ClientAddress, networkOf } from "../client_address.ts";
import type { PublicError } from "../errors.ts";
import type { KeyId } from "../ids.ts";
import { Cache } from "../ports/cache.ts";
import { Secrets } from "./secrets.ts";

/** How long a key's use of a network is remembered, in milliseconds. */
const rememberedFor = 30 * 86_400_000;

/** How often a process renews what all nodes remember. */
const renewedEvery = "12 hours";

const countedFor = 60_000;

/** Beyond these the process forgets, and asks the shared cache again. */
const mostNetworks = 10_000;
const mostUses = 100_000;

/** Logs what points to stolen or guessed keys. Networks appear by a keyed name, addresses not at all. */
export class SecurityLog extends Context.Service<
  SecurityLog,
  {
    /**
     * Notes a wrong key or a throttled address. Of one network the 1st, the 10th, the 100th … of a minute is logged, so
     * that whoever floods the service does not flood the log.
     */
    readonly noteRefusal: (error: PublicError | null, address: ClientAddress) => Effect.Effect<void>;

    /**
     * Notes that a key was accepted, and logs it when the key was not used from this network in the last 30 days. What
     * was used is remembered in `Cache`: by all nodes, or by this process alone until it ends. Nobody waits for it.
     */
    readonly noteUse: (key: KeyId, address: ClientAddress) => Effect.Effect<void>;
  }
>()("@accountlink/core/SecurityLog") {
  static readonly layer = Layer.effect(
    SecurityLog,
    Effect.gen(function* () {
      const secrets = yield* Secrets;
      const cache = yield* Cache;
      const scope = yield* Effect.scope;
      const nameOf = (address: ClientAddress) => secrets.addressName(networkOf(address));

      const refusals = new Map<string, number>();
      yield* forgetEvery(countedFor, refusals);

      const noteRefusal = Effect.fnUntraced(function* (event: string, address: ClientAddress) {
        const network = yield* nameOf(address);
        const counted = `${event} ${network}`;
        const count = (refusals.get(counted) ?? 0) + 1;
        if (refusals.size >= mostNetworks) refusals.clear();
        refusals.set(counted, count);
        if (!isPowerOfTen(count)) return;
        yield* Effect.annotateLogs(Effect.logWarning(event), { network, count });
      });

      /** By key, the address that it was used from last: nearly always the same one again. */
      const lastUses = new Map<KeyId, string>();
      const uses = new Set<string>();
      yield* forgetEvery(renewedEvery, lastUses, uses);

      const remember = Effect.fnUntraced(function* (key: KeyId, address: ClientAddress) {
        const network = yield* nameOf(address);
        const now = yield* Clock.currentTimeMillis;
        const entry = `used:${key}:${network}`;
        const isKnown = yield* Effect.match(cache.get(entry, now), {
          onSuccess: Option.isSome,
          onFailure: () => false,
        });
        if (!isKnown) {
          yield* Effect.annotateLogs(Effect.logInfo("Key used from a new network"), { key, network });
        }
        yield* Effect.ignore(cache.set(entry, "", now + rememberedFor, now));
      });

      return SecurityLog.of({
        noteRefusal: (error, address) => {
          const event = eventOf(error);
          return event === null ? Effect.void : noteRefusal(event, address);
        },

        noteUse: (key, address) => {
          if (lastUses.get(key) === address.countedAs) return Effect.void;
          if (lastUses.size >= mostUses) lastUses.clear();
          lastUses.set(key, address.countedAs);
          const use = `${key} ${address.countedAs}`;
          if (uses.has(use)) return Effect.void;
          if (uses.size >= mostUses) uses.clear();
          uses.add(use);
          return Effect.asVoid(Effect.forkIn(remember(key, address), scope));
        },
      });
    }),
  );
}

const eventOf = (error: PublicError | null): string | null => {
  if (error?._tag === "InvalidApiKey") return error.problem === "wrong" ? "Wrong key" : null;
  if (error?._tag !== "SharedIpRateLimited") return null;
  return error.bucket === "ip_auth" ? "Throttled for wrong keys" : "Throttled";
};

const isPowerOfTen = (count: number): boolean => /^10*$/.test(String(count));

const forgetEvery = (
  time: `${number} hours` | number,
  ...memories: ReadonlyArray<{ readonly clear: () => void }>
) =>
  Effect.forkScoped(
    Effect.forever(
      Effect.delay(
        Effect.sync(() => {
          for (const memory of memories) memory.clear();
        }),
        time,
      ),
    ),
  );
