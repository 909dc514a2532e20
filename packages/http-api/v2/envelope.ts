import { addressBuckets, type ErrorCode, keyBuckets, type PublicError } from "@accountlink/core/errors";
import { tiers } from "@accountlink/core/keys";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { Schema } from "effect";
import { InvalidParameters, type Reason, reasonAdvice, reasonsByCode } from "../error_details.ts";
import { errorCodes, errorTable, isRateLimited } from "../errors.ts";
import { IsoTime } from "../iso_time.ts";
import type { Route } from "../route.ts";

export const version = "2.0.0";

/** Accepted values of the request header `Service-Version`, oldest first. */
export const serviceVersions = ["2026-01-01"] as const;

/**
 * The field `meta.rateLimit` of a response. It has the state of one limit of the key: on session routes the daily
 * limit, and on other routes the limit of the short window. In a response with status 429, it has the exceeded limit.
 */
export const RateLimit = Schema.Struct({
  limit: Schema.NullOr(Schema.Int),
  remaining: Schema.NullOr(Schema.Int),
  resetAt: Schema.NullOr(IsoTime),
  retryAfter: Schema.NullOr(Schema.Int).annotate({
    description: "Seconds to wait before the next request; null unless a limit refused this request",
  }),
  scope: Schema.NullOr(Schema.Literals(["api_key", "ip"])),
  bucket: Schema.optionalKey(Schema.Literals([...keyBuckets, ...addressBuckets])),
}).annotate({ identifier: "RateLimit" });
export type RateLimit = typeof RateLimit.Type;

const noLimit = { limit: null, remaining: null, resetAt: null, retryAfter: null };

/** The limit of a request that no key counts. @internal */
export const unknownLimit: RateLimit = { ...noLimit, scope: null };

/** The limit of a key without limits. @internal */
export const unlimited: RateLimit = { ...noLimit, scope: "api_key" };

/** The limit that an error is about; null for other errors. @internal */
export const refusingLimit = (error: PublicError): RateLimit | null => {
  if (!isRateLimited(error)) return null;
  const { limit, retryAfter, bucket, resetsAt } = error;
  const scope = error._tag === "RateLimited" ? "api_key" : "ip";
  return { limit, remaining: 0, resetAt: formatTimestamp(resetsAt), retryAfter, scope, bucket };
};

const Meta = Schema.Struct({
  requestId: Schema.String.annotate({
    description: "`req_` followed by a ULID. The response header `X-Request-Id` has the same value",
  }),
  version: Schema.Literal(version),
  rateLimit: RateLimit,
  tier: Schema.optionalKey(Schema.Literals(tiers).annotate({ description: "The tier of the key" })),
}).annotate({ identifier: "Meta" });

const BulkMeta = Schema.Struct({
  ...Meta.fields,
  bulk: Schema.Struct({ uniqueInputs: Schema.Int, maxInputs: Schema.Int }),
}).annotate({ identifier: "BulkMeta" });

/** Makes the schema of a v2 success with this data. @internal */
export const success = <Data extends Schema.Top, const Status extends 200 | 201 = 200>(
  data: Data,
  status: Status = 200 as Status,
) => Schema.Struct({ status: Schema.Literal(status), data, meta: Meta, timestamp: IsoTime });

/** Makes the schema of a v2 success whose data has these fields. @internal */
export const successOf = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  success(Schema.Struct(fields));

/** What routes that read with a key have in common. @internal */
export const reading = {
  generation: "v2",
  method: "GET",
  source: "query",
  access: "key",
  keyAccess: ["read"],
} as const;

/** Makes the schema of a v2 bulk success from the schemas of one result's input and data. @internal */
export const bulkSuccess = <Input extends Schema.Top, Data extends Schema.Top>(input: Input, data: Data) =>
  Schema.Struct({
    status: Schema.Literal(200),
    data: Schema.Struct({
      results: Schema.Array(
        Schema.Union([
          Schema.Struct({ input, found: Schema.Literal(true), data, error: Schema.Null }),
          Schema.Struct({ input, found: Schema.Literal(false), data: Schema.Null, error: ItemError }),
        ]),
      ),
      count: Schema.Int,
      foundCount: Schema.Int,
      notFoundCount: Schema.Int.annotate({ description: "Number of results with LINK_NOT_FOUND" }),
      errorCount: Schema.Int.annotate({ description: "Number of results with another error" }),
      resolved: Schema.Boolean,
    }),
    meta: BulkMeta,
    timestamp: IsoTime,
  });

