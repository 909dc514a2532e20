/**
 * Sessions that are completed on one node and heard of on another, or on the same.
 */
import { expect } from "vitest";
import { formOf, openBrowser } from "../support/flow_browser.ts";
import { textOf } from "../support/http.ts";
import type { Node } from "./service.ts";

/** What the nodes are started with: no pace of creations and reads. */
export const env = { ACCOUNTLINK_SESSION_CREATE_BURST: "0", ACCOUNTLINK_POLL_INTERVAL: "0 seconds" };

/** How a client waits for a session. */
const paths = { "long poll": "?wait=20", stream: "/stream" };
export type Waiting = keyof typeof paths;

/** One session that a user completes. */
export interface Completion {
  /** The node where its user walks, and the one where its client waits. */
  readonly on: Node;
  readonly heardOn: Node;
  readonly waiting: Waiting;
  readonly key: string;
  readonly chatId: string;
  /** What happens right before the user confirms. */
  readonly act?: () => Promise<void>;
}

/** When what happened, by `performance.now()`. */
export interface Completed {
  readonly clicked: number;
  /** When the click was answered. */
  readonly answered: number;
  /** When the client knew. */
  readonly heard: number;
}

/** Creates a session on a node, and takes its user to the page that confirms. */
const openSession = async ({ on, key, chatId }: Completion) => {
  const created = await on.send("POST /v2/sessions", { key, body: { clientId: "client" } });
  expect(created.status).toBe(201);
  const sid = textOf(created.body.data?.["sid"]);
  const browser = openBrowser(on.url, "203.0.113.7");
  const page = await browser.walk(`?sid=${sid}`, chatId);
  return { sid, browser, form: formOf(page) };
};

/** Is done when a read of a session is open on the node. */
const untilSomebodyWaits = async (node: Node): Promise<void> => {
  const { text } = await node.send("GET /metrics", {});
  if (!/^accountlink_session_reads_open 1$/m.test(text)) await untilSomebodyWaits(node);
};

/** Lets a user complete a session while a client waits for it, the only one on its node. */
export const complete = async (completion: Completion): Promise<Completed> => {
  const { heardOn, waiting, key, act = async () => {} } = completion;
  const { sid, browser, form } = await openSession(completion);
  // The last event of a stream is followed by its end.
  const hearing = heardOn
    .send(`GET /v2/sessions/${sid}${paths[waiting]}`, { key })
    .then(({ status, text }) => ({ status, text, heard: performance.now() }));
  await untilSomebodyWaits(heardOn);
  await act();
  const clicked = performance.now();
  const confirmed = await browser.post("/verify/confirm", form);
  const answered = performance.now();
  const { status, text, heard } = await hearing;
  browser.close();
  expect([confirmed.status, status]).toEqual([200, 200]);
  expect(text).toContain('"state":"completed"');
  return { clicked, answered, heard };
};
