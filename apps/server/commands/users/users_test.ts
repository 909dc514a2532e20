import { expect, it } from "vitest";
import { ask, makeWorkplace, type Workplace } from "../test_program.ts";

const ada = "100001";

/** Makes a workplace with links of the user Ada and of another user, in a global and in a guild scope. */
const withLinks = async (environment: Readonly<Record<string, string>> = {}): Promise<Workplace> => {
  const place = await makeWorkplace(environment);
  const file = await place.file("links.csv", `chatId,gameId\n${ada},77\n100002,78\n`);
  await place.json("links", "import", file, "--account", "acme");
  await place.json("links", "import", file, "--account", "acme", "--guild-id", "700000000000000001");
  return place;
};

it("`users export` prints everything stored about a user, including decrypted addresses", async () => {
  const place = await makeWorkplace();
  const seenAt = new Date(Date.now() - 86_400_000).toISOString();
  const sightings = [ada, "100002"].map((chatId, index) => ({
    account: "acme",
    scope: "global",
    chatId,
    ip: `203.0.113.${7 + index}`,
    device: "shared computer",
    seenAt,
  }));
  const fixture = await place.file(
    "fixture.json",
    JSON.stringify({
      accounts: [{ name: "ours", chatId: ada, tier: "premium" }],
      keys: [{ key: `alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}`, account: "ours", scope: "global" }],
      links: [{ account: "acme", scope: "global", chatId: ada, gameId: "77" }],
      sightings,
    }),
  );
  await place.serve({ ACCOUNTLINK_FIXTURE: fixture });
  const { run } = place;
  const { code, stdout } = await run("users", "export", "--chat-id", ada);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    chatId: ada,
    accounts: [{ name: "ours", chatId: ada, tier: "premium" }],
    keys: [{ id: "Aa0Bb1Cc2Dd3" }],
    links: [{ community: { account: "acme", guildId: null }, gameId: "77", linkVersion: 1 }],
    sightings: [{ community: { account: "acme" }, address: "203.0.113.7", seenAt }],
    browsers: [{ community: { pid: expect.stringMatching(/^pid_/) as unknown }, browser: 1, seenAt }],
    roles: [],
    sessions: [],
    flows: [],
    entries: [],
  });
  expect(stdout).not.toContain("100002");
  expect(stdout).not.toContain("203.0.113.8");
  const { stdout: nobody } = await run("users", "export", "--chat-id", "999999", "--json");
  expect(JSON.parse(nobody)).toMatchObject({ chatId: "999999", links: [], sightings: [], entries: [] });
});

it("a dry run of `users erase` names the keys of an account that the user alone runs, as the erasure does", async () => {
  const place = await withLinks();
  const { id } = await place.json("keys", "create", "--account", "acme");
  await place.json("accounts", "members", "add", "acme", "--chat-id", ada, "--role", "owner");
  const erase = ["users", "erase", "--chat-id", ada];
  for (const flags of [["--dry-run"], []])
    expect(await place.json(...erase, ...flags)).toMatchObject({ revokedKeys: [id] });
});

it("`users erase` erases a user from every scope of a running server; a dry run erases nothing", async () => {
  const place = await withLinks();
  const url = await place.serve();
  const { token: key } = await place.json("keys", "create", "--account", "acme", "--unlimited");
  const gameOf = async (chatId: string) => {
    const response = await ask(url, key, `GET /v2/chat?chatId=${chatId}`);
    return [response.status, ((await response.json()) as { data?: { gameId?: string } }).data?.gameId];
  };
  await ask(url, key, "PATCH /v2/game", { chatId: ada, gameId: "1" });

  const erase = ["users", "erase", "--chat-id", ada];
  const counts = { chatId: ada, records: 2, sightings: 0, accounts: 0, revokedKeys: [] };
  expect(await place.json(...erase, "--dry-run")).toMatchObject({ dryRun: true, ...counts });
  expect((await gameOf(ada))[0]).toBe(200);
  expect(await place.json(...erase)).toMatchObject({ dryRun: false, ...counts });
  expect((await gameOf(ada))[0]).toBe(404);
  expect(await gameOf("100002")).toEqual([200, "78"]);

  const { stdout } = await place.run("audit", "list", "--account", "acme", "--json");
  expect(stdout).not.toContain(ada);
  expect(stdout).toContain('"action":"user.erased"');
  const again = await place.run(...erase);
  expect(again).toMatchObject({ code: 0, stderr: "" });
  expect(again.stdout).toMatch(/^Erased chat user 100001 from data folder "[^"]+": 0 records, 0 sightings, /);
});