const ItemReason = Schema.Struct({ reason: Schema.String }).annotate({ identifier: "ItemReason" });

const ItemError = Schema.Struct({
  code: Schema.Literals(["INVALID_PARAMETER", "FORBIDDEN", "LINK_NOT_FOUND", "INTERNAL_ERROR"]),
  message: Schema.String,
  details: Schema.NullOr(Schema.Union([InvalidParameters, ItemReason])),
  status: Schema.Int,
}).annotate({ identifier: "BulkItemError" });

const errorSchema = (code: ErrorCode, details: Schema.Top = errorTable[code].details) =>
  Schema.Struct({ code: Schema.Literal(code), message: Schema.String, details });

/** The schemas of errors by code. The identifiers, such as `LinkNotFoundError`, name types in generated clients. */
const errorSchemas = new Map(
  errorCodes.map((code): readonly [ErrorCode, Schema.Top] => {
    const words = code.replace(/_ERROR$/, "").split("_");
    const name = words.map((word) => `${word.charAt(0)}${word.slice(1).toLowerCase()}`).join("");
    return [code, errorSchema(code).annotate({ identifier: `${name}Error` })];
  }),
);

/** The reasons with which a route refuses by a code, in the order of the table; none for a code without reasons. @internal */
export const reasonsOf = ({ reasons }: Pick<Route, "reasons">, code: ErrorCode): ReadonlyArray<Reason> =>
  (reasonTable[code] ?? []).filter((reason) => reasons.has(reason));

const reasonTable: Partial<Record<ErrorCode, ReadonlyArray<Reason>>> = {
  ...reasonsByCode,
  RATE_LIMITED: keyBuckets,
  SHARED_IP_RATE_LIMITED: addressBuckets,
};

const reasonSchema = (reason: Reason) =>
  Schema.Literal(reason).annotate({
    identifier: `Reason_${reason}`,
    description: withoutLinks(reasonAdvice[reason]),
  });

/** Links in advice lead to files of `docs`, which readers of the document may not have. */
const withoutLinks = (text: string): string => text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");

/** The schema of an error of one route, which has the reasons of the route alone. */
const ownErrorSchema = (code: ErrorCode, route: Pick<Route, "reasons">): Schema.Top => {
  const reasons = reasonsOf(route, code);
  if (reasons.length === 0) return errorSchemas.get(code) ?? errorSchema(code);
  const field = code in reasonsByCode ? "reason" : "bucket";
  return errorSchema(code, Schema.Struct({ [field]: Schema.Union(reasons.map(reasonSchema)) }));
};

export const AnyFailure = Schema.Struct({
  status: Schema.Int,
  error: Schema.Union([...errorSchemas.values()]),
  meta: Meta,
  timestamp: IsoTime,
}).annotate({ identifier: "ErrorEnvelope" });

/**
 * Makes the schema of a v2 failure of a route with one of these codes.
 *
 * @example
 * ```ts
 * import { Schema } from "effect";
 *
 * const unknown = { limit: null, remaining: null, resetAt: null, retryAfter: null, scope: null };
 * Schema.is(EnvelopeV2.RateLimit)(unknown); // true
 * const answer = {
 *   status: 404,
 *   error: { code: "LINK_NOT_FOUND", message: "No matching link", details: null },
 *   meta: { requestId: "req_01J00000000000000000000000", version: EnvelopeV2.version, rateLimit: unknown },
 *   timestamp: "2026-01-05T12:00:00.000Z",
 * };
 * Schema.is(EnvelopeV2.failure(LookupsV2.getChat, 404, ["LINK_NOT_FOUND"]))(answer); // true
 * Schema.is(EnvelopeV2.AnyFailure)(answer); // true
 * EnvelopeV2.serviceVersions.at(-1); // "2026-01-01"
 * ```
 */
export const failure = (route: Pick<Route, "reasons">, status: number, codes: ReadonlyArray<ErrorCode>) =>
  Schema.Struct({
    status: Schema.Literal(status),
    error: Schema.Union(codes.map((code) => ownErrorSchema(code, route))),
    meta: Meta,
    timestamp: IsoTime,
  });
