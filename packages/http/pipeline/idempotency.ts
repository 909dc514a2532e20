/**
 * `Idempotency-Key`: the answer of a write is kept under the client's name for it, and given to the same request again.
 */
import type { ApiKey, PublicError } from "@accountlink/core";
import type { ParameterProblem } from "@accountlink/core/errors";
import type { Answer, Commit, Idempotency } from "@accountlink/core/idempotency";
import type { ChatId } from "@accountlink/core/ids";
import { errorCodes, errorTable } from "@accountlink/http-api";
import { Effect, Schema } from "effect";
import type { Success } from "../envelopes/envelope.ts";
import type { RequestContext } from "../request_context.ts";

/** The idempotency key of a request; undefined without one. */
export const idempotencyKeyOf = ({ request }: RequestContext): string | undefined =>
  request.header("idempotency-key");

/** What is wrong with the idempotency key of a request. */
export const idempotencyProblems = (context: RequestContext): ReadonlyArray<ParameterProblem> => {
  const key = idempotencyKeyOf(context);
  return key === undefined || /^[!-~]{1,255}$/.test(key) ? [] : [invalidKey];
};

const invalidKey = { name: "Idempotency-Key", reason: "expected 1 to 255 visible ASCII characters" };

/** A request with an idempotency key, and its content by value. */
interface IdempotentInput {
  readonly context: RequestContext;
  readonly key: ApiKey;
  readonly idempotencyKey: string;
  readonly values: { readonly [name: string]: unknown };
}

/**
 * Answers a request once. An answer of the handler is kept with its write, a refusal alone. An answer that asks to try
 * again is not kept: 5xx and 429.
 */
export const answerOnce = <A, R>(
  { once }: Idempotency["Service"],
  { context, key, idempotencyKey, values }: IdempotentInput,
  handler: (commit: Commit<A>) => Effect.Effect<A, PublicError, R>,
  toSuccess: (result: A) => Success,
): Effect.Effect<Success, PublicError, R> => {
  const request = {
    keyId: key.id,
    idempotencyKey,
    content: contentOf(context, values),
    chatIds: chatUsersIn(values).chatIds,
    requestId: context.requestId,
  };
  const answered = once(request, (commit) =>
    handler((write, resultOf, size) =>
      commit(write, (outcome) => answerOf(toSuccess(resultOf(outcome))), size),
    ).pipe(
      Effect.map(toSuccess),
      Effect.tapError((error) =>
        errorTable[error.code].kept === null
          ? Effect.void
          : commit(Effect.void, () => answerOf(refusalOf(error))),
      ),
    ),
  );
  return Effect.flatMap(answered, (answer) =>
    "replayed" in answer ? replay(context, answer.replayed) : Effect.succeed(answer),
  );
};

/** What a request asks for. A parameter that is left out, or that a later release adds, changes nothing. */
const contentOf = ({ route }: RequestContext, values: IdempotentInput["values"]): string =>
  JSON.stringify([route.id, Object.entries(values).filter(([, value]) => value !== null)]);

const KeptText = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ status: Schema.Literals([200, 201]), data: Schema.Unknown }),
    Schema.Struct({ code: Schema.Literals(errorCodes), details: Schema.Unknown }),
  ]),
);

const decode = Schema.decodeEffect(KeptText);

type Refusal = Pick<PublicError, "code" | "details">;

const refusalOf = ({ code, details }: PublicError): Refusal => ({ code, details });

const answerOf = (answer: Success | Refusal): Answer =>
  chatUsersIn("code" in answer ? answer : { status: answer.status ?? 200, data: answer.data });

/** A value as text, and the chat users in it. */
const chatUsersIn = (value: object): Answer => {
  const chatIds = new Set<ChatId>();
  const text = JSON.stringify(value, (name, part: unknown) => {
    if (/chatId$/i.test(name) && typeof part === "string") chatIds.add(part as ChatId);
    return part;
  });
  return { text, chatIds: [...chatIds] };
};

/** Gives a kept answer again. */
const replay = (context: RequestContext, text: string): Effect.Effect<Success, PublicError> =>
  Effect.flatMap(Effect.orDie(decode(text)), (kept) => {
    context.isReplayed = true;
    if (!("code" in kept)) return Effect.succeed(kept);
    const KeptError = errorTable[kept.code].kept as new (details: unknown) => PublicError;
    return Effect.fail(new KeptError(kept.details ?? {}));
  });
