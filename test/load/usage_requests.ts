/** Requests of every group of routes, some of which are refused, fail, or lose their client. */
import type { RequestOptions } from "../support/http.ts";
import type { RunningServer } from "../support/server.ts";

/** Keys in full. */
export interface Callers {
  readonly premium: string;
  readonly free: string;
  /** Three requests a second. */
  readonly limited: string;
  /** Allowed from another address only. */
  readonly elsewhere: string;
  /** None at all. */
  readonly wrong: string;
}

type Request = readonly [line: `${string} ${string}`, body?: RequestOptions["body"]];

const review = { chatId: "100003", otherChatId: "100004" };
const unknownSession = "A".repeat(43);

const requests: ReadonlyArray<Request> = [
  ["GET /v2/chat?chatId=100001"],
  ["GET /v2/chat?chatId=100030"],
  ["HEAD /v2/chat?chatId=100001"],
  ["GET /v2/chat"],
  ["GET /v2/chat?chatId=100001&resolved=true"],
  ["GET /v2/game?gameId=1"],
  ["GET /v2/verifications/chat?chatId=100002"],
  ["GET /api/v1/public/chat-to-game?chatId=100001"],
  ["POST /v2/chat/bulk", { chatIds: ["100001", "100002", "100030"] }],
  ["POST /v2/game/bulk", { gameIds: Array.from({ length: 51 }, () => "1") }],
  ["POST /v2/game/bulk", "not JSON"],
  ["PATCH /v2/game", { chatId: "100005", gameId: "3" }],
  ["DELETE /v2/game", { chatId: "100005" }],
  ["PATCH /v2/chat", { oldChatId: "100001", newChatId: "100002" }],
  ["DELETE /api/v1/link/delete-game?chatId=100030"],
  ["DELETE /v2/data", { confirm: 1 }],
  ["GET /v2/alts?chatId=100001"],
  ["PUT /v2/alts/reviews", { ...review, verdict: "same" }],
  ["GET /v2/alts/reviews?chatId=100003"],
  ["POST /v2/alts/bulk", { gameIds: ["1"] }],
  ["GET /api/v1/public/detections/alt?chatId=100001"],
  ["POST /v2/sessions", { clientId: "client" }],
  [`GET /v2/sessions/${unknownSession}`],
  [`GET /v2/sessions/${unknownSession}/stream`],
  [`DELETE /v2/sessions/${unknownSession}`],
  ["GET /v2/nothing"],
  ["OPTIONS /v2/chat"],
];

const pick = <A>(values: ReadonlyArray<A>): A => values[Math.floor(Math.random() * values.length)] as A;

/** Sends a request of any kind, with any of the keys. */
export const sendOne = async (node: RunningServer, callers: Callers): Promise<void> => {
  if (Math.random() < 0.01) return readSession(node, callers.premium);
  const { premium, free, limited, elsewhere, wrong } = callers;
  const key = pick([premium, premium, premium, free, free, limited, elsewhere, wrong]);
  const [line, body] = pick(requests);
  await node.send(line, { key, ...(body === undefined ? {} : { body }) });
};

/** A long poll or a stream of a new session, whose client goes, or stays until it is cancelled. */
const readSession = async ({ url, send }: RunningServer, key: string): Promise<void> => {
  const created = await send("POST /v2/sessions", { key, body: { clientId: "client" } });
  const { sid } = (created.body["data"] ?? {}) as { readonly sid?: string };
  const path = pick([`/v2/sessions/${sid}?wait=5`, `/v2/sessions/${sid}/stream`]);
  const patience = pick([1, 5, 20, 10_000]);
  const reading = fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(patience),
  }).then((response) => response.text());
  // A client that is gone is what some of them are for.
  const over = reading.catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 30));
  await send(`DELETE /v2/sessions/${sid}`, { key });
  await over;
};
