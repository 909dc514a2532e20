/** Tests that the client can read a session while its user goes through the flow. */
import { type Client, createClient, type VerificationSession } from "@accountlink/client";
import { expect, it } from "vitest";
import { shortReads, useFlowServer } from "../contract/flow_server.ts";
import { eventually } from "../support/eventually.ts";

const { url, newKey, newUser } = useFlowServer({
  ...shortReads,
  // The least time between two reads of a session is long, so that a second read is refused even on a busy machine.
  ACCOUNTLINK_POLL_INTERVAL: "3 seconds",
});

/** Follows a new session in a way of the client, links its user, and returns the statuses of all answers. */
const follow = async (
  read: (sessions: Client["sessions"], sid: string) => Promise<AsyncIterable<VerificationSession>>,
) => {
  const statuses: Array<number> = [];
  const { sessions } = createClient({
    url: url(),
    key: newKey(),
    onAnswer: ({ status }) => statuses.push(status),
  });
  const { sid } = await sessions.create({ clientId: "7" });
  const followed = await read(sessions, sid);
  const states: Array<string> = [];
  const ended = (async () => {
    for await (const { state } of followed) states.push(state);
  })();
  const until = (state: string) => eventually(() => expect(states).toContain(state));
  await until("pending");
  await eventually(() => expect(statuses.length).toBeGreaterThan(2));
  const user = newUser(sid);
  await user.begin();
  await until("opened");
  await user.finish();
  await ended;
  expect(states).toEqual(["pending", "opened", "completed"]);
  return statuses;
};

it.concurrent("watch follows a session to its end, over several event streams", async () => {
  expect(await follow(async ({ watch }, sid) => watch(sid))).not.toContain(429);
});

it.concurrent("a session is polled to its end, even after a refused read", async () => {
  const statuses = await follow(async ({ get, poll }, sid) => {
    await get(sid);
    return poll(sid, { wait: 1 });
  });
  expect(statuses.slice(0, 4)).toEqual([201, 200, 429, 200]);
});
