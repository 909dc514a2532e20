/** `Idempotency-Key`: stores the response of a write under the client's key, and replays it for the same request. */
import type { ApiKey, PublicError } from "@accountlink/core";
import type { ParameterProblem } from "@accountlink/core/errors";
import {
  type Commit,
  commitAlone,
  type Idempotency,
  type IdempotentRequest,
} from "@accountlink/core/idempotency";
import { errorTable } from "@accountlink/http-api";
import { Effect } from "effect";
import type { Success } from "../envelopes/envelope.ts";
import type { Learn, RequestContext } from "../request_context.ts";

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
  learn: Learn,
): Effect.Effect<Success, PublicError> => {
  const idempotencyKey = idempotencyKeyOf(input.context);
  if (idempotencyKey === undefined) return Effect.map(handler({ ...input, commit: commitAlone }), toSuccess);
  return Effect.gen(function* () {
    const begun = yield* idempotency.begin(requestOf(input, idempotencyKey), (result: A) => ({
      status: 200,
      ...toSuccess(result),
    }));
    if (begun._tag === "Answered") {
      learn({ isReplayed: true });
      return yield* replay(begun.answer as Kept);
    }
    const result = yield* Effect.tapError(handler({ ...input, commit: begun.commit }), ({ code, details }) =>
      errorTable[code].kept === null ? Effect.void : begun.keep({ code, details }),
    );
    return toSuccess(result);
  }).pipe(Effect.scoped);
};

const requestOf = ({ context, key, values }: Input, idempotencyKey: string): IdempotentRequest => ({
  keyId: key.id,
  idempotencyKey,
  // Leave out null values, so that the content of a request stays the same when a release adds an optional parameter.
  content: [
    context.route.id,
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)),
  ],
  requestId: context.requestId,
});

/** The stored outcome of a request: a success, or the code and details of a refusal. */
type Kept = Success | Pick<PublicError, "code" | "details">;

const replay = (kept: Kept): Effect.Effect<Success, PublicError> => {
  if (!("code" in kept)) return Effect.succeed(kept);
  const KeptError = errorTable[kept.code].kept as new (details: unknown) => PublicError;
  return Effect.fail(new KeptError(kept.details ?? {}));
};
