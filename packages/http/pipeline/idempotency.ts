/** `Idempotency-Key`: stores the response of a write under the client's key, and replays it for the same request. */
import type { ApiKey, PublicError } from "@accountlink/core";
import type { ParameterProblem } from "@accountlink/core/errors";
import type { Idempotency, NamedRequest, Once } from "@accountlink/core/idempotency";
import { errorTable } from "@accountlink/http-api";
import { Effect, Option } from "effect";
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
 * Answers a request, at most once per idempotency key. The store keeps the outcome together with the write of the
 * handler. A refusal is kept too, if its row in `errorTable` has `kept`. A kept answer wins over a later refusal or
 * failure.
 */
export const answerOnce = <I extends Input, A extends K, K>(
  idempotency: Idempotency["Service"],
  input: I,
  handler: (input: I & { readonly once?: Once }) => Effect.Effect<A, PublicError>,
  toSuccess: (result: K) => Success,
): Effect.Effect<Outcome<Success>, Refused<PublicError>> => {
  const { context } = input;
  const idempotencyKey = idempotencyKeyOf(context);
  if (idempotencyKey === undefined) return answering(context, Effect.map(handler(input), toSuccess));

  const begun = idempotency.begin(requestOf(input, idempotencyKey));
  const answered = Effect.flatMap(begun, ({ once, keep, kept }) => {
    const replayOr = (error: PublicError, found: typeof kept = kept) =>
      Effect.flatMap(
        found,
        (answer): Effect.Effect<Outcome<Success>, PublicError | Refused<PublicError>> =>
          Option.isNone(answer)
            ? Effect.fail(error)
            : answering({ ...context, isReplayed: true }, answerKept(answer.value as Kept<K>, toSuccess)),
      );
    return handler({ ...input, once }).pipe(
      Effect.map((result) => ({ context, answer: toSuccess(result) })),
      Effect.catch((error) => {
        const { code, details } = error;
        if (isKeyInUse(error)) return replayOr(error);
        if (errorTable[code].kept !== null) {
          return Effect.matchEffect(keep({ code, details }), {
            onFailure: (taken) => replayOr(taken),
            onSuccess: () => Effect.fail(error),
          });
        }
        return replayOr(
          error,
          Effect.catchTag(kept, "StoreUnavailable", () => Effect.succeedNone),
        );
      }),
    );
  });
  return within(context, Effect.scoped(answered));
};

const isKeyInUse = (error: PublicError): boolean =>
  error._tag === "Conflict" && error.reason === "idempotency_key_in_use";

const requestOf = ({ context, key, values }: Input, idempotencyKey: string): NamedRequest => ({
  keyId: key.id,
  idempotencyKey,
  // Leave out null values, so that the content of a request stays the same when a release adds an optional parameter.
  content: [
    context.route.id,
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)),
  ],
});

/** The kept outcome of a write, or a refusal. */
type Kept<K> = { readonly result: K } | Pick<PublicError, "code" | "details">;

const answerKept = <K>(
  kept: Kept<K>,
  toSuccess: (result: K) => Success,
): Effect.Effect<Success, PublicError> => {
  if ("result" in kept) return Effect.succeed(toSuccess(kept.result));
  const KeptError = errorTable[kept.code].kept as new (details: unknown) => PublicError;
  return Effect.fail(new KeptError(kept.details ?? {}));
};
