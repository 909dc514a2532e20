/**
 * What the servers of the bench are asked.
 */
import {
  addressOf,
  apiKey,
  chatIdOf,
  gameIdOf,
  gameUserOf,
  guildId,
  keyCount,
  keyOf,
  linkCount,
  memberCount,
  ranges,
} from "./fixture.ts";

export interface PlannedRequest {
  readonly method: "GET" | "POST" | "PATCH";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Requests of a kind. */
export interface Workload {
  readonly title: string;
  /** How every request is answered. */
  readonly status: 200 | 404;
  /** How many subjects there are to ask for. */
  readonly subjects: number;
  /** @param turn the number of the request, for writes that change something each time */
  readonly request: (subject: number, turn: number) => PlannedRequest;
  /** After how many requests the runtime has compiled what it is going to compile. */
  readonly warmUp: number;
}

/** The number of IDs in a bulk request. */
export const bulkSize = 50;

const getChat = (subject: number): PlannedRequest => ({
  method: "GET",
  path: `/v2/chat?chatId=${chatIdOf(subject)}`,
});

/** What a write changes. */
export const changedLink = (subject: number, turn: number) => ({
  chatId: chatIdOf(ranges.linked + subject),
  gameId: gameUserOf(turn),
});

const patchGame = (subject: number, turn: number): PlannedRequest => ({
  method: "PATCH",
  path: "/v2/game",
  body: changedLink(subject, turn),
});

const changing = ranges.changing - ranges.linked;
const unlinked = ranges.unlinked - ranges.changing;

export const workloads = {
  hit: {
    title: "GET /v2/chat, linked",
    status: 200,
    subjects: ranges.linked,
    request: getChat,
    warmUp: 40_000,
  },
  miss: {
    title: "GET /v2/chat, no record",
    status: 404,
    subjects: ranges.linked,
    request: (subject) => getChat(linkCount + subject),
    warmUp: 40_000,
  },
  unlinked: {
    title: "GET /v2/chat, link removed",
    status: 404,
    subjects: unlinked,
    request: (subject) => getChat(ranges.changing + subject),
    warmUp: 40_000,
  },
  guild: {
    title: "GET /v2/chat with `guildId`",
    status: 200,
    subjects: memberCount,
    request: (subject) => ({
      method: "GET",
      path: `/v2/chat?chatId=${chatIdOf(subject)}&guildId=${guildId}`,
    }),
    warmUp: 40_000,
  },
  game: {
    title: "GET /v2/game",
    status: 200,
    subjects: ranges.linked,
    request: (subject) => ({ method: "GET", path: `/v2/game?gameId=${gameIdOf(subject)}` }),
    warmUp: 40_000,
  },
  bulk: {
    title: `POST /v2/chat/bulk, ${bulkSize} IDs`,
    status: 200,
    subjects: ranges.linked / bulkSize,
    request: (subject) => ({
      method: "POST",
      path: "/v2/chat/bulk",
      body: { chatIds: Array.from({ length: bulkSize }, (_, index) => chatIdOf(subject * bulkSize + index)) },
    }),
    warmUp: 25_000,
  },
  patch: {
    title: "PATCH /v2/game",
    status: 200,
    subjects: changing,
    request: patchGame,
    warmUp: 25_000,
  },
  mixed: {
    title: "9 of GET /v2/chat to 1 of PATCH /v2/game",
    status: 200,
    subjects: changing,
    request: (subject, turn) => (turn % 10 === 0 ? patchGame(subject, turn) : getChat(subject)),
    warmUp: 20_000,
  },
} satisfies Readonly<Record<string, Workload>>;

export type Work = keyof typeof workloads;

/** As `hit`, by many keys in turn, each from an address of its own. */
const spread: Workload = {
  ...workloads.hit,
  request: (subject, turn) => {
    const key = turn % keyCount;
    const headers = { authorization: `Bearer ${keyOf(key).token}`, "x-forwarded-for": addressOf(key) };
    return { ...getChat(subject), headers };
  },
};

export const driven: Readonly<Record<Work | "spread", Workload>> = { ...workloads, spread };

/** The head and body of a request with the key of the bench, as bytes in Latin-1. */
export const bytesOf = ({ method, path, headers, body }: PlannedRequest): string => {
  const own = { authorization: `Bearer ${apiKey}`, ...headers };
  let head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n`;
  for (const [name, value] of Object.entries(own)) head += `${name}: ${value}\r\n`;
  if (body === undefined) return `${head}\r\n`;
  const text = JSON.stringify(body);
  return `${head}content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
};
