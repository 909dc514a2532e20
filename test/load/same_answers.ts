/**
 * Whether two servers give the same answers. What cannot be equal (ids, times, counts) is compared by its form.
 */
import { isDeepStrictEqual } from "node:util";
import { apiKey, chatIdOf, linkCount } from "./workload.ts";

const withKey = { authorization: `Bearer ${apiKey}` };
const wrongKey = { authorization: `Bearer ${apiKey.replace("Load", "Lead")}` };

const cases: ReadonlyArray<{ readonly path: string; readonly headers: Record<string, string> }> = [
  { path: `/v2/chat?chatId=${chatIdOf(0)}`, headers: withKey },
  { path: `/v2/chat?chatId=${chatIdOf(linkCount - 1)}&resolved=false`, headers: withKey },
  { path: `/v2/chat?chatId=${chatIdOf(linkCount)}`, headers: withKey },
  { path: "/v2/chat?chatId=12a45", headers: withKey },
  { path: "/v2/chat?chatId=12345&chatId=12345", headers: withKey },
  { path: "/v2/chat", headers: withKey },
  { path: "/v2/chat?chatId=12345", headers: { ...withKey, "service-version": "2025-01-01" } },
  { path: "/v2/chat?chatId=12345", headers: wrongKey },
  { path: "/v2/chat?chatId=12345", headers: {} },
];

/** Headers of the transport: each server has its own, and neither chose them. */
const transport = new Set(["connection", "date", "keep-alive", "transfer-encoding", "content-length"]);

const forms: ReadonlyArray<readonly [name: string, form: RegExp]> = [
  ["<request id>", /^req_[0-9A-HJKMNP-TV-Z]{26}$/],
  // Fastify names the charset, which JSON does not have.
  ["application/json", /^application\/json; charset=utf-8$/],
  ["<time>", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/],
];

const counted = /^(?:remaining|x-ratelimit-(?:remaining|reset))/;

const formOf = (name: string, value: unknown): unknown => {
  if (counted.test(name) && /^\d+$/.test(String(value))) return "<count>";
  return forms.find(([, form]) => typeof value === "string" && form.test(value))?.[0] ?? value;
};

const answerOf = async (url: string, { path, headers }: (typeof cases)[number]) => {
  const response = await fetch(url + path, { headers });
  const body = JSON.parse(await response.text(), formOf) as unknown;
  const own = [...response.headers].filter(([name]) => !transport.has(name));
  return { status: response.status, headers: own.map(([name, value]) => [name, formOf(name, value)]), body };
};

/** Gives the number of requests that both answered alike; throws at the first difference. */
export const compareAnswers = async (one: string, other: string): Promise<number> => {
  for (const request of cases) {
    const [first, second] = await Promise.all([answerOf(one, request), answerOf(other, request)]);
    if (!isDeepStrictEqual(first, second)) {
      throw new Error(
        `Cannot compare the servers: to "${request.path}" one says ${JSON.stringify(first)} and the other ${JSON.stringify(second)}`,
      );
    }
  }
  return cases.length;
};
