/** Requests about the links of chat users, and readers of their answers. */
import { type Answer, type Json, textOf } from "../support/http.ts";
import type { Found, Value } from "./linearizability.ts";

/** A request about one or several chat users. */
export interface Request {
  readonly line: `${string} ${string}`;
  readonly body?: object;
  readonly chatIds: ReadonlyArray<string>;
  /** For a write, the value that it stores. */
  readonly write?: { readonly leaves: Value };
  /**
   * Returns what the answer says about the link of each chat user. Throws if the answer does not match the contract.
   */
  readonly read: (answer: Answer) => ReadonlyArray<Found>;
}

export const setGame = (chatId: string, gameId: string): Request => ({
  line: "PATCH /v2/game",
  body: { chatId, gameId },
  chatIds: [chatId],
  write: { leaves: gameId },
  read: (answer) => {
    const { previousGameId, updated, ...rest } = dataOf(answer);
    const previous = valueOf(previousGameId);
    require(rest, { chatId, gameId });
    require({ updated }, { updated: previous !== gameId });
    return [{ is: previous }];
  },
});

export const removeGame = (chatId: string): Request => ({
  line: "DELETE /v2/game",
  body: { chatId },
  chatIds: [chatId],
  write: { leaves: null },
  read: (answer) => [{ is: isNotFound(answer) ? null : textOf(dataOf(answer)["removedGameId"]) }],
});

export const findByChat = (chatId: string): Request => ({
  line: `GET /v2/chat?chatId=${chatId}`,
  chatIds: [chatId],
  read: (answer) => [{ is: isNotFound(answer) ? null : textOf(dataOf(answer)["gameId"]) }],
});

export const findStatus = (chatId: string): Request => ({
  line: `GET /v2/verifications/chat?chatId=${chatId}`,
  chatIds: [chatId],
  read: (answer) => [{ is: valueOf(dataOf(answer)["gameId"]) }],
});

/**
 * Asks which chat users are linked to a game user. No chat user other than `chatId` is ever linked to that game user.
 */
export const findByGame = (chatId: string, gameId: string): Request => ({
  line: `GET /v2/game?gameId=${gameId}`,
  chatIds: [chatId],
  read: (answer) => {
    if (isNotFound(answer)) return [{ isNot: gameId }];
    require(dataOf(answer)["chatIds"], [chatId]);
    return [{ is: gameId }];
  },
});

/** Lists the links of a community on the dashboard, and finds the links of these chat users. */
export const listLinks = (line: Request["line"], chatIds: ReadonlyArray<string>): Request => ({
  line,
  chatIds,
  read: (answer) => {
    const listed = dataOf(answer)["links"] as unknown as ReadonlyArray<Json>;
    return chatIds.map((chatId) => ({
      is: valueOf(listed.find((link) => (link["chatId"] as unknown) === chatId)?.["gameId"]),
    }));
  },
});

export const findMany = (chatIds: ReadonlyArray<string>): Request => ({
  line: "POST /v2/chat/bulk",
  body: { chatIds },
  chatIds,
  read: (answer) =>
    (dataOf(answer)["results"] as unknown as ReadonlyArray<Json>).map(({ data, error }) => {
      if (error?.["code"] !== undefined) require(error["code"], "LINK_NOT_FOUND");
      return { is: valueOf(data?.["gameId"]) };
    }),
});

const isNotFound = ({ status, body }: Answer): boolean =>
  status === 404 && textOf(body["error"]?.["code"]) === "LINK_NOT_FOUND";

const dataOf = ({ status, text, body }: Answer): Json => {
  if (status !== 200) throw new Error(`answered ${status} ${text}`);
  return body["data"] ?? {};
};

const valueOf = (value: unknown): Value => (value === null || value === undefined ? null : textOf(value));

const require = (found: unknown, expected: unknown): void => {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== other) throw new Error(`answered ${one}, expected ${other}`);
};
