/**
 * Each idempotent request runs once, however often it is sent. Its first answer is stored together with the write and
 * replayed.
 */
import { Clock, Context, Effect, Latch, Layer, Option, type Scope } from "effect";
import { Conflict, type StoreEffect } from "../errors.ts";
import type { ChatId, KeyId } from "../ids.ts";
import { Secrets } from "../secrets/secrets.ts";
import { sweepEvery } from "../telemetry/warn_once.ts";
import { dayMs } from "../timestamp.ts";
import { type Commit, IdempotencyStore, type IdempotentWrite, Replayed } from "./idempotency_store.ts";

/** @internal */
export interface IdempotentRequest {
  readonly keyId: KeyId;
  /** The client's own name for the request. */
  readonly idempotencyKey: string;
  /** The requested change as a JSON value. Requests with equal JSON texts count as the same request. */
  readonly content: object;
}

interface Begun<A> {
  /** Commits the write of the request with its result. */
  readonly commit: Commit<A>;
  /** Stores the answer of a request that writes nothing. */
  readonly keep: (answer: object) => StoreEffect<void, Conflict>;
  /** Fails with `Replayed` or `Conflict` if an earlier request has the key. */
  readonly replay: StoreEffect<void, Conflict>;
}

/** How long an answer is kept, in milliseconds. */
const keptFor = dayMs;

/** Runs requests once per idempotency key. Keys and requests are stored as hashes. @internal */
export class Idempotency extends Context.Service<Idempotency>()("@accountlink/core/Idempotency", {
  make: Effect.gen(function* () {
    const store = yield* IdempotencyStore;
    const secrets = yield* Secrets;
    yield* sweepEvery("1 minute", "Cannot delete ended idempotency keys", store.sweep);

    /** A result with a `sid` is encrypted, because anyone who has a `sid` can open its flow. */
    const keptTextOf = ({ id }: IdempotentWrite, answer: object) => {
      const { text, chatIds, isSecret } = scan(answer);
      const kept = isSecret ? secrets.sealAnswer(id, text) : Effect.succeed(text);
      return Effect.map(kept, (stored) => ({ answer: stored, chatIds }));
    };

    const replay = Effect.fnUntraced(function* ({ id, fingerprint, at }: IdempotentWrite) {
      const earlier = Option.getOrNull(yield* store.find(id));
      if (earlier === null || earlier.endsAt <= at) return;
      const { answer } = earlier;
      if (earlier.fingerprint !== fingerprint)
        return yield* new Conflict({ reason: "idempotency_key_reused" });
      if (earlier.isErased) return yield* new Conflict({ reason: "user_erased" });
      // Earlier releases stored running requests, which have no answer.
      if (answer === null) return;
      const text = answer.startsWith("{") ? answer : yield* secrets.openAnswer(id, answer);
      return yield* new Replayed(JSON.parse(text));
    });

    const stored = Effect.fnUntraced(function* <O, E>(
      request: IdempotentWrite,
      write: Effect.Effect<O, E>,
      answerOf: (outcome: O) => object,
      size?: "bulk",
    ) {
      const answered = Effect.flatMap(write, (outcome) =>
        Effect.map(keptTextOf(request, answerOf(outcome)), (kept) => [outcome, kept] as const),
      );
      const committed = yield* store.commit(request, answered, size);
      if (Option.isSome(committed)) return committed.value;
      yield* replay(request);
      return yield* new Conflict({ reason: "idempotency_key_in_use" });
    });

    /** The requests that run in this process, by the hash of their key. */
    const running = new Map<string, { readonly fingerprint: string; readonly ended: Latch.Latch }>();

    /** Waits up to a second for the end of an earlier request with the key. */
    const enter = Effect.fnUntraced(function* (id: string, fingerprint: string) {
      const earlier = running.get(id);
      if (earlier === undefined) {
        const ended = Latch.makeUnsafe();
        yield* Effect.acquireRelease(
          Effect.sync(() => running.set(id, { fingerprint, ended })),
          () =>
            Effect.andThen(
              Effect.sync(() => running.delete(id)),
              ended.open,
            ),
        );
        return;
      }
      if (earlier.fingerprint !== fingerprint)
        return yield* new Conflict({ reason: "idempotency_key_reused" });
      const waited = yield* Effect.timeoutOption(earlier.ended.await, "1 second");
      if (Option.isNone(waited)) return yield* new Conflict({ reason: "idempotency_key_in_use" });
    });

    return {
      /**
       * Begins a request, which holds its key in this process until the scope closes. Its functions fail with `Replayed`
       * if the request was answered before, and with `Conflict` in these cases:
       * - `idempotency_key_reused`: the key belongs to another request.
       * - `idempotency_key_in_use`: an earlier request with the key has been running for a second.
       * - `user_erased`: a chat user of the request was erased after the first request.
       */
      begin: Effect.fnUntraced(function* <A>(
        request: IdempotentRequest,
      ): Effect.fn.Return<Begun<A>, Conflict, Scope.Scope> {
        const { keyId, idempotencyKey, content } = request;
        const { text, chatIds } = scan(content);
        const id = yield* secrets.idempotencyHash("key", `${keyId}\n${idempotencyKey}`);
        const fingerprint = yield* secrets.idempotencyHash("request", text);
        yield* enter(id, fingerprint);
        const now = Effect.map(
          Clock.currentTimeMillis,
          (at): IdempotentWrite => ({ id, fingerprint, chatIds, at, endsAt: at + keptFor }),
        );
        return {
          commit: (write, resultOf, { ahead, once } = {}) =>
            Effect.gen(function* () {
              const named = yield* now;
              const committed = once === undefined ? Option.none() : yield* once(named);
              if (Option.isSome(committed)) return committed.value;
              if (once !== undefined || ahead !== undefined) yield* replay(named);
              if (ahead !== undefined) yield* ahead;
              const answerOf = (outcome: Effect.Success<typeof write>) => ({ result: resultOf(outcome) });
              return yield* stored(named, write, answerOf, ahead && "bulk");
            }),
          keep: (answer) => Effect.flatMap(now, (named) => stored(named, Effect.void, () => answer)),
          replay: Effect.flatMap(now, replay),
        };
      }),
    };
  }),
}) {
  /** Every minute until its scope closes, the layer deletes requests whose `endsAt` has passed. */
  static readonly layer = Layer.effect(Idempotency, Idempotency.make);
}

/** Returns the JSON text of a value, the chat users that it names, and whether it has a `sid`. */
const scan = (value: object) => {
  const chatIds = new Set<ChatId>();
  let isSecret = false;
  const text = JSON.stringify(value, (name, part: unknown) => {
    if (/chatId$/i.test(name) && typeof part === "string") chatIds.add(part as ChatId);
    if (name === "sid") isSecret = true;
    return part;
  });
  return { text, chatIds: [...chatIds], isSecret };
};
