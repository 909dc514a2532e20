/** Tests that the client can read a session while its user goes through the flow, and while the server restarts. */
import { type Answer, createClient, type VerificationSession } from "@accountlink/client";
import { freePort } from "@accountlink/test-servers";
import { describe, expect, it } from "vitest";
import { shortReads, useFlowServer } from "../contract/flow_server.ts";
import { eventually } from "../support/eventually.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { useFolder } from "../support/folder.ts";
import { startServerHere } from "../support/server.ts";

const { url, newKey, newUser } = useFlowServer({
  ...shortReads,
  // The least time between two reads of a session is long, so that a second read is refused even on a busy machine.
  ACCOUNTLINK_POLL_INTERVAL: "3 seconds",
});

const listeningClient = (key: string) => {
  const heard: Array<Answer> = [];
  const client = createClient({ url: url(), key, onAnswer: (answer) => heard.push(answer) });
  const statuses = () => heard.map(({ status }) => status);
  return { client, heard, statuses };
};

const statesOf = (sessions: AsyncIterable<VerificationSession>) => {
  const states: Array<string> = [];
  const ended = (async () => {
    for await (const { state } of sessions) states.push(state);
  })();
  return { states, ended, until: (state: string) => eventually(() => expect(states).toContain(state)) };
};

describe.concurrent("a session", () => {
  const polled = newKey();
  const watched = newKey();

  it("watch follows a session to its end, over several event streams", async () => {
    const { client, statuses } = listeningClient(watched);
    const { sid } = await client.sessions.create({ clientId: "7" });
    const { states, ended, until } = statesOf(client.sessions.watch(sid));
    await until("pending");
    await eventually(() => expect(statuses().length).toBeGreaterThan(2));
    const user = newUser(sid);
    await user.begin();
    await until("opened");
    await user.finish();
    await ended;
    expect(states).toEqual(["pending", "opened", "completed"]);
    expect(statuses()).not.toContain(429);
  });

  it("a session is polled to its end, even after a refused read", async () => {
    const { client, statuses } = listeningClient(polled);
    const { sid } = await client.sessions.create({ clientId: "7" });
    await client.sessions.get(sid);
    const { states, ended, until } = statesOf(client.sessions.poll(sid, { wait: 1 }));
    await until("pending");
    const user = newUser(sid);
    await user.begin();
    await until("opened");
    await user.finish();
    await ended;
    expect(states).toEqual(["pending", "opened", "completed"]);
    expect(statuses().slice(0, 4)).toEqual([201, 200, 429, 200]);
  });
});

const dataFolder = useFolder();

it("a session is watched across a restart of the server", async () => {
  const { fixture, key } = makeFixtures();
  const token = key();
  const env = { ACCOUNTLINK_PORT: String(await freePort()) };
  const first = await startServerHere({ fixture, env, dataFolder });
  const { sessions } = createClient({ url: first.url, key: token });
  const { sid } = await sessions.create({ clientId: "7" });
  const { states, ended, until } = statesOf(sessions.watch(sid));
  await until("pending");
  await first.stop();
  const second = await startServerHere({ fixture, env, dataFolder });
  await sessions.cancel(sid);
  await ended;
  expect(states).toEqual(["pending", "cancelled"]);
  expect(await second.stop()).toBe(0);
});
