import type { PublicError } from "@accountlink/core/errors";
import type { Traffic } from "@accountlink/core/limits";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";

/** The `version` of v1 responses, unless the route has its own version. */
export const version = "1.0.0";

/** The `version` of a v1 response that has the top-level field `resolved`. */
export const resolvedVersion = "1.1.0";

/**
 * Returns the message of an error. The message names invalid parameters, but not the values that were expected.
 *
 * @internal
 */
export const messageOf = (error: PublicError): string =>
  error._tag === "InvalidParameter"
    ? `Invalid parameter: ${error.parameters.map(({ name }) => name).join(", ")}`
    : error.message;

const common = { timestamp: IsoTime, version: Schema.String };

const RemainingOfKey = Schema.NullOr(Schema.Int).annotate({
  identifier: "RemainingOfKey",
  description: "Requests that the key has left today",
});
const RemainingOfAddress = Schema.NullOr(Schema.Int).annotate({
  identifier: "RemainingOfAddress",
  description: "Requests that the client address has left today, counted over all keys",
});

const mappingCounters = { requestsRemaining: RemainingOfKey, ipRequestsRemaining: RemainingOfAddress };

const verifyCounters = {
  verifyRequestsRemaining: RemainingOfKey,
  verifyIpRequestsRemaining: RemainingOfAddress,
};

/** Makes the schema of a v1 success with this data and these top-level fields. @internal */
export const success = <Data extends Schema.Top, const Extra extends Schema.Struct.Fields = {}>(
  data: Data,
  extra: Extra = {} as Extra,
) => Schema.Struct({ status: Schema.Literal(200), data, ...extra, ...common, ...mappingCounters });

/** Makes the schema of a v1 success of a session route. @internal */
export const verifySuccess = <Data extends Schema.Top, const Status extends 200 | 201 = 200>(
  data: Data,
  status: Status = 200 as Status,
) => Schema.Struct({ status: Schema.Literal(status), data, ...common, ...verifyCounters });

const retryAfter = Schema.Int.annotate({ description: "Seconds to wait" });

const failureOf = (name: string, counters: Schema.Struct.Fields) => {
  const fields = { error: Schema.String, ...common, ...counters };
  const refusal = Schema.Struct({ status: Schema.Literal(429), ...fields, retryAfter });
  return {
    failure: Schema.Struct({ status: Schema.Int, ...fields }).annotate({ identifier: `${name}V1` }),
    refusal: refusal.annotate({ identifier: `${name}RateLimitedV1` }),
  };
};

const failures = {
  mapping: failureOf("Failure", mappingCounters),
  verify: failureOf("VerifyFailure", verifyCounters),
} satisfies Record<Traffic, unknown>;

/**
 * Makes the schema of a v1 failure.
 *
 * @example
 * ```ts
 * import { Schema } from "effect";
 *
 * const counters = { requestsRemaining: null, ipRequestsRemaining: null };
 * const common = { timestamp: "2026-01-05T12:00:00.000Z", version: EnvelopeV1.version, ...counters };
 * const refused = { status: 401, error: "Unauthorized: missing or invalid API key", ...common };
 * Schema.is(EnvelopeV1.failure(401))(refused); // true
 * Schema.is(EnvelopeV1.failure(429))({ ...refused, status: 429 }); // false
 * EnvelopeV1.resolvedVersion; // "1.1.0"
 * ```
 */
export const failure = (status: number, traffic: Traffic = "mapping"): Schema.Top =>
  failures[traffic][status === 429 ? "refusal" : "failure"];
