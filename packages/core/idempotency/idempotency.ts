/**
 * Writes that run once, however often their request is sent: the first answer under an idempotency key is kept, and
 * given again.
 */
import { Clock, Context, Effect, Layer, Option, Schedule } from "effect";
import { Conflict, type StoreUnavailable } from "../errors.ts";
import type { ChatId, KeyId } from "../ids.ts";
import { Secrets } from "../secrets/secrets.ts";
import { warnOnce } from "../telemetry/warn_once.ts";
import { type Claim, IdempotencyStore } from "./idempotency_store.ts";

/** @internal */
export interface IdempotentRequest {
  readonly keyId: KeyId;
  /** The client's own name for the request. */
  readonly idempotencyKey: string;
  /** What is asked for; equal texts are the same request. */
  readonly content: string;
  /** The chat users that it names. */
  readonly chatIds: ReadonlyArray<ChatId>;
  readonly requestId: string;
}

/**
 * An answer to keep.
 *
 * @internal
 */
export interface Answer {
  readonly text: string;
  /** The chat users that it names. */
  readonly chatIds: ReadonlyArray<ChatId>;
}

/**
 * Commits a write together with its answer. Fails with `Conflict` if another request has taken the key over, or a chat
 * user of the request was erased.
 *
 * @internal
 */
export type CommitAnswer = <O, E>(
  write: Effect.Effect<O, E>,
  answerOf: (outcome: O) => Answer,
  size?: "bulk",
) => Effect.Effect<O, E | Conflict | StoreUnavailable>;

/** How long an answer is kept, and a request remembered that has none, in milliseconds. */
const keptFor = 86_400_000;

/**
 * A claim ends this long after its process died, in milliseconds. While the request runs, it is extended. A request
 * whose claim ended too early stores nothing, since it commits only while it holds the key.
 */
const claimDuration = 6_000;
const extendInterval = "2 seconds";

/**
 * Runs requests once for each idempotency key. Keys and requests are stored as hashes, answers encrypted.
 *
 * @internal
 */
export class Idempotency extends Context.Service<
  Idempotency,
  {
    /**
     * Runs the first request under a key; for the same request again, returns the text of the answer that it
     * committed. If it fails without one, the next request is the first.
     *
     * Fails with `Conflict` for another request under the key (`idempotency_key_reused`), while the first one runs
     * (`idempotency_key_in_use`), and for 24 hours if a chat user of it was erased since it began (`user_erased`).
     */
    readonly once: <A, E, R>(
      request: IdempotentRequest,
      run: (commit: CommitAnswer) => Effect.Effect<A, E, R>,
    ) => Effect.Effect<A | { readonly replayed: string }, E | Conflict | StoreUnavailable, R>;
  }
>()("@accountlink/core/Idempotency") {
  /** Deletes what has ended every minute, until its scope closes. */
  static readonly layer = Layer.effect(
    Idempotency,
    Effect.gen(function* () {
      const store = yield* IdempotencyStore;
      const secrets = yield* Secrets;
      const sweep = yield* warnOnce(
        "Cannot delete ended idempotency keys",
        Effect.flatMap(Clock.currentTimeMillis, store.sweep),
      );
      yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced("1 minute")));

      const extendForever = (claim: Claim) =>
        Clock.currentTimeMillis.pipe(
          Effect.flatMap((at) => Effect.ignore(store.extend(claim, at + claimDuration))),
          Effect.delay(extendInterval),
          Effect.forever,
        );

      const commitOn =
        (claim: Claim): CommitAnswer =>
        (write, answerOf, size) =>
          store
            .commit(claim, {
              write,
              answerOf: Effect.fnUntraced(function* (outcome) {
                const { text, chatIds } = answerOf(outcome);
                const answer = yield* secrets.sealAnswer(claim.id, text);
                return { answer, chatIds, endsAt: (yield* Clock.currentTimeMillis) + keptFor };
              }),
              isBulk: size === "bulk",
            })
            .pipe(Effect.flatMap(Option.match({ onNone: () => lost(claim), onSome: Effect.succeed })));

      /** A request that no longer holds its key. */
      const lost = ({ id }: Claim) =>
        Effect.flatMap(store.find(id), (holder) =>
          Option.exists(holder, ({ isErased }) => isErased) ? userErased : inUse,
        );

      const once: Idempotency["Service"]["once"] = Effect.fnUntraced(function* (request, run) {
        const { keyId, idempotencyKey, content, chatIds, requestId } = request;
        const id = yield* secrets.idempotencyHash("key", `${keyId}\n${idempotencyKey}`);
        const fingerprint = yield* secrets.idempotencyHash("request", content);
        const claim: Claim = { id, requestId, chatIds };
        const running = Effect.raceFirst(run(commitOn(claim)), extendForever(claim));
        return yield* Effect.uninterruptibleMask(
          Effect.fnUntraced(function* (restore) {
            const at = yield* Clock.currentTimeMillis;
            const ends = { heldUntil: at + claimDuration, endsAt: at + keptFor };
            const earlier = yield* store.claim({ ...claim, ...ends, fingerprint, at });
            if (Option.isNone(earlier)) {
              return yield* Effect.onError(restore(running), () => Effect.ignore(store.release(claim)));
            }
            const { answer, fingerprint: before, isErased } = earlier.value;
            if (before !== fingerprint) return yield* new Conflict({ reason: "idempotency_key_reused" });
            if (isErased) return yield* userErased;
            if (answer === null) return yield* inUse;
            return { replayed: yield* secrets.openAnswer(id, answer) };
          }),
        );
      });

      return Idempotency.of({ once });
    }),
  );
}

const inUse = Effect.fail(new Conflict({ reason: "idempotency_key_in_use" }));
const userErased = Effect.fail(new Conflict({ reason: "user_erased" }));
