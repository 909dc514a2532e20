/**
 * `Counters`, `Cache` and `Signals` of a worker: what all workers share is in the memory of the primary process.
 */
import { CacheMemory } from "@accountlink/cache-memory";
import { Cache, Counters, Signals, StoreUnavailable } from "@accountlink/core";
import type { CounterRule } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import { Context, Effect, Layer, Option } from "effect";
import {
  type AdmissionTuple,
  type CacheAnswer,
  type CacheCall,
  decodeAdmission,
  decodeStates,
  encodeRule,
  type RuleTuple,
  type StateTuple,
} from "./cache_calls.ts";

/** The way to the primary process. */
export interface SharedCacheLink {
  /** Gives the answers, or null when there are none in time. */
  readonly call: (calls: ReadonlyArray<CacheCall>) => Promise<ReadonlyArray<CacheAnswer> | null>;
  /** Sends a message to the other workers. */
  readonly publish: (topic: string, message: string) => void;
  /** Sets what takes the messages of other workers. */
  readonly onMessage: (deliver: (topic: string, message: string) => void) => void;
}

export const sharedCacheLayer = (link: SharedCacheLink): Layer.Layer<Counters | Cache | Signals> =>
  Layer.merge(countersAndCache(link), signals(link));

const countersAndCache = ({ call }: SharedCacheLink) => {
  const batches = new CallBatches(call);
  return Layer.merge(
    Layer.succeed(Counters, {
      admit: (rules, now) => ask("Counters.admit", () => batches.admit(rules, now)),
      read: (rules, now) =>
        ask("Counters.read", async () => {
          const states = await batches.call(["read", rules.map(encodeRule), now]);
          return decodeStates(states as StateTuple);
        }),
    }),
    Layer.succeed(Cache, {
      get: (key, now) =>
        ask("Cache.get", async () =>
          Option.fromNullOr((await batches.call(["get", key, now])) as string | null),
        ),
      set: (key, value, expiresAt, now) =>
        ask("Cache.set", async () => void (await batches.call(["set", key, value, expiresAt, now]))),
    }),
  );
};

const ask = <A>(operation: string, begin: () => Promise<A>): Effect.Effect<A, StoreUnavailable> =>
  Effect.tryPromise({ try: begin, catch: (cause) => new StoreUnavailable({ operation, cause }) });

/** Sends the calls of one turn of the event loop in one message. */
class CallBatches {
  readonly #call: SharedCacheLink["call"];
  #open: {
    readonly calls: Array<MutableCall>;
    readonly answers: Promise<ReadonlyArray<CacheAnswer>>;
  } | null = null;

  constructor(call: SharedCacheLink["call"]) {
    this.#call = call;
  }

  async call(call: CacheCall): Promise<CacheAnswer> {
    const { calls, answers } = this.#batch();
    const place = calls.push([...call] as MutableCall) - 1;
    return (await answers)[place] as CacheAnswer;
  }

  /** Requests that count in the same windows are one call. */
  async admit(rules: ReadonlyArray<CounterRule>, now: Millis) {
    const { calls, answers } = this.#batch();
    const tuples = rules.map(encodeRule);
    let place = calls.findIndex((open) => isSame(open, tuples, now));
    let turn = 0;
    if (place === -1) place = calls.push(["admit", tuples, now, 1]) - 1;
    else {
      const open = calls[place] as AdmitCall;
      turn = open[3]++;
      // All are decided when the last of them came.
      [open[1], open[2]] = [tuples, now];
    }
    const admissions = (await answers)[place] as ReadonlyArray<AdmissionTuple>;
    return decodeAdmission(admissions[turn] as AdmissionTuple);
  }

  #batch() {
    this.#open ??= this.#begin();
    return this.#open;
  }

  #begin() {
    const calls: Array<MutableCall> = [];
    return { calls, answers: this.#answersTo(calls) };
  }

  async #answersTo(calls: ReadonlyArray<CacheCall>): Promise<ReadonlyArray<CacheAnswer>> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#open = null;
    const answers = await this.#call(calls);
    if (answers === null) throw new Error("The primary process does not answer");
    return answers;
  }
}

type AdmitCall = [name: "admit", rules: ReadonlyArray<RuleTuple>, now: Millis, times: number];
type MutableCall = AdmitCall | Exclude<CacheCall, readonly ["admit", ...unknown[]]>;

/** Windows are the same that last as long, or end at the same time. What only one request knows is counted once. */
const isSame = (open: MutableCall, rules: ReadonlyArray<RuleTuple>, now: Millis): boolean =>
  open[0] === "admit" &&
  open[1].length === rules.length &&
  open[1].every(([key, limit, durationMs, , floor = null, owed = 0], i) => {
    const [otherKey, otherLimit, otherDuration, , otherFloor = null, otherOwed = 0] = rules[i] as RuleTuple;
    return (
      key === otherKey &&
      limit === otherLimit &&
      (durationMs === otherDuration || open[2] + durationMs === now + otherDuration) &&
      floor === null &&
      otherFloor === null &&
      owed === 0 &&
      otherOwed === 0
    );
  });

const signals = ({ publish, onMessage }: SharedCacheLink) =>
  Layer.effect(
    Signals,
    Effect.gen(function* () {
      const own = Context.get(yield* Layer.build(CacheMemory.layer), Signals);
      onMessage((topic, message) => Effect.runSync(Effect.ignore(own.publish(topic, message))));
      return Signals.of({
        subscribe: own.subscribe,
        publish: (topic, message) =>
          Effect.andThen(
            own.publish(topic, message),
            Effect.sync(() => publish(topic, message)),
          ),
      });
    }),
  );
