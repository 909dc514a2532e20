/**
 * The envelopes of v1 answers.
 */
import { Schema } from "effect";

/** The version of an answer, unless its route or content has another. */
export const version = "1.0.0";

/** The version of an answer that carries a top-level `resolved`. */
export const resolvedVersion = "1.1.0";

const IsoTime = Schema.String.annotate({ description: "ISO 8601 timestamp" });

const common = {
  timestamp: IsoTime,
  version: Schema.String,
  requestsRemaining: Schema.NullOr(Schema.Int).annotate({ description: "What is left of the key's day" }),
  ipRequestsRemaining: Schema.NullOr(Schema.Int).annotate({
    description: "What is left of the client address's day, shared by all keys used from it",
  }),
};

/** A v1 success with this data, and what a route adds beside it. */
export const success = <Data extends Schema.Top, const Extra extends Schema.Struct.Fields = {}>(
  data: Data,
  extra: Extra = {} as Extra,
) => Schema.Struct({ status: Schema.Literal(200), data, ...extra, ...common });

/** A v1 failure. */
export const failure = (status: number) =>
  Schema.Struct({
    status: Schema.Literal(status),
    error: Schema.String,
    ...common,
    ...(status === 429 ? { retryAfter: Schema.Int.annotate({ description: "Seconds to wait" }) } : {}),
  });
