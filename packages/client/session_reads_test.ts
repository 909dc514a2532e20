import { withResolvers } from "@accountlink/test-servers";
import { expect, it, onTestFinished } from "vitest";
import type { VerificationSession } from "./mod.ts";
import { refusal, scripted, streaming, success } from "./test_service.ts";

const sid = `vs_${"0".repeat(43)}`;
const session = (state: string, clientId = "7") => ({ sid, clientId, state });

const event = (id: number, state: string, name = "session", clientId = "7") =>
  `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(session(state, clientId))}\n\n`;
const opening = "retry: 10\n\n";
const timeout = "event: timeout\ndata: {}\n\n";

/** Collects the states that an iterator yields. */
const all = async (sessions: AsyncIterable<VerificationSession>) => {
  const found: Array<string> = [];
  for await (const { state } of sessions) found.push(state);
  return found;
};

it("sessions.watch resumes after the last event when its connection ends or breaks", async () => {
  const seen = withResolvers<void>();
  const { client, heard } = await scripted([
    streaming([opening, event(1, "pending"), timeout]),
    // A broken connection loses data that its reader has not read yet, so break it only after the event was seen.
    async (outgoing) => {
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      outgoing.write(opening + event(2, "opened"));
      await seen.promise;
      outgoing.write("id: 3\nevent: comp", () => outgoing.destroy());
    },
    "cut",
    refusal(503, "INTERNAL_ERROR"),
    streaming([opening], "end"),
    streaming([opening, timeout]),
    streaming([event(3, "cancelled", "cancelled")], "open"),
  ]);
  const states: Array<string> = [];
  for await (const { state } of client.sessions.watch(sid)) {
    states.push(state);
    if (state === "opened") seen.resolve();
  }
  expect(states).toEqual(["pending", "opened", "cancelled"]);
  const ids = heard.map(({ headers }) => headers["last-event-id"]);
  expect(ids).toEqual([undefined, "1", "2", "2", "2", "2", "2"]);
});

it("sessions.watch parses events in chunks of any size and with any line endings", async () => {
  const bytes = new TextEncoder().encode(
    event(1, "completed", "completed", "Zoë\u2028🎲").replaceAll("\n", "\r\n"),
  );
  const { client } = await scripted([
    streaming([opening, ...Array.from(bytes, (byte) => Uint8Array.of(byte))]),
  ]);
  const { value } = await client.sessions.watch(sid).next();
  expect(value).toEqual(session("completed", "Zoë\u2028🎲"));
});

it("sessions.watch yields the end of a session that expires between streams, and reopens a long stream at once", async () => {
  const now = performance.now.bind(performance);
  let skipped = 0;
  performance.now = () => now() + skipped;
  // Bun has no function after the restoration of a spy.
  onTestFinished(() => void (performance.now = now));
  const begun = now();
  const seen = withResolvers<void>();
  const { client } = await scripted([
    async (outgoing) => {
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      outgoing.write(`retry: 30000\n\n${event(1, "pending")}`);
      await seen.promise;
      skipped = 30_000;
      outgoing.end(timeout);
    },
    refusal(410, "SESSION_EXPIRED"),
  ]);
  const found: Array<VerificationSession> = [];
  for await (const each of client.sessions.watch(sid)) {
    found.push(each);
    seen.resolve();
  }
  expect(found).toEqual([session("pending"), session("expired")]);
  expect(now() - begun).toBeLessThan(20_000);
});

it("sessions.watch yields nothing and ends when the service answers 204", async () => {
  const { client } = await scripted([{ status: 204 }]);
  expect(await all(client.sessions.watch(sid))).toEqual([]);
});

it("sessions.watch rejects when the service refuses the request or the response is not an event stream", async () => {
  const { client } = await scripted([refusal(410, "SESSION_EXPIRED"), success({})]);
  await expect(all(client.sessions.watch(sid))).rejects.toMatchObject({ code: "SESSION_EXPIRED" });
  await expect(all(client.sessions.watch(sid))).rejects.toMatchObject({ code: "UNEXPECTED_RESPONSE" });
});

it.each(["leaves the loop", "aborts"])("sessions.watch disconnects when its reader %s", async (way) => {
  const closed = withResolvers<void>();
  const { client } = await scripted([
    (outgoing) => {
      outgoing.once("close", closed.resolve);
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      outgoing.write(event(1, "pending"));
    },
  ]);
  const controller = new AbortController();
  const reason = new Error("No longer wanted");
  const reading = (async () => {
    for await (const _ of client.sessions.watch(sid, { signal: controller.signal })) {
      if (way === "leaves the loop") break;
      controller.abort(reason);
    }
  })();
  expect(await Promise.allSettled([reading])).toMatchObject([
    way === "aborts" ? { reason } : { status: "fulfilled" },
  ]);
  await closed.promise;
});

it("a long poll yields each change, and wait returns the final state", async () => {
  const answers = ["pending", "pending", "completed"].map((state) => success(session(state)));
  const { client, heard } = await scripted(answers);
  expect(await all(client.sessions.poll(sid, { wait: 1 }))).toEqual(["pending", "completed"]);
  expect(heard.map(({ query }) => query.get("wait"))).toEqual(["1", "1", "1"]);
  expect(await client.sessions.wait(sid)).toEqual(session("completed"));
  expect(heard.at(-1)?.query.get("wait")).toBe("25");
});

it("a long poll times out only after its wait time plus the client's timeout", async () => {
  const { client } = await scripted(["silent"], { timeout: 50, retryFor: 0 });
  const begun = performance.now();
  await expect(client.sessions.get(sid, { wait: 1 })).rejects.toMatchObject({ code: "TIMEOUT" });
  expect(performance.now() - begun).toBeGreaterThanOrEqual(1_000);
});

it("a long poll rejects with the reason of its signal", async () => {
  const { client } = await scripted([success(session("pending"))]);
  const controller = new AbortController();
  const reason = new Error("No longer wanted");
  const waiting = client.sessions.wait(sid, {
    signal: controller.signal,
    onAnswer: () => controller.abort(reason),
  });
  await expect(waiting).rejects.toBe(reason);
});
