/**
 * Clients that write all at once until the server is gone, and remember what they were told.
 */
import { type Json, type Send, textOf } from "../support/http.ts";

/** One request to write, and what came back: null when nothing did. */
export interface Write {
  readonly action: "link.set" | "link.moved" | "link.removed";
  readonly body: Readonly<Record<string, string>>;
  readonly answer: WriteAnswer | null;
}

/** What came back. A refusal (no such link, the place is taken) has written nothing. */
export interface WriteAnswer {
  readonly status: number;
  readonly requestId: string;
  readonly data: Json;
}

/** What one client did, one after the other. Its last write has no answer: that is how it learns to stop. */
export type Client = ReadonlyArray<Write>;

const lines = {
  "link.set": "PATCH /v2/game",
  "link.moved": "PATCH /v2/chat",
  "link.removed": "DELETE /v2/game",
} as const;

/** Chat users that are written to by several clients at once. */
export const contested = ["100001", "100002", "100003"];
/** Chat users among whom links are moved and removed. */
export const wandering = ["100011", "100012", "100013", "100014", "100015"];

const clientsPerContested = 3;
const wanderers = 3;

/** Every write links to another game user than the writes just before it. */
export const gameUserCount = 500;
let games = 0;
const nextGameId = (): string => String((games++ % gameUserCount) + 1);

const anyOf = <A>(values: ReadonlyArray<A>): A => values[Math.floor(Math.random() * values.length)] as A;

const contend = (chatId: string) => (): Omit<Write, "answer"> => ({
  action: "link.set",
  body: { chatId, gameId: nextGameId() },
});

const wander = (): Omit<Write, "answer"> => {
  const action = anyOf(["link.set", "link.moved", "link.moved", "link.removed"] as const);
  const chatId = anyOf(wandering);
  switch (action) {
    case "link.set":
      return { action, body: { chatId, gameId: nextGameId() } };
    case "link.moved":
      return {
        action,
        body: { oldChatId: chatId, newChatId: anyOf(wandering.filter((id) => id !== chatId)) },
      };
    case "link.removed":
      return { action, body: { chatId } };
  }
};

/**
 * Runs all clients until the server answers no more.
 *
 * @param onAnswer called after each answer with their number so far
 */
export const writeUntilGone = (
  send: Send,
  key: string,
  onAnswer: (answers: number) => void,
): Promise<ReadonlyArray<Client>> => {
  let answers = 0;

  const write = async (planned: Omit<Write, "answer">): Promise<Write> => {
    try {
      const { status, body } = await send(lines[planned.action], { key, body: planned.body });
      onAnswer(++answers);
      const requestId = textOf(body["meta"]?.["requestId"]);
      return { ...planned, answer: { status, requestId, data: body["data"] ?? {} } };
    } catch {
      return { ...planned, answer: null };
    }
  };

  const client = async (plan: () => Omit<Write, "answer">): Promise<Client> => {
    const writes: Array<Write> = [];
    do writes.push(await write(plan()));
    while (writes.at(-1)?.answer !== null);
    return writes;
  };

  const plans = [
    ...contested.flatMap((chatId) => Array.from({ length: clientsPerContested }, () => contend(chatId))),
    ...Array.from({ length: wanderers }, () => wander),
  ];
  return Promise.all(plans.map(client));
};
