/**
 * Whether servers give the same answers. What cannot be equal (ids, times, counts) is compared by its form.
 */
import { isDeepStrictEqual } from "node:util";
import { apiKey, chatIdOf, guildId, linkCount, memberCount, ranges } from "./fixture.ts";
import { type PlannedRequest, workloads } from "./workloads.ts";

const getChat = (query: string, headers?: PlannedRequest["headers"]): PlannedRequest => ({
  method: "GET",
  path: `/v2/chat${query}`,
  ...(headers === undefined ? {} : { headers }),
});

const wrongKey = `Bearer ${apiKey.replace("Load", "Lead")}`;

/** Of each workload the first, in a second turn too, and what is refused. */
const cases: ReadonlyArray<PlannedRequest> = [
  ...Object.values(workloads).flatMap(({ request, subjects }) => [
    request(0, 0),
    request(subjects - 1, 1),
    request(0, 2),
    request(0, 2),
  ]),
  getChat(`?chatId=${chatIdOf(0)}&resolved=false`),
  getChat("?chatId=12a45"),
  getChat("?chatId=12345&chatId=12345"),
  getChat(""),
  getChat("?chatId=12345", { "service-version": "2025-01-01" }),
  getChat("?chatId=12345", { authorization: wrongKey }),
  getChat("?chatId=12345", { authorization: "" }),
  getChat(`?chatId=${chatIdOf(memberCount)}&guildId=${guildId}`),
  getChat(`?chatId=${chatIdOf(0)}&guildId=12345`),
  { method: "GET", path: "/v2/game?gameId=x" },
  {
    method: "POST",
    path: "/v2/chat/bulk",
    body: { chatIds: [chatIdOf(1), "x", chatIdOf(linkCount), chatIdOf(ranges.changing), chatIdOf(1)] },
  },
  { method: "PATCH", path: "/v2/game", body: { chatId: chatIdOf(0) } },
  { method: "PATCH", path: "/v2/game", body: { chatId: chatIdOf(0), gameId: "987654321" } },
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
  if (name === "ratelimit") return String(value).replaceAll(/=\d+/g, "=<count>");
  if (counted.test(name) && /^\d+$/.test(String(value))) return "<count>";
  return forms.find(([, form]) => typeof value === "string" && form.test(value))?.[0] ?? value;
};

const answerOf = async (url: string, { method, path, headers, body }: PlannedRequest) => {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const json = JSON.parse(await response.text(), formOf) as unknown;
  const own = [...response.headers].filter(([name]) => !transport.has(name));
  return {
    status: response.status,
    headers: own.map(([name, value]) => [name, formOf(name, value)]),
    body: json,
  };
};

/** What a server answers to all of them. It has to be as it was filled, since some are writes. */
export const answersOf = async (url: string) => {
  const answers: Array<Awaited<ReturnType<typeof answerOf>>> = [];
  for (const request of cases) answers.push(await answerOf(url, request));
  return answers;
};

type Answers = Awaited<ReturnType<typeof answersOf>>;

/** Throws at the first difference. */
export const expectSameAnswers = (ours: Answers, name: string, theirs: Answers): void => {
  for (const [index, request] of cases.entries()) {
    if (isDeepStrictEqual(ours[index], theirs[index])) continue;
    throw new Error(
      `Cannot compare with ${name}: to ${JSON.stringify(request)} it says ${JSON.stringify(theirs[index])}, expected ${JSON.stringify(ours[index])}`,
    );
  }
};
