/** The tables of the documents, held against the sources that they describe. */
import { globSync, readFileSync } from "node:fs";
import { RedisUrl } from "@accountlink/cache-redis";
import {
  BulkLimitExceeded,
  Conflict,
  Forbidden,
  InvalidApiKey,
  InvalidParameter,
  LinkNotFound,
  PlatformUnavailable,
  PremiumRequired,
  type PublicError,
  SessionExpired,
  SessionNotFound,
  StoreUnavailable,
} from "@accountlink/core";
import {
  BadRequest,
  InternalError,
  InvalidBody,
  InvalidSession,
  MalformedRequest,
  MissingParameter,
  RateLimited,
  SharedIpRateLimited,
} from "@accountlink/core/errors";
import { routes, statusesByCode } from "@accountlink/http-api";
import { variables } from "@accountlink/server/config";
import type { Variable } from "@accountlink/server/variables";
import { Option } from "effect";
import { describe, expect, it } from "vitest";
import { codeOf, readDocument, rowsUnder } from "./document.ts";

const operating = readDocument("docs/operating.md");
const errors = readDocument("docs/errors.md");
const readme = readDocument("README.md");

describe("the configuration", () => {
  const rows = rowsUnder(operating, ["variable", "default", "for"]);

  it("has every variable, in order, with its purpose", () => {
    expect(rows.map(([name, , purpose]) => [codeOf(name), purpose])).toEqual(
      Object.entries(variables).map(([name, { description }]) => [name, description]),
    );
  });

  const documentedDefault = (name: string) => rows.find(([first]) => codeOf(first) === name)?.[1] ?? "";
  const isNothing = (fallback: unknown): boolean =>
    fallback === null || (typeof fallback === "object" && Object.keys(fallback).length === 0);
  const entries = Object.entries<Variable<unknown>>(variables);

  it.each(entries.filter(([, { fallback }]) => !isNothing(fallback)))(
    "has the default of %s",
    (name, { parse, fallback }) => {
      expect(parse(codeOf(documentedDefault(name)))).toEqual(Option.some(fallback));
    },
  );

  it.each(entries.filter(([, { fallback }]) => isNothing(fallback)))("says what holds without %s", (name) => {
    expect(documentedDefault(name)).toMatch(/^[^`]+$/);
  });

  it("is the same where the README shows a part of it", () => {
    const short = rowsUnder(readme, ["variable", "default", "for"]);
    expect(short.length).toBeGreaterThan(0);
    expect(rows).toEqual(expect.arrayContaining(short.map((row) => [...row])));
  });
});

const refusal = { limit: 500, resetsAt: 0, retryAfter: 2 };

/** Every error, in each way that its message and details can have. */
const samples: ReadonlyArray<PublicError> = [
  ...(["unreadable", "not_found", "method_not_allowed"] as const).map(
    (problem) => new BadRequest({ problem }),
  ),
  ...(["syntax", "host", "authorization", "timeout", "expectation", "head_too_large"] as const).map(
    (problem) => new MalformedRequest({ problem }),
  ),
  new MissingParameter({ parameters: ["chatId", "guildId"] }),
  InvalidParameter.one("gameId", "expected 1 to 32 digits"),
  ...(["content", "too_large", "content_type"] as const).map(
    (problem) => new InvalidBody({ problem, reason: "expected a JSON object" }),
  ),
  new InvalidApiKey({ problem: "wrong" }),
  new InvalidSession(),
  ...(
    [
      "bot_not_in_guild",
      "user_not_in_guild",
      "new_user_not_in_guild",
      "wrong_guild",
      "ip_not_allowed",
      "key_access",
      "not_guild_manager",
      "account_suspended",
      "csrf",
    ] as const
  ).map((reason) => new Forbidden({ reason })),
  new PremiumRequired(),
  new LinkNotFound(),
  new SessionNotFound(),
  new SessionExpired(),
  new RateLimited({ ...refusal, bucket: "second" }),
  new RateLimited({ ...refusal, bucket: "day" }),
  new RateLimited({ ...refusal, bucket: "verify_day", limit: 2_000 }),
  new RateLimited({ ...refusal, bucket: "session_create" }),
  new RateLimited({ ...refusal, bucket: "poll_interval" }),
  new RateLimited({ ...refusal, bucket: "poll_count", limit: 150 }),
  ...(["ip_second", "ip_day", "ip_verify_day", "ip_auth"] as const).map(
    (bucket) => new SharedIpRateLimited({ ...refusal, bucket }),
  ),
  new BulkLimitExceeded({ limit: 50, received: 51 }),
  new Conflict({ reason: "The new chat ID already has a link" }),
  new InternalError({}),
  new StoreUnavailable({ operation: "LinkStore.setGame" }),
  new PlatformUnavailable({ operation: "GamePlatform.hasUser" }),
];

describe("the errors", () => {
  const rows = rowsUnder(errors, ["code", "status", "`details`", "when"]);
  const byCode = Map.groupBy(samples, ({ code }) => code);

  it("are all there, with every status that they can have", () => {
    expect(rows.map(([code, statuses]) => [codeOf(code), statuses?.split(", ").map(Number)])).toEqual(
      Object.entries(statusesByCode),
    );
    expect(
      Object.fromEntries(
        [...byCode].map(([code, all]) => [code, [...new Set(all.map(({ status }) => status))]]),
      ),
    ).toEqual(statusesByCode);
  });

  /** What has to stand in the row of an error. */
  const namesIn = (sample: PublicError): ReadonlyArray<string> => {
    const fields =
      sample.details === null ? ["null"] : Object.keys(sample.details).map((field) => `"${field}"`);
    if (sample._tag === "Forbidden") return [...fields, `\`${sample.reason}\``];
    return "bucket" in sample ? [...fields, `\`${sample.bucket}\``] : fields;
  };

  it.each([...byCode])("says what the details of %s can be", (code, all) => {
    const row = rows.find(([first]) => codeOf(first) === code)?.join(" ");
    expect(all.flatMap(namesIn).filter((name) => !row?.includes(name))).toEqual([]);
  });

  it("have the documented messages", () => {
    const documented = rowsUnder(errors, ["code", "message"]);
    expect(documented.map(([code, messages]) => [codeOf(code), messages?.split(" · ").map(codeOf)])).toEqual(
      [...byCode].map(([code, all]) => [code, [...new Set(all.map(({ message }) => message))]]),
    );
  });

  it("have the documented words of their own in v1", () => {
    const documented = rowsUnder(errors, ["v1 route", "code in v2", "status in v1", "message in v1"]);
    const worded = routes.flatMap(({ path, wordings = {} }) =>
      Object.entries(wordings).map(([code, { status, message }]) => [path, code, String(status), message]),
    );
    expect(
      documented.map(([path, code, status, message]) => [
        codeOf(path),
        codeOf(code),
        status,
        codeOf(message),
      ]),
    ).toEqual(worded);
  });
});

describe("the metrics", () => {
  it("are those of the sources", () => {
    const sources = globSync("{packages,apps}/**/*.ts", {
      exclude: ["**/node_modules", "packages/*/dist", "**/*_test.ts"],
    });
    const names = sources.flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/Metric\.\w+\(\s*"(\w+)"/g)].map(([, name = ""]) => name),
    );
    const documented = rowsUnder(operating, ["metric", "labels", "counts"]).flatMap(([cell = ""]) =>
      cell.split(", ").map(codeOf),
    );
    expect(documented.toSorted()).toEqual(names.toSorted());
  });
});

describe("what docs/operating.md repeats of the stores", () => {
  it("has the time that a statement may take, which PgBouncer needs as well", () => {
    const source = readFileSync("packages/storage-sql/postgres/postgres.ts", "utf8");
    const [, millis] = /statementTimeout = "(\d+) millis"/.exec(source) ?? [];
    const prose = operating.replaceAll(/\s+/g, " ");
    expect(prose).toContain(
      `**Time**: 1 second for a connection, ${Number(millis) / 1_000} for a statement or transaction`,
    );
    expect(prose).toContain(`SET statement_timeout = '${millis}ms'`);
  });

  it("has every form of a Redis URL", () => {
    const forms = rowsUnder(operating, ["form of `ACCOUNTLINK_REDIS_URL`", "leads to"]);
    expect(forms.map(([form]) => codeOf(form))).toEqual([...RedisUrl.forms]);
  });
});
