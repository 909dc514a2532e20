/** `Idempotency-Key`: stores the response of a write under the client's key, and replays it for the same request. */
import type { ApiKey, PublicError } from "@accountlink/core";
import type { ParameterProblem } from "@accountlink/core/errors";
import {
  type Commit,
  commitAlone,
  type Idempotency,
  type IdempotentRequest,
  Replayed,
} from "@accountlink/core/idempotency";
import { errorTable } from "@accountlink/http-api";
import { Effect } from "effect";
import type { Success } from "../envelopes/envelope.ts";
import type { RequestContext } from "../request_context.ts";
import { answering, type Outcome, type Refused, within } from "./respond.ts";

const idempotencyKeyOf = ({ request }: RequestContext): string | undefined =>
  request.header("idempotency-key");

export const idempotencyProblems = (context: RequestContext): ReadonlyArray<ParameterProblem> => {
  const key = idempotencyKeyOf(context);
  return key === undefined || /^[!-~]{1,255}$/.test(key) ? [] : [invalidKey];
};

const invalidKey = { name: "Idempotency-Key", reason: "expected 1 to 255 visible ASCII characters" };

interface Input {
  readonly context: RequestContext;
  readonly key: ApiKey;
  readonly values: { readonly [name: string]: unknown };
}

/**
 * Answers a request, at most once per idempotency key. The handler commits its write and the response together. A
 * refusal is stored too, if its row in `errorTable` has `kept`.
 */
export const answerOnce = <I extends Input, A>(
  idempotency: Idempotency["Service"],
  input: I,
  handler: (input: I & { readonly commit: Commit<A> }) => Effect.Effect<A, PublicError>,
  toSuccess: (result: A) => Success,
): Effect.Effect<Outcome<Success>, Refused<PublicError>> => {
  const { context } = input;
  const idempotencyKey = idempotencyKeyOf(context);
  if (idempotencyKey === undefined) {
    return answering(context, Effect.map(handler({ ...input, commit: commitAlone }), toSuccess));
  }
  const once = Effect.gen(function* () {
    const { commit, keep, replay } = yield* idempotency.begin<A>(requestOf(input, idempotencyKey));
    const result = yield* Effect.tapError(handler({ ...input, commit }), (error) => {
      if (isReplayed(error)) return Effect.void;
      const { code, details } = error;
      // A failure, such as of the platform, does not hide that the write happened before.
      if (errorTable[code].kept === null)
        return Effect.catchTag(replay, "StoreUnavailable", () => Effect.void);
      return keep({ code, details });
    });
    return toSuccess(result);
  });
  return Effect.scoped(once).pipe(
    Effect.map((answer) => ({ context, answer })),
    Effect.catchIf(isReplayed, ({ answer }) =>
      answering({ ...context, isReplayed: true }, answerKept(answer as Kept<A>, toSuccess)),
    ),
    (answered) => within(context, answered),
  );
};

const isReplayed = (error: unknown): error is Replayed => error instanceof Replayed;

const requestOf = ({ context, key, values }: Input, idempotencyKey: string): IdempotentRequest => ({
  keyId: key.id,
  idempotencyKey,
  // Leave out null values, so that the content of a request stays the same when a release adds an optional parameter.
  content: [
    context.route.id,
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)),
  ],
});

/** The kept result of a write, or a refusal. Earlier releases kept the success itself. */
type Kept<A> = { readonly result: A } | Pick<PublicError, "code" | "details"> | Success;

const answerKept = <A>(
  kept: Kept<A>,
  toSuccess: (result: A) => Success,
): Effect.Effect<Success, PublicError> => {
  if ("result" in kept) return Effect.succeed(toSuccess(kept.result));
  if (!("code" in kept)) return Effect.succeed(kept);
  const KeptError = errorTable[kept.code].kept as new (details: unknown) => PublicError;
  return Effect.fail(new KeptError(kept.details ?? {}));
};
