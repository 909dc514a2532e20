/** Renaming and deleting an account, and deleting the data of a community, in the dashboard's JSON API. */
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { wordsOf } from "../support/flow_browser.ts";
import { listOf } from "../support/http.ts";
import {
  dataOf,
  expectConflict,
  expectData,
  expectInvalid,
  expectMissing,
  expectRefusal,
} from "./contract_server.ts";
import { createKey, enterDashboard, type Owner, scopesOf, signInOwner } from "./dashboard.ts";
import { managedBy, useSiteServer } from "./site_server.ts";

const ada = "100001";

const server = useSiteServer({}, managedBy([ada]));
const { fixtures } = server;
fixtures.account({ name: "Rook Club", chatId: ada });
fixtures.account({ name: "Chess", chatId: "100003", team: { 100004: "moderator" } });
fixtures.key({ account: "Rook Club", links: { 100002: "1", 100003: "1" } });
fixtures.key({ account: "Rook Club", guildId: guild, links: { 100002: "3" } });
const key = fixtures.key({ account: "Chess", links: { 100002: "1" } });

const nameOf = async (owner: Owner) => dataOf(await owner.send("GET /dashboard/api/session")).account?.name;
const rename = (owner: Owner, name: unknown) =>
  owner.send("PATCH /dashboard/api/account", { body: { name } });

test("an owner deletes the data of a community by typing its name or the account's", async () => {
  const { owner, global: shared, pid: own } = await enterDashboard(server, ada, guild);
  const remove = (pid: string, body: object = {}) =>
    owner.send(`DELETE /dashboard/api/scopes/${pid}`, { body });
  expectMissing(await remove(own), "confirm");
  expectInvalid(await remove(own, { confirm: "Rook" }), "confirm");
  expectInvalid(await remove(shared, { confirm: "Rook & Bishop" }), "confirm");
  expectData(await remove(own, { confirm: "Rook & Bishop" }), { deletedRecords: 1 });
  expectData(await remove(shared, { confirm: "Rook Club" }), { deletedRecords: 2 });
  expect((await scopesOf(owner)).map(({ links, keys }) => [links, keys])).toEqual([
    [0, 1],
    [0, 1],
  ]);
});

test("an owner renames the account, with a name that no other account has", async () => {
  const owner = await signInOwner(server, ada);
  for (const name of ["", null]) expectMissing(await rename(owner, name), "name");
  for (const name of ["x".repeat(81), "a\u202Eb", " ", "\u200B", "a\u200Bb", 7])
    expectInvalid(await rename(owner, name), "name");
  for (const name of ["Chess", " Chess ", "chat:100009"]) {
    expectConflict(await rename(owner, name), "name_taken");
  }
  expectData(await rename(owner, "Rooks & Co"), { account: { name: "Rooks & Co", tier: "free" } });
  const other = await signInOwner(server, "100003");
  expectConflict(await rename(other, "Rooks & Co"), "name_taken");
  expect(await nameOf(owner)).toBe("Rooks & Co");
  for (const account of ["Rook Club", "Rooks & Co"]) {
    const chosen = await owner.send("POST /dashboard/api/session/account", { body: { account } });
    expect(dataOf(chosen).account).toBe("Rooks & Co");
  }
  const [renamed] = listOf(dataOf(await owner.send("GET /dashboard/api/audit")).entries);
  expect(renamed).toMatchObject({ action: "account.updated", actor: { id: "Rooks & Co" }, member: ada });
  expect((await owner.browser.get("/dashboard/audit")).text).toContain(
    "renamed the account “Rooks &amp; Co”",
  );
});

test("an account that gets its first name back is called by its owner's name again", async () => {
  const owner = await signInOwner(server, "100005");
  dataOf(await rename(owner, "Bishops"));
  dataOf(await rename(owner, "chat:100005"));
  for (const page of ["account", "audit"]) {
    expect(wordsOf(await owner.browser.get(`/dashboard/${page}`))).not.toContain("chat:");
  }
});

test("an owner deletes the account, with its keys, webhooks, links and every sign-in to it", async () => {
  const owner = await signInOwner(server, "100003");
  const mate = await signInOwner(server, "100004");
  const { token } = await createKey(owner);
  const invited = { chatId: "100005", role: "moderator" };
  dataOf(await owner.send("POST /dashboard/api/members", { body: invited }), 201);
  const asked = await owner.browser.get("/dashboard/account/delete");
  expect(wordsOf(asked)).toContain("The sign-ins of you and 1 other person in the team");
  const remove = (body: object) => owner.send("DELETE /dashboard/api/account", { body });
  expectMissing(await remove({}), "confirm");
  expectInvalid(await remove({ confirm: "chess" }), "confirm");
  const lookup = (sent: string) => server.send("GET /v2/chat?chatId=100002", { key: sent });
  expect((await lookup(token)).status).not.toBe(401);
  expectData(await remove({ confirm: "Chess" }), { deleted: true });
  for (const sent of [token, key]) expect((await lookup(sent)).status).toBe(401);
  for (const sender of [owner, mate]) {
    expectRefusal(await sender.send("GET /dashboard/api/keys"), 401, "INVALID_SESSION", null);
  }
  const again = await signInOwner(server, "100003");
  expect(await nameOf(again)).toBe("chat:100003");
  expect(await scopesOf(again)).toEqual([]);
});
