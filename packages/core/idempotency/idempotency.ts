/**
 * Each idempotent request runs once, however often it is sent. Its first answer is stored together with the write and
 * replayed.
 */
import { Clock, Context, Effect, Exit, Layer, Option, type Scope } from "effect";
import { Conflict, type StoreUnavailable } from "../errors.ts";
import type { ChatId, KeyId } from "../ids.ts";
import { Secrets } from "../secrets/secrets.ts";
import { sweepEvery } from "../telemetry/warn_once.ts";
import { dayMs } from "../timestamp.ts";
import type { Commit } from "./commit.ts";
import { type Claim, IdempotencyStore } from "./idempotency_store.ts";

/** @internal */
export interface IdempotentRequest {
  readonly keyId: KeyId;
  /** The client's own name for the request. */
  readonly idempotencyKey: string;
  /** The requested change as a JSON value. Requests with equal JSON texts count as the same request. */
  readonly content: object;
  readonly requestId: string;
}

/** Either the first request with a key, or a repeated request with its stored result. @internal */
export type Begun<A> =
  | {
      readonly _tag: "First";
      readonly commit: Commit<A>;
      /** Stores the answer of a request that writes nothing. */
      readonly keep: (answer: object) => Effect.Effect<void, Conflict | StoreUnavailable>;
    }
  | { readonly _tag: "Answered"; readonly answer: unknown };

/** How long an answer, or a request without an answer, is kept, in milliseconds. */
const keptFor = dayMs;

/**
 * A claim ends this long after its process died, in milliseconds. Running requests extend their claim. A request that
 * has lost its claim stores nothing, because it commits only while it holds the key.
 */
const claimDuration = 6_000;
const extendInterval = "2 seconds";

/** Runs requests once per idempotency key. Keys and requests are stored as hashes, answers encrypted. @internal */
export class Idempotency extends Context.Service<
  Idempotency,
  {
    /**
     * Begins a request. The first request with a key holds the key until the scope closes. If this request fails
     * without an answer, the next request with the key is treated as the first. Repeated requests get the stored
     * answer.
     *
     * Fails with `Conflict` in these cases:
     * - `idempotency_key_reused`: the key belongs to another request.
     * - `idempotency_key_in_use`: the first request still runs.
     * - `user_erased`: a chat user of the request was erased after the first request.
     *
     * A commit also fails if another request has taken over the key, or if a chat user of the request was erased.
     *
     * @param answerOf makes the stored answer, a JSON value
     */
    readonly begin: <A>(
      request: IdempotentRequest,
      answerOf: (result: A) => object,
    ) => Effect.Effect<Begun<A>, Conflict | StoreUnavailable, Scope.Scope>;
  }
>()("@accountlink/core/Idempotency") {
  /** Every minute until its scope closes, the layer deletes requests whose `endsAt` has passed. */
  static readonly layer = Layer.effect(
    Idempotency,
    Effect.gen(function* () {
      const store = yield* IdempotencyStore;
      const secrets = yield* Secrets;
      yield* sweepEvery("1 minute", "Cannot delete ended idempotency keys", store.sweep);

      /** Claims a key, and extends the claim until the scope closes. */
      const claimKey = Effect.fnUntraced(function* (claim: Claim, fingerprint: string) {
        const at = yield* Clock.currentTimeMillis;
        const ends = { heldUntil: at + claimDuration, endsAt: at + keptFor };
        const earlier = yield* Effect.acquireRelease(
          store.claim({ ...claim, ...ends, fingerprint, at }),
          (found, exit) =>
            Option.isNone(found) && Exit.isFailure(exit) ? Effect.ignore(store.release(claim)) : Effect.void,
        );
        if (Option.isNone(earlier)) yield* Effect.forkScoped(extendForever(claim));
        return earlier;
      });

      const extendForever = (claim: Claim) =>
        Clock.currentTimeMillis.pipe(
          Effect.flatMap((at) => Effect.ignore(store.extend(claim, at + claimDuration))),
          Effect.delay(extendInterval),
          Effect.forever,
        );

      const keepOn =
        (claim: Claim): Commit<object> =>
        (write, answerOf, size) => {
          const answered = Effect.flatMap(write, (outcome) =>
            Effect.map(seal(claim, answerOf(outcome)), (answer) => [outcome, answer] as const),
          );
          return Effect.flatMap(
            store.commit(claim, answered, size),
            Option.match({ onNone: () => lost(claim), onSome: Effect.succeed }),
          );
        };

      const seal = Effect.fnUntraced(function* ({ id }: Claim, content: object) {
        const { text, chatIds } = chatUsersIn(content);
        const answer = yield* secrets.sealAnswer(id, text);
        return { answer, chatIds, endsAt: (yield* Clock.currentTimeMillis) + keptFor };
      });

      /** The failure of a request that no longer holds its key. */
      const lost = ({ id }: Claim) =>
        Effect.flatMap(store.find(id), (holder) =>
          Option.exists(holder, ({ isErased }) => isErased) ? userErased : inUse,
        );

      const begin: Idempotency["Service"]["begin"] = Effect.fnUntraced(function* (request, answerOf) {
        const { keyId, idempotencyKey, content, requestId } = request;
        const { text, chatIds } = chatUsersIn(content);
        const id = yield* secrets.idempotencyHash("key", `${keyId}\n${idempotencyKey}`);
        const fingerprint = yield* secrets.idempotencyHash("request", text);
        const claim: Claim = { id, requestId, chatIds };
        const earlier = yield* claimKey(claim, fingerprint);
        if (Option.isNone(earlier)) {
          const keep = keepOn(claim);
          return {
            _tag: "First",
            commit: (write, resultOf, size) => keep(write, (outcome) => answerOf(resultOf(outcome)), size),
            keep: (answer) => keep(Effect.void, () => answer),
          };
        }
        const { answer, fingerprint: before, isErased } = earlier.value;
        if (before !== fingerprint) return yield* new Conflict({ reason: "idempotency_key_reused" });
        if (isErased) return yield* userErased;
        if (answer === null) return yield* inUse;
        return { _tag: "Answered", answer: JSON.parse(yield* secrets.openAnswer(id, answer)) };
      });

      return Idempotency.of({ begin });
    }),
  );
}

const chatUsersIn = (value: object) => {
  const chatIds = new Set<ChatId>();
  const text = JSON.stringify(value, (name, part: unknown) => {
    if (/chatId$/i.test(name) && typeof part === "string") chatIds.add(part as ChatId);
    return part;
  });
  return { text, chatIds: [...chatIds] };
};

const inUse = Effect.fail(new Conflict({ reason: "idempotency_key_in_use" }));
const userErased = Effect.fail(new Conflict({ reason: "user_erased" }));
