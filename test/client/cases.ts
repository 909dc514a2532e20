/** The cases of `clients/cases.json`, which every client runs, and the service that answers them. */
import { readFileSync } from "node:fs";
import { type HeardRequest, type HttpAnswering, runUntil, startHttpServer } from "@accountlink/test-servers";
import { expect, onTestFinished } from "vitest";

interface CaseAnswer {
  /** How long the service takes, in seconds. */
  readonly after?: number;
  readonly status?: number;
  readonly data?: unknown;
  readonly error?: { readonly code: string; readonly details?: unknown };
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Case {
  readonly name: string;
  readonly call: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** In seconds. */
  readonly options?: { readonly timeout?: number; readonly retryFor?: number };
  readonly answers: ReadonlyArray<CaseAnswer | "cut" | "silent">;
  /** The requests that the client must send, if the case checks them. */
  readonly heard?: ReadonlyArray<Readonly<Record<string, unknown>>>;
  /** The minimum duration of the call. */
  readonly seconds?: number;
  readonly mostSeconds?: number;
  readonly says: Readonly<Record<string, unknown>>;
}

/** The output of a client. */
export interface Said {
  readonly says: Readonly<Record<string, unknown>>;
  readonly seconds: number;
}

export const cases = JSON.parse(
  readFileSync(new URL("../../clients/cases.json", import.meta.url), "utf8"),
) as ReadonlyArray<Case>;

const envelope = { meta: { requestId: "req_1", version: "2.0.0" } };

const answeringOf = (answer: Case["answers"][number]): HttpAnswering => {
  if (typeof answer === "string" || answer.body !== undefined) return answer;
  const { after = 0, status = 200, headers = {}, data, error } = answer;
  const refusal = error === undefined ? {} : { error: { message: "No", details: null, ...error } };
  const body = { status, data, ...refusal, ...envelope };
  if (after === 0) return { status, headers, body };
  return (outgoing) => {
    outgoing.writeHead(status, { ...headers, "content-type": "application/json" });
    setTimeout(() => outgoing.end(JSON.stringify(body)), after * 1_000);
  };
};

/** Starts a service that has a separate base URL for each case. */
export const startCases = async () => {
  const left = cases.map(({ answers }) => [...answers]);
  const { url, heard } = await runUntil(onTestFinished)(
    startHttpServer(({ path }) => answeringOf(left[Number(path.split("/")[1])]?.shift() ?? "cut")),
  );
  return {
    urlOf: (each: Case) => `${url}/${cases.indexOf(each)}`,
    /** Expects the output of a client, and the requests that the service received, to match the case. */
    expectSaid: (each: Case, said: Said) => {
      expect(said.says).toMatchObject(each.says);
      expect(said.seconds).toBeGreaterThanOrEqual(each.seconds ?? 0);
      expect(said.seconds).toBeLessThan(each.mostSeconds ?? Number.POSITIVE_INFINITY);
      const prefix = `/${cases.indexOf(each)}/`;
      const requests = heard.filter(({ path }) => path.startsWith(prefix)).map(requestOf(prefix));
      if (each.heard !== undefined) expect(requests).toMatchObject(each.heard);
      for (const { headers } of requests)
        expect(headers).toMatchObject({
          authorization: expect.stringMatching(/^Bearer alk_[\w-]+$/) as string,
          "service-version": "2026-01-01",
        });
      const keys = new Set(requests.map(({ headers }) => headers["idempotency-key"]));
      expect(keys.size).toBeLessThanOrEqual(1);
      if (/set|move|delete/.test(each.call)) expect([...keys].join("")).toMatch(/^[!-~]{10,255}$/);
    },
  };
};

const requestOf =
  (prefix: string) =>
  ({ method, path, query, headers, body }: HeardRequest) => ({
    method,
    path: `/${path.slice(prefix.length)}`,
    headers,
    ...(method === "GET" ? { query: Object.fromEntries(query) } : { body: JSON.parse(body) as unknown }),
  });
