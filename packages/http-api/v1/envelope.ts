/**
 * The v1 envelopes.
 */
import type { Traffic } from "@accountlink/core/limits";
import { Schema } from "effect";
import { HttpApiSchema } from "effect/http-api";
import { IsoTime } from "../iso_time.ts";

/** The usual `version` of a response. */
export const version = "1.0.0";

/** The `version` of a response with a top-level `resolved`. */
export const resolvedVersion = "1.1.0";

const common = { timestamp: IsoTime, version: Schema.String };

const mappingCounters = {
  requestsRemaining: Schema.NullOr(Schema.Int).annotate({ description: "What is left of the key's day" }),
  ipRequestsRemaining: Schema.NullOr(Schema.Int).annotate({
    description: "What is left of the client address's day, shared by all keys used from it",
  }),
};

const verifyCounters = {
  verifyRequestsRemaining: Schema.NullOr(Schema.Int).annotate({
    description: "What is left of the key's day of verification requests",
  }),
  verifyIpRequestsRemaining: Schema.NullOr(Schema.Int).annotate({
    description: "What is left of the client address's day of verification requests",
  }),
};

/** A v1 success with this data and these top-level fields. */
export const success = <Data extends Schema.Top, const Extra extends Schema.Struct.Fields = {}>(
  data: Data,
  extra: Extra = {} as Extra,
) => Schema.Struct({ status: Schema.Literal(200), data, ...extra, ...common, ...mappingCounters });

/** A v1 success of a session route. */
export const verifySuccess = <Data extends Schema.Top, const Status extends 200 | 201 = 200>(
  data: Data,
  status: Status = 200 as Status,
) =>
  Schema.Struct({ status: Schema.Literal(status), data, ...common, ...verifyCounters }).pipe(
    HttpApiSchema.status(status),
  );

/** A v1 failure. */
export const failure = (status: number, traffic: Traffic = "mapping") =>
  Schema.Struct({
    status: Schema.Literal(status),
    error: Schema.String,
    ...common,
    ...(traffic === "verify" ? verifyCounters : mappingCounters),
    ...(status === 429 ? { retryAfter: Schema.Int.annotate({ description: "Seconds to wait" }) } : {}),
  });
