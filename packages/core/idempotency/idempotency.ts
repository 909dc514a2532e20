/**
 * Each idempotent request runs once, however often it is sent. Its first answer is stored together with the write and
 * replayed.
 */
import { Clock, Context, Effect, Latch, Layer, Option, Scope } from "effect";
import { Conflict, type StoreEffect } from "../errors.ts";
import type { KeyId } from "../ids.ts";
import { Secrets } from "../secrets/secrets.ts";
import { sweepOldEvery } from "../storage_use.ts";
import { dayMs } from "../timestamp.ts";
import { IdempotencyStore, type IdempotentRequest, namesIn, type Once } from "./idempotency_store.ts";

/** A request as the client sent it. @internal */
export interface NamedRequest {
  /** `chat`: the chat platform sent it. */
  readonly keyId: KeyId | "chat";
  /** The client's own name for the request. */
  readonly idempotencyKey: string;
  /** The requested change as a JSON value. Requests with equal JSON texts count as the same request. */
  readonly content: object;
}

interface Begun {
  /** The idempotency key, for the context of the request's write. */
  readonly once: Once;
  /** Keeps the answer of a request that writes nothing. */
  readonly keep: (answer: object) => StoreEffect<void, Conflict>;
  /**
   * The answer that the request got before: the kept outcome of its write as `result`, or what `keep` kept. Fails with `Conflict`
   * `idempotency_key_reused` if the key belongs to another request, and `user_erased` if a chat user of the request was
   * erased since.
   */
  readonly kept: StoreEffect<Option.Option<object>, Conflict>;
}

/** How long an answer is kept, in milliseconds. */
const keptFor = dayMs;

/** Runs requests once per idempotency key. Keys and requests are stored as hashes. @internal */
export class Idempotency extends Context.Service<Idempotency>()("@accountlink/core/Idempotency", {
  make: Effect.gen(function* () {
    const store = yield* IdempotencyStore;
    const secrets = yield* Secrets;
    yield* sweepOldEvery("1 minute", "Cannot delete ended idempotency keys", store.sweep);

    const openJson = (id: string, sealed: string) => Effect.map(secrets.openAnswer(id, sealed), parsed);

    const findKept = Effect.fnUntraced(function* ({ id, fingerprint, at }: IdempotentRequest) {
      const earlier = Option.getOrNull(yield* store.find(id));
      if (earlier === null || earlier.endsAt <= at) return Option.none<object>();
      if (earlier.fingerprint !== fingerprint)
        return yield* new Conflict({ reason: "idempotency_key_reused" });
      const { answer } = earlier;
      if (answer === null) return yield* new Conflict({ reason: "user_erased" });
      // Releases before sealed the whole answer.
      const kept = answer.startsWith("{") ? parsed(answer) : yield* openJson(id, answer);
      const { result, given, ...rest } = kept as { result?: object; given?: string };
      if (given === undefined) return Option.some(kept);
      return Option.some<object>({ ...rest, result: { ...result, ...(yield* openJson(id, given)) } });
    });

    /** The requests that run in this process, by the hash of their key. */
    const running = new Map<string, { readonly fingerprint: string; readonly ended: Latch.Latch }>();

    /** Waits up to a second for the end of an earlier request with the key. */
    const enter = Effect.fnUntraced(function* (id: string, fingerprint: string) {
      const earlier = running.get(id);
      if (earlier === undefined) {
        const ended = Latch.makeUnsafe();
        const leave = Effect.suspend(() => {
          running.delete(id);
          return ended.open;
        });
        // `Effect.acquireRelease` would copy all services of the request for the release.
        yield* Scope.addFinalizer(yield* Effect.scope, leave);
        running.set(id, { fingerprint, ended });
        return;
      }
      if (earlier.fingerprint !== fingerprint)
        return yield* new Conflict({ reason: "idempotency_key_reused" });
      const waited = yield* Effect.timeoutOption(earlier.ended.await, "1 second");
      if (Option.isNone(waited)) return yield* new Conflict({ reason: "idempotency_key_in_use" });
    });

    return {
      /**
       * Begins a request, which holds its key in this process until the scope closes. Fails with `Conflict`
       * `idempotency_key_reused` if another request with the key runs, and `idempotency_key_in_use` if the same request
       * has been running for a second.
       */
      begin: Effect.fnUntraced(function* ({
        keyId,
        idempotencyKey,
        content,
      }: NamedRequest): Effect.fn.Return<Begun, Conflict, Scope.Scope> {
        const { text, chatIds } = namesIn(content);
        const id = yield* secrets.idempotencyHash("key", `${keyId}\n${idempotencyKey}`);
        const fingerprint = yield* secrets.idempotencyHash("request", text);
        yield* enter(id, fingerprint);
        const at = yield* Clock.currentTimeMillis;
        const request = { id, fingerprint, chatIds, at, endsAt: at + keptFor };
        return {
          once: request,
          keep: (refusal) => {
            const { text: answer, chatIds: named } = namesIn(refusal);
            return store.keep(request, { answer, chatIds: named });
          },
          kept: findKept(request),
        };
      }),
    };
  }),
}) {
  /** Every minute until its scope closes, the layer deletes requests whose `endsAt` has passed. */
  static readonly layer = Layer.effect(Idempotency, Idempotency.make);
}

const parsed = (text: string): object => JSON.parse(text) as object;
