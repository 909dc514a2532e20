/**
 * `Counters`, `Cache` and `Signals` of a worker: what all workers share is in the memory of the primary process.
 */
import { CacheMemory } from "@accountlink/cache-memory";
import { Cache, Counters, Signals, StoreUnavailable } from "@accountlink/core";
import { AdmissionBatches, admissionAt, type CounterRule, type CounterState } from "@accountlink/core/limits";
import { Effect, Layer, Option } from "effect";
import type { AdmitAnswer, CacheAnswer, CacheCall } from "./cache_calls.ts";

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
  const messages = new Messages(call);
  const batches = new AdmissionBatches(
    (rules, now, times) => messages.call<AdmitAnswer>(["admit", rules.map(withoutRest), now, times]),
    messages.beforeNext,
  );
  return Layer.merge(
    Layer.succeed(Counters, {
      admit: (rules, now) =>
        rules.length === 0
          ? Effect.succeed({ admitted: true, states: [] })
          : ask("Counters.admit", async () => {
              const { reply, place } = batches.join(rules, now);
              const answer = await reply;
              return admissionAt(place, answer.admitted, answer);
            }),
      read: (rules, now) =>
        ask("Counters.read", () =>
          messages.call<ReadonlyArray<CounterState>>(["read", rules.map(withoutRest), now]),
        ),
    }),
    Layer.succeed(Cache, {
      get: (key, now) =>
        Effect.map(
          ask("Cache.get", () => messages.call<string | null>(["get", key, now])),
          Option.fromNullOr,
        ),
      set: (key, value, expiresAt, now) =>
        ask("Cache.set", () => messages.call<null>(["set", key, value, expiresAt, now])),
    }),
  );
};

const ask = <A>(operation: string, begin: () => Promise<A>): Effect.Effect<A, StoreUnavailable> =>
  Effect.tryPromise({ try: begin, catch: (cause) => new StoreUnavailable({ operation, cause }) });

/** What the primary process needs of a rule, and no more. */
const withoutRest = ({ key, limit, durationMs, checkpoint }: CounterRule): CounterRule =>
  checkpoint === undefined ? { key, limit, durationMs } : { key, limit, durationMs, checkpoint };

interface Message {
  readonly calls: Array<CacheCall>;
  readonly beforehand: Array<() => void>;
  readonly answers: Promise<ReadonlyArray<CacheAnswer>>;
}

/**
 * Sends calls in messages, one at a time: calls wait for the answer to the message before, since to
 * write and to read a message costs more than the calls.
 */
class Messages {
  readonly #send: SharedCacheLink["call"];
  #next: Message | null = null;
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(send: SharedCacheLink["call"]) {
    this.#send = send;
  }

  async call<Answer extends CacheAnswer>(call: CacheCall): Promise<Answer> {
    const { calls, answers } = this.#message();
    const place = calls.push(call) - 1;
    return (await answers)[place] as Answer;
  }

  /** Runs a function before the next message is sent, which takes the calls that it makes. */
  readonly beforeNext = (run: () => void): void => {
    this.#message().beforehand.push(run);
  };

  #message(): Message {
    if (this.#next === null) {
      const [calls, beforehand] = [[], []];
      const answers = this.#answersTo(calls, beforehand);
      this.#underWay = Promise.allSettled([answers]);
      this.#next = { calls, beforehand, answers };
    }
    return this.#next;
  }

  async #answersTo(calls: ReadonlyArray<CacheCall>, beforehand: ReadonlyArray<() => void>) {
    await this.#underWay;
    await new Promise((resolve) => setImmediate(resolve));
    for (const run of beforehand) run();
    this.#next = null;
    const answers = await this.#send(calls);
    if (answers === null) throw new Error("The primary process does not answer");
    return answers;
  }
}

const signals = ({ publish, onMessage }: SharedCacheLink) =>
  Layer.effect(
    Signals,
    Effect.gen(function* () {
      const own = yield* Signals;
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
  ).pipe(Layer.provide(CacheMemory.layerSignals));
