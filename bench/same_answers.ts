/**
 * Compares the answers of servers. Request IDs and times only need the right format. Messages and remaining counts may
 * differ.
 */
import { isDeepStrictEqual } from "node:util";
import { apiKey, changedFrom, chatIdOf, gameUserOf, guildId, linkCount, memberCount } from "./dataset.ts";
import { type PlannedRequest, workloads } from "./workloads.ts";

const get = (path: string): PlannedRequest => ({ method: "GET", path });

/**
 * The requests whose answers are compared: the first and last request of each workload, and requests that are refused.
 */
const cases: ReadonlyArray<PlannedRequest> = [
  ...Object.values(workloads).flatMap(({ request, subjects }) => [request(0, 0), request(subjects - 1, 1)]),
  get("/v2/chat?chatId=12a45"),
  get("/v2/chat"),
  { ...get("/v2/chat?chatId=12345"), headers: { authorization: `Bearer ${apiKey.replace("Load", "Lead")}` } },
  get(`/v2/chat?chatId=${chatIdOf(memberCount)}&guildId=${guildId}`),
  get("/v2/game?gameId=x"),
  { method: "POST", path: "/v2/chat/bulk", body: { chatIds: [chatIdOf(1), "x", chatIdOf(linkCount)] } },
  { method: "PATCH", path: "/v2/game", body: { chatId: chatIdOf(0), gameId: "987654321" } },
  ...[1, 1, 2].map((game) => ({
    method: "PATCH" as const,
    path: "/v2/game",
    headers: { "idempotency-key": "same" },
    body: { chatId: chatIdOf(changedFrom), gameId: gameUserOf(game) },
  })),
];

const forms: ReadonlyArray<readonly [name: string, form: RegExp]> = [
  ["<request id>", /^req_[0-9A-HJKMNP-TV-Z]{26}$/],
  ["<time>", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/],
];

const formOf = (name: string, value: unknown): unknown => {
  if (name === "remaining" && value !== null) return "<count>";
  if (name === "message") return "<message>";
  return forms.find(([, form]) => typeof value === "string" && form.test(value))?.[0] ?? value;
};

const answerOf = async (url: string, { method, path, headers, body }: PlannedRequest) => {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body && { "content-type": "application/json" }),
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { status: response.status, body: JSON.parse(await response.text(), formOf) as unknown };
};

/** Returns a server's answers to all cases. Its storage must be newly filled, since some cases are writes. */
export const answersOf = async (url: string): Promise<ReadonlyArray<unknown>> => {
  const answers: Array<unknown> = [];
  for (const request of cases) answers.push(await answerOf(url, request));
  return answers;
};

/** Throws at the first difference between the first and the last server's answers. */
export const expectSameAnswers = (name: string, all: ReadonlyArray<ReadonlyArray<unknown>>): void => {
  const [ours = [], theirs = []] = [all[0], all.at(-1)];
  const different = cases.findIndex((_, index) => !isDeepStrictEqual(ours[index], theirs[index]));
  if (different === -1) return;
  const [request, actual, expected] = [cases, theirs, ours].map((each) => JSON.stringify(each[different]));
  throw new Error(`Cannot compare with ${name}: it answers ${request} with ${actual}, expected ${expected}`);
};
