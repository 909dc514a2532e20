/**
 * A session that is completed on one node is heard of on another, also when Redis is away at that moment.
 */
import { Effect } from "effect";
import { expect, test } from "vitest";
import { formOf, openBrowser } from "../support/flow_browser.ts";
import { textOf } from "../support/http.ts";
import { makeWorld } from "../support/world.ts";
import { type Node, type Service, startService, whyNoService } from "./service.ts";

const missing = await whyNoService();

const longest = { "Redis answers": 1_000, "Redis is away": 3_000 };

const env = { ACCOUNTLINK_SESSION_CREATE_BURST: "0", ACCOUNTLINK_POLL_INTERVAL: "0 seconds" };

/** Creates a session on a node, and takes its user to the page that confirms. */
const openSession = async (node: Node, key: string, chatId: string) => {
  const created = await node.send("POST /v2/sessions", { key, body: { clientId: "client" } });
  expect(created.status).toBe(201);
  const sid = textOf(created.body.data?.["sid"]);
  const browser = openBrowser(node.url, "203.0.113.7");
  const page = await browser.walk(`?sid=${sid}`, chatId);
  return { sid, browser, form: formOf(page) };
};

/** Is done when a read of a session is open on the node. */
const untilSomebodyWaits = async (node: Node): Promise<void> => {
  const { text } = await node.send("GET /metrics", {});
  if (!/^accountlink_session_reads_open 1$/m.test(text)) await untilSomebodyWaits(node);
};

/** How long after the answer to its confirmation a session is known to be completed on another node. */
const heardAfter = async (
  [one, other]: ReadonlyArray<Node>,
  key: string,
  chatId: string,
  act: () => Promise<void>,
) => {
  if (one === undefined || other === undefined) throw new Error("Cannot compare nodes: there is only one");
  const { sid, browser, form } = await openSession(one, key, chatId);
  const poll = other.send(`GET /v2/sessions/${sid}?wait=20`, { key });
  await untilSomebodyWaits(other);
  await act();
  const confirmed = await browser.post("/verify/confirm", form);
  const answered = performance.now();
  const { status, body } = await poll;
  browser.close();
  expect([confirmed.status, status, body.data?.["state"]]).toEqual([200, 200, "completed"]);
  return performance.now() - answered;
};

const away = ({ redis }: Service) => Effect.runPromise(redis.kill);

test.skipIf(missing !== null)(`a completed session is heard of on every node ${missing ?? ""}`, () =>
  Effect.gen(function* () {
    const world = makeWorld();
    const key = world.key();
    const service = yield* startService({ fixture: world.fixture, env });
    const took = {
      "Redis answers": yield* Effect.promise(() => heardAfter(service.nodes, key, "100001", async () => {})),
      "Redis is away": yield* Effect.promise(() =>
        heardAfter(service.nodes, key, "100002", () => away(service)),
      ),
    };
    console.log(took);
    expect(took["Redis answers"]).toBeLessThan(longest["Redis answers"]);
    expect(took["Redis is away"]).toBeLessThan(longest["Redis is away"]);
  }).pipe(Effect.scoped, Effect.runPromise),
);
