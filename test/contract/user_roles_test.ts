/** The roles on a user's page, as they are and as the rules would have them. */
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { formOf, locationOf, wordsOf } from "../support/flow_browser.ts";
import { dataOf } from "./contract_server.ts";
import { enterDashboard, putPlan, signInOwner } from "./dashboard.ts";
import { clubOf, useSiteServer, verified } from "./site_server.ts";

const [ada, member, mod, admin] = ["100001", "100003", "100002", "100004"];
const server = useSiteServer({}, clubOf(ada, { team: { [mod]: "moderator", [admin]: "admin" } }));
const { fixtures, platform } = server;
fixtures.key({ account: "club", guildId: guild, links: { [member]: "3" } });
const rules = [{ roleId: verified.id, when: { is: "linked" } }];
fixtures.plan({ account: "club", guildId: guild, rules });

test("a user's page shows the roles and what the rules would change, and applies them", async () => {
  const { owner, csrf, pid } = await enterDashboard(server, ada);
  const path = `/dashboard/links/user?pid=${pid}&chatId=${member}`;
  const text = async () => (await owner.browser.get(path)).text;
  await expect.poll(text, { timeout: 20_000 }).toMatch(/Has [^<]*Verified/);
  expect(await text()).not.toContain("Apply now");

  const body = { manager: false, nickname: null, joined: null, roles: [] };
  await platform.send(`PUT /control/guilds/${guild}/members/${member}`, { body });
  await expect.poll(text, { timeout: 20_000 }).toContain("Would get: Verified.");
  expect(await text()).toContain("Apply now");
  const colleague = await signInOwner(server, admin);
  const seen = (await colleague.browser.get(path)).text;
  expect(seen).toContain("Would get: Verified.");
  expect(seen).not.toContain("Apply now");
  const apply = async () =>
    locationOf(await owner.browser.post("/dashboard/links/apply-roles", { csrf, pid, chatId: member }));
  const route = "PUT /chat/api/guilds/:guildId/members/:chatId/roles/:roleId";
  await platform.fail({ mode: "refused", code: "role_refused", platform: "chat", route });
  expect(await apply()).not.toContain("done=");
  expect(await text()).toContain("refuses the change of the role for this member");
  await platform.recover();
  expect(await apply()).toContain("done=rolesApplied");
  await expect.poll(text, { timeout: 20_000 }).not.toContain("Apply now");

  // Who unlinks the member, and the member, read what goes with the link.
  const asking = async () =>
    wordsOf(await owner.browser.get(`/dashboard/links/unlink?pid=${pid}&chatId=${member}`));
  expect(await asking()).toMatch(/In Rook & Bishop, .*\(100003\) loses Verified\./);
  expect((await putPlan(owner, { pid, rules, nickname: "{game.username}" })).status).toBe(200);
  await expect.poll(asking, { timeout: 20_000 }).toContain("loses Verified and the nickname.");
  const own = await server.signIn(member, server.newBrowser(), "me");
  for (const page of ["/me", "/me/erase"]) {
    const words = wordsOf(await own.get(page));
    expect(words).toContain("In Rook & Bishop, you lose: Verified and your nickname.");
  }
  await platform.fail({ mode: "down", platform: "chat" });
  expect(wordsOf(await own.get("/me"))).toContain(
    "you lose the roles and the nickname that the bot gave you",
  );
  await platform.recover();
  const stranger = await server.signIn(mod, server.newBrowser(), "me");
  expect(wordsOf(await stranger.get("/me/erase"))).not.toContain("you lose");

  const moderator = await signInOwner(server, mod);
  expect((await moderator.browser.get(path)).text).not.toContain('id="roles"');
});

test("a blocked user is let in again on the user's page, which tells both with the link in one list", async () => {
  const { owner, csrf, pid } = await enterDashboard(server, ada);
  const chatId = member;
  await owner.send("PUT /dashboard/api/links", { body: { pid, chatId, gameId: "4" } });
  const press = (act: string, fields: Readonly<Record<string, string>>) =>
    owner.browser.post(`/dashboard/links/${act}`, { csrf, pid, ...fields });
  const path = `/dashboard/links/user?pid=${pid}&chatId=${chatId}`;
  await press("block", { gameId: "4" });
  const ofGame = await owner.browser.get(path);
  expect(wordsOf(ofGame)).toMatch(/The game account is kept out of .* Player 4 \(4\) on/);
  expect(ofGame.text).not.toContain("Undo: link them again");
  await press("block", { chatId });
  const page = await owner.browser.get(path);
  expect(wordsOf(page)).toContain("The chat and the game account are kept out of");
  expect(page.text.match(/No longer block</g)).toHaveLength(1);
  const [, button = ""] = /action="\/dashboard\/links\/unblock">(.*?)<\/form>/s.exec(page.text) ?? [];
  const done = await press("unblock", formOf({ text: button }));
  expect(locationOf(done)).toContain("done=unblocked");
  expect(dataOf(await owner.send(`GET /dashboard/api/blocks?pid=${pid}`)).blocks).toEqual([]);
  const after = (await owner.browser.get(locationOf(done))).text;
  expect(after).toContain("The user may verify again");
  expect(after).not.toContain("No longer block<");
  const lists = [...after.matchAll(/<ul class="history".*?<\/ul>/gs)].map(([list]) => list);
  expect(lists).toHaveLength(2);
  expect(lists[1]).not.toMatch(/ block|unlinked/);
  expect(lists[0]).toMatch(/no longer blocks.* blocked .* linked /s);
});
