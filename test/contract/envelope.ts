/**
 * Checks the form of every answer, field by field. The checks follow the documentation of the API and not the contract
 * package, so that they find mistakes in that package. Only the allowed statuses of each error code come from the
 * package. `cases.ts` names the status and code of each refusal.
 */
import { errorCodes, statusesOf } from "@accountlink/http-api";
import type { Answer, Json } from "../support/http.ts";

type Check = (value: unknown) => boolean;
type Shape = Readonly<Record<string, Check>>;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => Number.isInteger(value);
const isNull: Check = (value) => value === null;
const isTime: Check = (value) =>
  typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
const isObject: Check = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const is =
  (expected: unknown): Check =>
  (value) =>
    value === expected;
const oneOf =
  (...values: ReadonlyArray<unknown>): Check =>
  (value) =>
    values.includes(value);
const either =
  (...checks: ReadonlyArray<Check>): Check =>
  (value) =>
    checks.some((check) => check(value));
const orNull = (check: Check) => either(check, isNull);

const requestId = /^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Lists the fields of an object that are wrong, missing or undocumented. */
const misfits = (
  at: string,
  value: Json | undefined,
  required: Shape,
  optional: Shape = {},
): Array<string> => {
  if (!isObject(value)) return [`${at} is no object`];
  const fields = value as Json;
  const unknown = Object.keys(fields).filter((name) => !(name in required) && !(name in optional));
  const wrong = Object.entries({ ...required, ...optional }).filter(([name, check]) =>
    name in fields ? !check(fields[name]) : name in required,
  );
  return [
    ...unknown.map((name) => `${at}.${name} is not documented`),
    ...wrong.map(([name]) => `${at}.${name} is ${shown(fields[name])}`),
  ];
};

const shown = (value: unknown): string => JSON.stringify(value) ?? "missing";

const unless = (holds: boolean, problem: string): Array<string> => (holds ? [] : [problem]);

const limitHeaders = [
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-ratelimit-limit-day",
  "x-ratelimit-remaining-day",
];

/** An answer must have the standard RateLimit headers if it has the service's own limit headers, and only then. */
const standardLimitProblems = ({ headers }: Answer): Array<string> => {
  const [policy, ratelimit] = [headers["ratelimit-policy"], headers["ratelimit"]];
  if (headers["x-ratelimit-limit"] === undefined && headers["x-ratelimit-limit-day"] === undefined) {
    return unless(ratelimit === undefined && policy === undefined, "RateLimit is sent without limits");
  }
  return [
    ...unless(
      /^"(?:second|day|verify_day)";q=\d+;w=\d+(?:, "day";q=\d+;w=86400)?$/.test(String(policy)),
      `RateLimit-Policy is ${shown(policy)}`,
    ),
    ...unless(
      /^"(?:second|day|verify_day)";r=\d+;t=[1-9]\d*$/.test(String(ratelimit)),
      `RateLimit is ${shown(ratelimit)}`,
    ),
  ];
};

const isVerifyPath = (path: string): boolean => /^\/(?:v2\/sessions|api\/v1\/verify)(?:[/?]|$)/.test(path);

const isStreamed = (path: string, { status }: Answer): boolean =>
  status === 200 && (isVerifyPath(path) || isEventPath(path)) && /\/stream(?:\?|$)/.test(path);

const isEventPath = (path: string): boolean => /^\/v2\/events(?:[/?]|$)/.test(path);

const codeOf = ({ error }: Json): string => shown(error?.code).replaceAll('"', "");

const headerProblems = ({ status, headers, body }: Answer, contentType: string): Array<string> => [
  ...unless(requestId.test(String(headers["x-request-id"])), "X-Request-Id is missing or malformed"),
  ...unless(headers["content-type"] === contentType, `Content-Type is ${shown(headers["content-type"])}`),
  ...unless(
    /^no-store(?:, no-transform)?$/.test(headers["cache-control"] ?? ""),
    `Cache-Control is ${shown(headers["cache-control"])}`,
  ),
  ...unless(headers["x-content-type-options"] === "nosniff", "X-Content-Type-Options is not nosniff"),
  ...unless(
    (headers["www-authenticate"] === "Bearer") === (status === 401 && codeOf(body) !== "INVALID_SESSION"),
    `WWW-Authenticate is ${shown(headers["www-authenticate"])}`,
  ),
  ...unless((headers.allow !== undefined) === (status === 405), `Allow is ${shown(headers.allow)}`),
  ...unless(
    (headers["retry-after"] !== undefined) === (status === 429 || status === 503),
    `Retry-After is ${shown(headers["retry-after"])}`,
  ),
  ...Object.keys(headers)
    .filter((name) => name.startsWith("access-control-"))
    .map((name) => `${name} is sent, but there is no CORS`),
  ...limitHeaders
    .filter((name) => headers[name] !== undefined && !/^\d+$/.test(String(headers[name])))
    .map((name) => `${name} is ${shown(headers[name])}`),
];

const limitProblems = ({ status, headers, body }: Answer, bucket: string): Array<string> => {
  const limit = body.meta?.rateLimit;
  const common = { resetAt: orNull(isTime), scope: orNull(oneOf("api_key", "ip")) };
  if (status === 429) {
    const refused: unknown = body.error?.details?.["bucket"];
    return [
      ...misfits("meta.rateLimit", limit, {
        limit: isNumber,
        remaining: is(0),
        resetAt: isTime,
        retryAfter: is(Number(headers["retry-after"])),
        scope: is(String(refused).startsWith("ip_") ? "ip" : "api_key"),
        bucket: is(refused),
      }),
      ...unless(Number(headers["retry-after"]) >= 1, "Retry-After is less than 1"),
    ];
  }
  const isCounted = limit?.limit !== null;
  const count = isCounted ? isNumber : isNull;
  return [
    ...misfits(
      "meta.rateLimit",
      limit,
      { ...common, limit: count, remaining: count, retryAfter: isNull },
      isCounted ? { bucket: is(bucket) } : {},
    ),
    ...unless(!isCounted || "bucket" in (limit ?? {}), "meta.rateLimit.bucket is missing"),
    ...unless(
      !isCounted || shown(limit?.remaining) === headers["x-ratelimit-remaining"],
      "X-RateLimit-Remaining is not meta.rateLimit.remaining",
    ),
  ];
};

