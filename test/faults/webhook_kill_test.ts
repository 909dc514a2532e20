/** Kills a server while the webhooks of two accounts take turns at attempts, and checks which events are sent then. */
import { runInProcess } from "@accountlink/server/test_command_line";
import { expect, onTestFinished, test } from "vitest";
import { useReceiver } from "../contract/webhook_receiver.ts";
import { eventually } from "../support/eventually.ts";
import { emptyGuild, guild, makeFixtures } from "../support/fixtures.ts";
import { useFolder } from "../support/folder.ts";
import { type RunningServer, startServer, startServerHere } from "../support/server.ts";

const folder = useFolder();
const receiver = await useReceiver();

const usersFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => String(first + index));

/** The game users that a path was told, by chat user, without repeats. */
const toldAt = (path: string) => {
  const told = new Map<string, ReadonlyArray<string>>();
  const seen = new Set<string>();
  for (const { id, body } of receiver.at(path)) {
    if (seen.has(id)) continue;
    seen.add(id);
    const chatId = String(body.data["chatId"]);
    told.set(chatId, [...(told.get(chatId) ?? []), String(body.data["gameId"])]);
  }
  return told;
};

test("after kill -9 amid the turns of two accounts, each gets its deliveries, the quiet one while the other is slow", async () => {
  const fixtures = makeFixtures();
  // The places of a node's attempts are fewer than the slow deliveries of the busy account.
  const busy = [undefined, guild, emptyGuild].map((guildId, place) => {
    const users = usersFrom(200_001 + place * 1_000, 60);
    const links = Object.fromEntries(users.map((chatId) => [chatId, "9"]));
    const key = fixtures.key({ account: "busy", access: "manage", links, ...(guildId && { guildId }) });
    return { key, guildId, users, path: `/busy-${place}` };
  });
  const users = usersFrom(100_001, 10);
  const quiet = { key: fixtures.key({ account: "quiet" }), guildId: undefined, users, path: "/quiet" };
  const env = { ACCOUNTLINK_WEBHOOK_NETWORKS: "127.0.0.1/32" };
  const { platform } = fixtures.fixture;
  const guilds = busy.flatMap(({ guildId, users: members }) =>
    guildId === undefined ? [] : [{ id: guildId, bot: true, members: members.map((chatId) => ({ chatId })) }],
  );
  const fixture = { ...fixtures.fixture, platform: { ...platform, guilds } };
  const options = { fixture, dataFolder: folder, env };
  const killed = await startServer(options);
  let server: RunningServer = killed;
  onTestFinished(async () => void (await server.stop()));

  const lists = [...busy, quiet];
  const webhooks = async (...args: ReadonlyArray<string>) => {
    const commandEnv = { ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_DATA_DIR: folder, ...env };
    const { code, stdout } = await runInProcess(["webhooks", ...args, "--json"], commandEnv);
    expect(code).toBe(0);
    return JSON.parse(stdout) as { readonly id: string };
  };
  const ids: Array<string> = [];
  for (const { guildId, path } of lists) {
    const scope = guildId === undefined ? ["global"] : ["guild", "--guild-id", guildId];
    const account = path === quiet.path ? "quiet" : "busy";
    const url = `${receiver.url}${path}`;
    const { id } = await webhooks("create", "--account", account, "--scope", ...scope, "--url", url);
    ids.push(id);
    // The events wait, so that no slow write leaves a delivery without an answer for long.
    await webhooks("update", id, "--status", "paused");
  }
  const release = lists.map(({ path }) => receiver.hold(path));
  const change = async (list: (typeof lists)[number], gameId: string) => {
    for (const chatId of list.users) {
      const body = { chatId, gameId, reason: "A test" };
      const line = list.path === quiet.path ? "PATCH /v2/game" : "PUT /dashboard/api/links";
      const { status, text } = await server.send(line, { key: list.key, body });
      expect([status, text]).toEqual([200, text]);
    }
  };
  await Promise.all(lists.map((list) => change(list, "1")));
  await Promise.all(lists.map((list) => change(list, "2")));
  for (const id of ids) await webhooks("update", id, "--status", "active");
  const begun = () => lists.map(({ path }) => receiver.at(path).length);
  await eventually(() => {
    if (Math.min(...begun()) === 0)
      throw new Error(`The receivers got ${begun().join()}, expected some each`);
  });
  await killed.kill();
  release.at(-1)?.();

  server = await startServerHere(options);
  const expectTold = (list: (typeof lists)[number]) =>
    eventually(() =>
      expect(toldAt(list.path)).toEqual(new Map(list.users.map((chatId) => [chatId, ["1", "2"]]))),
    );
  await expectTold(quiet);
  expect(busy.map(({ path }) => [...toldAt(path).values()].flat().includes("2"))).toEqual([
    false,
    false,
    false,
  ]);
  for (const end of release) end();
  for (const list of busy) await expectTold(list);
});
