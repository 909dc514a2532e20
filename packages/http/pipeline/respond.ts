/**
 * The end of every request: an error becomes a response, and operators see it.
 */
import type { PublicError } from "@accountlink/core";
import { SecurityLog } from "@accountlink/core/audit";
import { InternalError } from "@accountlink/core/errors";
import * as Immediate from "@accountlink/core/immediate";
import { UsageMeter } from "@accountlink/core/usage";
import { Cause, Effect, Result } from "effect";
import type { HttpResponse } from "../http_response.ts";
import type { RequestContext } from "../request_context.ts";
import { observeResponse } from "./request_metrics.ts";

/** The response to an error, and the error that operators see; null for none. */
interface Failure {
  readonly response: HttpResponse;
  readonly error: PublicError | null;
}

/** What hears of every outcome. */
export interface Observers {
  readonly security: SecurityLog["Service"];
  readonly usage: UsageMeter["Service"];
}

export const makeObservers: Effect.Effect<Observers, never, SecurityLog | UsageMeter> = Effect.gen(
  function* () {
    return { security: yield* SecurityLog, usage: yield* UsageMeter };
  },
);

/** Counts and logs the outcome of a request. Defects are `InternalError`; interruptions pass. */
export const respond = <E, R>(
  context: RequestContext,
  { security, usage }: Observers,
  outcome: Effect.Effect<HttpResponse, E, R>,
  failureOf: (error: E | InternalError) => Failure,
): Effect.Effect<HttpResponse, never, R> =>
  Immediate.matchCauseEffect(outcome, {
    onSuccess: (response) => observeResponse(context, usage, response, null),
    onFailure: (cause) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>);
      const found = Result.getOrElse(Cause.findError(cause), () => new InternalError({ cause }));
      const { response, error } = failureOf(found);
      return Effect.andThen(
        security.noteRefusal(error, context.address),
        observeResponse(context, usage, response, error),
      );
    },
  });
