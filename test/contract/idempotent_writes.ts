/** Every write that takes an `Idempotency-Key`. */
import { type Send, textOf } from "../support/http.ts";

type Line = `${string} ${string}`;

export interface IdempotentWrite {
  /** Makes what the write is about; gives the end of its path. */
  readonly prepare: (send: Send, key: string) => Promise<string>;
  readonly line: (path: string) => Line;
  readonly body?: object;
  /** A part of the data of the first answer; a write that is done twice has other data the second time. */
  readonly data: object;
  /** The body of another request; undefined where there is only one. */
  readonly other?: object;
}

const write = (line: Line, body: object, data: object, other?: object): IdempotentWrite => ({
  prepare: () => Promise.resolve(""),
  line: () => line,
  body,
  data,
  ...(other === undefined ? {} : { other }),
});

const pair = { chatId: "100001", otherChatId: "100002" };
const review = { ...pair, verdict: "same", note: "Brothers" };

/** By the id of their routes. Each key has the links 100001 → 1 and 100002 → 2. */
export const idempotentWrites: Readonly<Record<string, IdempotentWrite>> = {
  patchChat: write(
    "PATCH /v2/chat",
    { oldChatId: "100001", newChatId: "100003" },
    { previousChatId: "100001", chatId: "100003", gameId: "1", updated: true },
    { oldChatId: "100001", newChatId: "100004" },
  ),
  patchGame: write(
    "PATCH /v2/game",
    { chatId: "100001", gameId: "3" },
    { previousGameId: "1", updated: true },
    { chatId: "100001", gameId: "4" },
  ),
  deleteGame: write("DELETE /v2/game", { chatId: "100001" }, { removedGameId: "1" }, { chatId: "100002" }),
  deleteData: write("DELETE /v2/data", { confirm: true }, { collection: "links" }),
  putAltReview: write("PUT /v2/alts/reviews", review, { review }, { ...review, note: null }),
  deleteAltReview: {
    ...write("DELETE /v2/alts/reviews", pair, { ...pair, deleted: true }, { ...pair, otherChatId: "100003" }),
    prepare: async (send, key) => {
      await send("PUT /v2/alts/reviews", { key, body: review });
      return "";
    },
  },
  createSession: write(
    "POST /v2/sessions",
    { clientId: "client", chatId: "100001" },
    { state: "pending", chatId: "100001" },
    { clientId: "another", chatId: "100001" },
  ),
  cancelSession: {
    prepare: async (send, key) => {
      const { body } = await send("POST /v2/sessions", { key, body: { clientId: "client" } });
      return textOf(body.data?.sid);
    },
    line: (sid) => `DELETE /v2/sessions/${sid}`,
    data: { state: "cancelled" },
  },
};