const errorProblems = ({ status, body }: Answer): Array<string> => {
  const { error } = body;
  const code = codeOf(body);
  return [
    ...misfits("error", error, { code: isText, message: isText, details: orNull(isObject) }),
    ...unless(
      errorCodes.some((known) => known === code && statusesOf(known).includes(status)),
      `${code} came with ${status}`,
    ),
  ];
};

const isSuccessful = (status: number): boolean => status === 200 || status === 201;

const v2Problems = (path: string, answer: Answer): Array<string> => {
  const { status, headers, body } = answer;
  const isSuccess = isSuccessful(status);
  const isKnownKey = body.meta?.tier !== undefined;
  return [
    ...misfits("body", body, {
      status: is(status),
      ...(isSuccess ? { data: isObject } : { error: isObject }),
      meta: isObject,
      timestamp: isTime,
    }),
    ...misfits(
      "meta",
      body.meta,
      { requestId: is(headers["x-request-id"]), version: is("2.0.0"), rateLimit: isObject },
      { tier: oneOf("free", "premium"), ...(isSuccess ? { bulk: isObject } : {}) },
    ),
    ...limitProblems(answer, isVerifyPath(path) ? "verify_day" : "second"),
    ...(isSuccess ? [] : errorProblems(answer)),
    ...unless(headers["service-version"] === "2026-01-01", "Service-Version is missing"),
    ...unless(
      isKnownKey || limitHeaders.every((name) => headers[name] === undefined),
      "X-RateLimit-* without a key",
    ),
  ];
};

const v1Version = (path: string, body: Json): string => {
  if (path.startsWith("/api/v1/public/detections/alt")) return "3.4.1";
  return body.resolved === undefined ? "1.0.0" : "1.1.0";
};

const v1Problems = (path: string, { status, headers, body }: Answer): Array<string> => {
  const isSuccess = isSuccessful(status);
  const counters = isVerifyPath(path)
    ? { verifyRequestsRemaining: orNull(isNumber), verifyIpRequestsRemaining: orNull(isNumber) }
    : { requestsRemaining: orNull(isNumber), ipRequestsRemaining: orNull(isNumber) };
  return [
    ...misfits(
      "body",
      body,
      {
        status: is(status),
        ...(isSuccess ? { data: isObject } : { error: isText }),
        timestamp: isTime,
        version: is(v1Version(path, body)),
        ...counters,
        ...(status === 429 ? { retryAfter: is(Number(headers["retry-after"])) } : {}),
      },
      isSuccess ? { message: isText, resolved: orNull(isObject) } : {},
    ),
    ...unless(headers["service-version"] === undefined, "Service-Version is sent by v1"),
  ];
};

const streamProblems = ({ text, headers }: Answer, isV1: boolean): Array<string> => [
  ...unless(
    /^retry: 2000\n\n(?::\n\n|(?:id: [\w.-]+\n)?event: [\w.]+\ndata: .*\n\n)+$/.test(text),
    `The stream reads ${shown(text)}`,
  ),
  ...unless(headers["service-version"] === (isV1 ? undefined : "2026-01-01"), "Service-Version is wrong"),
];

/**
 * Returns the problems of an answer to any request; empty if there are none.
 *
 * @param line the request, as `"GET /v2/chat"`
 */
export const envelopeProblems = (line: string, answer: Answer): ReadonlyArray<string> => [
  // The public URLs of these services use http.
  ...unless(answer.headers["strict-transport-security"] === undefined, "Strict-Transport-Security is sent"),
  ...problemsOf(line, answer),
];

const problemsOf = (line: string, answer: Answer): ReadonlyArray<string> => {
  const [method, path = ""] = line.split(" ");
  if (method === "HEAD") {
    return [...unless(answer.text === "", "The answer to HEAD has a body"), ...standardLimitProblems(answer)];
  }
  if (answer.status === 204 || answer.status === 302) return unless(answer.text === "", "There is a body");
  if (!/^\/(?:v2|api\/v1|dashboard\/api)(?:[/?]|$)/.test(path)) {
    return standardLimitProblems(answer);
  }
  // If a client reports an array of leaked keys, the answer is an array without an envelope. It contains the keys.
  if (Array.isArray(answer.body) && path === "/v2/keys/leaked") {
    return headerProblems(answer, "application/json");
  }
  // A file has no envelope.
  if (answer.status === 200 && answer.headers["content-type"] === "text/csv; charset=utf-8") {
    return headerProblems(answer, "text/csv; charset=utf-8");
  }
  const isV1 = path.startsWith("/api/");
  // These routes show a new secret once.
  const isNewSecret = method === "POST" && /^\/dashboard\/api\/keys(?:$|\/\w+\/rotate$)/.test(path);
  const isStream = isStreamed(path, answer);
  const bodyProblems = isV1 ? v1Problems : v2Problems;
  return [
    ...standardLimitProblems(answer),
    ...headerProblems(answer, isStream ? "text/event-stream" : "application/json"),
    ...(isStream ? streamProblems(answer, isV1) : bodyProblems(path, answer)),
    ...unless(isNewSecret || !/alk_\w{12}_[\w-]{43}/.test(answer.text), "The answer holds a key"),
  ];
};
