/** The workloads of the bench, and the requests that each of them sends. */
import { randomUUID } from "node:crypto";
import * as Dataset from "./dataset.ts";

export interface PlannedRequest {
  readonly method: "GET" | "POST" | "PATCH";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

interface Workload {
  readonly status: 200 | 404;
  /** The number of different subjects, such as chat users, that the requests ask for. */
  readonly subjects: number;
  /** @param turn the number of requests before this one, so that each write can change something */
  readonly request: (subject: number, turn: number) => PlannedRequest;
  /** Number of requests after which the runtime has compiled the code. */
  readonly warmUp: number;
}

const get = (path: string): PlannedRequest => ({ method: "GET", path });
const getChat = (subject: number) => get(`/v2/chat?chatId=${Dataset.chatIdOf(subject)}`);
const patchGame = (subject: number, turn: number): PlannedRequest => ({
  method: "PATCH",
  path: "/v2/game",
  body: { chatId: Dataset.chatIdOf(Dataset.changedFrom + subject), gameId: Dataset.gameUserOf(turn) },
});
/** Every client of this project sends its writes with an idempotency key. */
const patchGameKeyed = (subject: number, turn: number): PlannedRequest => ({
  ...patchGame(subject, turn),
  headers: { "idempotency-key": randomUUID() },
});
const bulkChat = (first: number): PlannedRequest => ({
  method: "POST",
  path: "/v2/chat/bulk",
  body: { chatIds: Array.from({ length: bulkSize }, (_, index) => Dataset.chatIdOf(first + index)) },
});

const bulkSize = 50;

const lookup = { status: 200, subjects: Dataset.changedFrom, warmUp: 20_000 } as const;
const write = {
  status: 200,
  subjects: Dataset.linkCount - Dataset.changedFrom,
  warmUp: 6_000,
} as const;

export const workloads = {
  hit: { ...lookup, request: getChat },
  miss: {
    ...lookup,
    status: 404,
    request: (subject) => getChat(Dataset.linkCount + subject),
  },
  guild: {
    ...lookup,
    subjects: Dataset.memberCount,
    request: (subject) => get(`/v2/chat?chatId=${Dataset.chatIdOf(subject)}&guildId=${Dataset.guildId}`),
  },
  game: {
    ...lookup,
    request: (subject) => get(`/v2/game?gameId=${Dataset.gameIdOf(subject)}`),
  },
  bulk: {
    ...lookup,
    subjects: Dataset.changedFrom / bulkSize,
    request: (subject) => bulkChat(subject * bulkSize),
    warmUp: 6_000,
  },
  patch: { ...write, request: patchGame },
  keyed: { ...write, request: patchGameKeyed },
  mixed: {
    ...write,
    request: (subject, turn) => (turn % 10 === 0 ? patchGame(subject, turn) : getChat(subject)),
  },
} satisfies Readonly<Record<string, Workload>>;

export type Work = keyof typeof workloads;

/** Returns the head and body of a request with the key of the bench, in Latin-1. */
export const bytesOf = ({ method, path, headers, body }: PlannedRequest): string => {
  const own = { authorization: `Bearer ${Dataset.apiKey}`, ...headers };
  let head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n`;
  for (const [name, value] of Object.entries(own)) head += `${name}: ${value}\r\n`;
  if (body === undefined) return `${head}\r\n`;
  const text = JSON.stringify(body);
  return `${head}content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
};
