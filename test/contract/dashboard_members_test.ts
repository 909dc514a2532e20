/** The members of an account, and the permissions of their roles. */
import { allows, type MemberRole, maxMembers, memberRoles } from "@accountlink/core/accounts";
import { dashboardRoutes } from "@accountlink/http-api";
import { sections } from "@accountlink/pages/dashboard";
import { beforeAll, describe, expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { formOf, titleOf } from "../support/flow_browser.ts";
import { listOf, textOf } from "../support/http.ts";
import {
  dataOf,
  expectConflict,
  expectData,
  expectForbidden,
  expectInvalid,
  expectMissing,
  expectRefusal,
  expectUnknown,
  isoTime,
} from "./contract_server.ts";
import { createKey, type Owner, signInOwner } from "./dashboard.ts";
import { useSiteServer } from "./site_server.ts";

type Line = Parameters<Owner["send"]>[0];

const [ada, bob, cyd, dan] = ["100001", "100002", "100003", "100004"];
const people: Record<MemberRole, string> = { owner: ada, admin: bob, moderator: cyd };

const crowd = Array.from({ length: 2 * maxMembers }, (_, index) => String(200_001 + index));

const strangers = crowd.map((id) => ({ id, username: `crowd_${id}` }));

const server = useSiteServer(
  { ACCOUNTLINK_FREE_KEYS: "0", ACCOUNTLINK_FREE_WINDOW: "0 seconds" },
  ({ platform }) => ({
    platform: { chatUsers: [...(platform?.chatUsers ?? []), ...strangers] },
  }),
);
const team = { [bob]: "admin", [cyd]: "moderator" } as const;
server.fixtures.account({ name: "roles", chatId: ada, tier: "premium", team });

const members = (owner: Owner) => owner.send("GET /dashboard/api/members");

const rolesIn = async (owner: Owner) => {
  const listed = listOf(dataOf(await members(owner)).members);
  return Object.fromEntries(listed.map(({ chatId, role }) => [textOf(chatId), textOf(role)]));
};

const add = (owner: Owner, body: object) => owner.send("POST /dashboard/api/members", { body });

const setRole = (owner: Owner, chatId: string, role: string) =>
  owner.send(`PATCH /dashboard/api/members/${chatId}` as Line, { body: { role } });

const remove = (owner: Owner, chatId: string) =>
  owner.send(`DELETE /dashboard/api/members/${chatId}` as Line);

const choose = (owner: Owner, account: string) =>
  owner.send("POST /dashboard/api/session/account", { body: { account } });

const accountOf = async (owner: Owner) =>
  textOf((await owner.send("GET /dashboard/api/session")).body.data?.account?.name);

const signInAs = async (role: MemberRole) => {
  const member = await signInOwner(server, people[role]);
  await choose(member, "roles");
  return member;
};

/** Signs in the owner of a new account, which the test may change. */
const newOwner = (chatId = "") => signInOwner(server, chatId);

test("members are added by ID or user name, changed and removed, each with an audit entry", async () => {
  const owner = await newOwner("100021");
  const added = await add(owner, { chatId: "100022", role: "moderator" });
  expect(added.status).toBe(201);
  expect(added.body.data?.member).toMatchObject({ chatId: "100022", role: "moderator", accepted: false });
  const named = await add(owner, { username: "@user_4", role: "admin" });
  expect(named.body.data?.member).toEqual({
    chatId: dan,
    role: "admin",
    scopes: null,
    since: expect.stringMatching(/^\d{4}-.*Z$/),
    accepted: false,
    username: "user_4",
    displayName: "User 4",
  });
  const changed = await setRole(owner, "100022", "admin");
  expect([changed.status, changed.body.data?.member]).toMatchObject([200, { role: "admin" }]);
  expectData(await remove(owner, "100022"), { removed: true });
  expect(await rolesIn(owner)).toEqual({ "100021": "owner", [dan]: "admin" });

  const { body } = await owner.send("GET /dashboard/api/audit");
  const signed = { actor: { type: "account", id: "chat:100021" }, member: "100021" };
  const changes = { chatId: "100022", role: "admin" };
  expect(body.data?.entries).toMatchObject([
    { action: "member.removed", details: changes, ...signed },
    { action: "member.role_changed", details: { ...changes, previousRole: "moderator" }, ...signed },
    { action: "member.added", details: { chatId: dan, role: "admin" }, ...signed },
    { action: "member.added", details: { chatId: "100022", role: "moderator" }, ...signed },
  ]);
  const page = await owner.browser.get("/dashboard/audit");
  for (const words of ["invited ", "to the team: moderator", "removed ", "from the team"])
    expect(page.text).toContain(words);
});

test("adding a member is refused for duplicates, unknown names, unknown roles and above 25 members", async () => {
  const owner = await newOwner("100031");
  const role = "moderator";
  await add(owner, { chatId: bob, role });
  expectConflict(await add(owner, { chatId: bob, role }), "member_exists");
  const unnamed = await add(owner, { username: "nobody_at_all", role });
  expectInvalid(unnamed, "username: nobody was found with this user name");
  expectInvalid(await add(owner, { chatId: "999999", role }), "chatId: nobody was found with this ID");
  expectMissing(await add(owner, { role }), "chatId", "username");
  const king = await add(owner, { chatId: "100032", role: "king" });
  expectInvalid(king, "role: expected owner, admin or moderator");
  for (const chatId of crowd.slice(2, maxMembers)) await add(owner, { chatId, role });
  expectConflict(await add(owner, { chatId: "100032", role }), "member_limit");
  expectUnknown(await setRole(owner, "100099", role));
  expectUnknown(await remove(owner, "100099"));
});

test("the last owner cannot be removed or change role", async () => {
  const owner = await newOwner("100033");
  expectConflict(await remove(owner, "100033"), "last_owner");
  expectConflict(await setRole(owner, "100033", "admin"), "last_owner");
  await add(owner, { chatId: "100034", role: "owner" });
  await choose(await signInOwner(server, "100034"), "chat:100033");
  expectData(await remove(owner, "100033"), { removed: true });
  expectRefusal(await members(owner), 401, "INVALID_SESSION", null);
  expect(await accountOf(await signInOwner(server, "100033"))).toBe("chat:100033:another");
});

const decline = (owner: Owner, account: string) =>
  owner.send(`DELETE /dashboard/api/session/invitations/${encodeURIComponent(account)}` as Line);

const invitationsOf = async (owner: Owner) =>
  (await owner.send("GET /dashboard/api/session")).body.data?.invitations;

test("a user who was never signed in gets their own account, and keys made there are not the inviter's", async () => {
  const [inviter = "", invited = ""] = crowd.slice(30);
  const owner = await newOwner(inviter);
  await add(owner, { chatId: invited, role: "admin" });
  const user = await signInOwner(server, invited);
  expect(await accountOf(user)).toBe(`chat:${invited}`);
  const invitation = { account: `chat:${inviter}`, role: "admin", invitedBy: inviter, at: isoTime };
  expect(await invitationsOf(user)).toEqual([invitation]);
  await createKey(user);
  expect((await owner.send("GET /dashboard/api/keys")).body.data?.keys).toEqual([]);
});

test("an invitation is accepted by choosing the account, and the audit log says so", async () => {
  const [owner, user] = [await newOwner(crowd[32]), await newOwner(crowd[33])];
  const [account, chatId] = [`chat:${crowd[32]}`, crowd[33] ?? ""];
  await add(owner, { chatId, role: "moderator" });
  const csrfToken = expect.stringMatching(/^[\w-]{43}$/) as unknown;
  expectData(await choose(user, account), { account, role: "moderator", csrfToken });
  const { body } = await user.send("GET /dashboard/api/session");
  expect(body.data).toMatchObject({ account: { name: account }, role: "moderator", invitations: [] });
  expect((await members(user)).body.data?.members).toContainEqual(
    expect.objectContaining({ chatId, accepted: true }),
  );
  const log = await owner.send("GET /dashboard/api/audit?action=member.accepted");
  expect(log.body.data?.entries).toMatchObject([
    { details: { chatId, role: "moderator" }, member: chatId, actor: { type: "account", id: account } },
  ]);
  const page = await owner.browser.get("/dashboard/audit");
  expect(page.text).toContain("joined the team: moderator");
});

test("an invitation that was changed since the page named it is not accepted, and the page says it anew", async () => {
  const [chatId = "", invited = ""] = crowd.slice(43);
  const [owner, user] = [await newOwner(chatId), await newOwner(invited)];
  await add(owner, { chatId: invited, role: "moderator" });
  const accept = (form: Readonly<Record<string, string>>) =>
    user.browser.post("/dashboard/account/choose", { ...form, account: `chat:${chatId}` });
  const form = formOf(await user.browser.get("/dashboard/account/choose"));
  await setRole(owner, invited, "admin");
  const refused = await accept(form);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("You have not joined")]);
  expect(await invitationsOf(user)).toMatchObject([{ role: "admin" }]);
  expect((await accept(formOf(refused))).status).toBe(303);
  expect(await invitationsOf(user)).toEqual([]);
});

test("an invitation is declined, and an owner can withdraw one", async () => {
  const [owner, user] = [await newOwner(crowd[34]), await newOwner(crowd[35])];
  const [account, chatId] = [`chat:${crowd[34]}`, crowd[35] ?? ""];
  await add(owner, { chatId, role: "owner" });
  expectData(await decline(user, account), { declined: true });
  expectUnknown(await decline(user, account));
  expectUnknown(await choose(user, account));
  const { body } = await owner.send("GET /dashboard/api/audit?action=member.declined");
  expect(body.data?.entries).toMatchObject([{ details: { chatId, role: "owner" }, member: chatId }]);
  await add(owner, { chatId, role: "moderator" });
  const form = { ...formOf(await user.browser.get("/dashboard/account/choose")), account };
  expectData(await remove(owner, chatId), { removed: true });
  expect(await invitationsOf(user)).toEqual([]);
  expectUnknown(await decline(user, `chat:${chatId}`));
  for (const act of ["choose", "decline"]) {
    const refused = await user.browser.post(`/dashboard/account/${act}`, form);
    expect([refused.status, refused.text]).toEqual([404, expect.stringContaining("no longer invited")]);
  }
});

test("a member of several accounts chooses one for this browser and the next sign-in", async () => {
  const [owner, both] = [await newOwner("100016"), await newOwner("100017")];
  await add(owner, { chatId: "100017", role: "moderator" });
  const { body } = await both.send("GET /dashboard/api/session");
  expect(body.data?.accounts).toEqual([{ name: "chat:100017", role: "owner" }]);
  const elsewhere = await signInOwner(server, "100017");
  expect(await accountOf(elsewhere)).toBe("chat:100017");
  const { csrfToken } = elsewhere;
  const chosen = dataOf(await choose(elsewhere, "chat:100016"));
  expect(chosen.csrfToken).not.toBe(csrfToken);
  expect(await accountOf(elsewhere)).toBe("chat:100016");
  expect(await accountOf(both)).toBe("chat:100017");
  expect(await accountOf(await signInOwner(server, "100017"))).toBe("chat:100016");
  for (const unknown of ["roles", "nobody's", "\u0000"]) {
    expectUnknown(await choose(both, unknown));
    expectUnknown(await decline(both, unknown));
  }
});

test("a page that was made for one account cannot act in another that the user has chosen since", async () => {
  const [owner, both] = [await newOwner(crowd[36]), await newOwner(crowd[37])];
  await add(owner, { chatId: crowd[37], role: "admin" });
  const form = formOf(await both.browser.get("/dashboard/keys/new"));
  const headers = { "x-csrf-token": both.csrfToken };
  dataOf(await choose(both, `chat:${crowd[36]}`));
  const body = { name: "Bot", scope: "global" };
  expectForbidden(await both.send("POST /dashboard/api/keys", { body, headers }), "csrf");
  expect((await both.browser.post("/dashboard/keys", { ...form, ...body })).status).toBe(403);
  expect((await owner.send("GET /dashboard/api/keys")).body.data?.keys).toEqual([]);
  dataOf(await choose(both, `chat:${crowd[37]}`));
  dataOf(await both.send("POST /dashboard/api/keys", { body, headers }), 201);
});

test("nobody accepts a fourth free account to run", async () => {
  const user = await newOwner(crowd[38]);
  const accounts: Array<string> = [];
  for (const chatId of crowd.slice(39, 42)) {
    await add(await newOwner(chatId), { chatId: crowd[38], role: "owner" });
    accounts.push(`chat:${chatId}`);
  }
  for (const account of accounts.slice(0, 2)) dataOf(await choose(user, account));
  const last = accounts[2] ?? "";
  expectConflict(await choose(user, last), "account_limit");
  const form = formOf(await user.browser.get("/dashboard/account/choose"));
  const page = await user.browser.post("/dashboard/account/choose", { ...form, account: last });
  expect(page.status).toBe(409);
  expect(page.text).toContain("nobody may run more than three free accounts");
  expect(await accountOf(await signInOwner(server, crowd[38] ?? ""))).toBe(accounts[1]);
});

/** Returns the minimum role that a route of the dashboard requires. */
const needed = (path: string, method: string): MemberRole => {
  if (/^\/dashboard\/api\/(session|guilds|links|audit|alts|blocks|unlinked|communities)/.test(path))
    return "moderator";
  if (path.startsWith("/dashboard/api/members")) return method === "GET" ? "moderator" : "owner";
  if (path === "/dashboard/api/account" || (path.includes("/scopes/") && method === "DELETE")) return "owner";
  return path.startsWith("/dashboard/api/scopes") && method === "GET" ? "moderator" : "admin";
};

/** The minimum role for each dashboard page. The default for a section of the menu is `admin`. */
const pages: Readonly<Record<string, MemberRole>> = {
  ...Object.fromEntries(Object.values(sections).map(({ path }) => [path, "admin"] as const)),
  "/dashboard": "moderator",
  "/dashboard/links": "moderator",
  "/dashboard/links/user?chatId=100001": "moderator",
  "/dashboard/alts": "moderator",
  "/dashboard/alts/new": "moderator",
  "/dashboard/audit": "moderator",
  "/dashboard/audit.csv": "moderator",
  "/dashboard/account": "moderator",
  "/dashboard/account/choose": "moderator",
  "/dashboard/team": "moderator",
  "/dashboard/links.csv": "admin",
  "/dashboard/keys/new": "admin",
  "/dashboard/webhooks/new": "admin",
  "/dashboard/usage.csv": "admin",
};

const forms: Readonly<Record<string, MemberRole>> = {
  "/dashboard/links/unlink": "moderator",
  "/dashboard/alts/reviews": "moderator",
  "/dashboard/account/name": "owner",
  "/dashboard/account/end": "moderator",
  "/dashboard/account/decline": "moderator",
  "/dashboard/team/remove": "owner",
  "/dashboard/team/add": "owner",
  "/dashboard/team/role": "owner",
  "/dashboard/keys": "admin",
  "/dashboard/keys/x/revoke": "admin",
  "/dashboard/communities/x": "admin",
  "/dashboard/webhooks": "admin",
  "/dashboard/webhooks/x/delete": "admin",
  "/dashboard/imports": "admin",
  "/dashboard/try": "admin",
};

const linkedFrom = (text: string) =>
  [...text.matchAll(/href="(\/dashboard\/[^"?]*)/g)]
    .flatMap(([, path]) => path ?? [])
    .filter((target) => target in pages);

describe.each(memberRoles)("as %s", (role) => {
  let signedIn: Owner;
  beforeAll(async () => {
    signedIn = await signInAs(role);
  });

  test.each(dashboardRoutes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "the role decides whether %s is refused",
    async (_, { method, path, source }) => {
      const member = path === "/dashboard/api/session" ? await signInAs(role) : signedIn;
      const line = `${method} ${path.replace(":chatId", "100099").replace(/:\w+/, "x")}` as Line;
      const { status, body } = await member.send(line, source === "body" ? { body: {} } : {});
      const isRefused = status === 403 && JSON.stringify(body.error?.details) === '{"reason":"role"}';
      expect(isRefused).toBe(!allows(role, needed(path, method)));
    },
  );

  test("a member can use only the pages and forms that the role allows, and the menu lists only these", async () => {
    const { browser } = await signInAs(role);
    for (const [path, least] of Object.entries(pages)) {
      const { status, text } = await browser.get(path);
      const isRefused = status === 403 && titleOf(text) === "You may not do this";
      expect([path, isRefused]).toEqual([path, !allows(role, least)]);
      expect(text.includes("An owner of the account can change your role.")).toBe(isRefused);
      for (const target of linkedFrom(text)) {
        expect([path, target, allows(role, pages[target] ?? "owner")]).toEqual([path, target, true]);
      }
    }
    const { text } = await browser.get("/dashboard/links");
    const csrf = textOf(/name="csrf" value="([^"]+)"/.exec(text)?.[1]);
    for (const [path, least] of Object.entries(forms)) {
      const { status } = await browser.post(path, { csrf });
      expect([path, status === 403]).toEqual([path, !allows(role, least)]);
    }
    expect(linkedFrom(text).includes("/dashboard/keys")).toBe(allows(role, "admin"));
  });
});

test("a member who reads German is refused in German alone", async () => {
  const { browser } = await signInAs("moderator");
  const { text } = await browser.get("/dashboard/keys", { "accept-language": "de" });
  expect(text).toContain("Dein Konto hier hat dafür keine Berechtigung. Es wurde nichts geändert.");
  expect(text).not.toContain("Nothing was changed");
});

test("a moderator starts at the links page, and reads only audit entries of links and reviews", async () => {
  const [owner, moderator] = [await signInAs("owner"), await signInAs("moderator")];
  const start = await moderator.browser.get("/dashboard");
  expect([start.status, start.headers.location]).toEqual([303, "/dashboard/links"]);

  const { key } = await createKey(owner);
  const link = { pid: key.pid, chatId: "100005", gameId: "5" };
  dataOf(await moderator.send("PUT /dashboard/api/links", { body: link }));
  const entries = async (reader: Owner, query = "") =>
    (await reader.send(`GET /dashboard/api/audit${query}` as Line)).body.data?.entries;
  expect(await entries(moderator)).toMatchObject([{ action: "link.set", member: cyd }]);
  expect(await entries(moderator, "?action=key.created")).toEqual([]);
  expect(await entries(moderator, `?keyId=${textOf(key.id)}`)).toEqual([]);
  expect(await entries(moderator, "?chatId=100005")).toMatchObject([{ action: "link.set" }]);
  expect(await entries(owner)).toMatchObject([
    { action: "link.set", member: cyd },
    { action: "key.created", member: ada },
    { action: "member.added", member: null, actor: { type: "operator", id: "fixture" } },
    { action: "member.added" },
  ]);
  const page = await moderator.browser.get("/dashboard/audit");
  expect(page.text).not.toContain("Key created");
});

test("an account whose owner was erased is not the operator's, and loses its keys with its last admin", async () => {
  const [owner, admin] = ["100021", "100022"];
  const first = await signInOwner(server, owner);
  dataOf(await add(first, { chatId: admin, role: "admin" }), 201);
  const second = await signInOwner(server, admin);
  dataOf(await choose(second, `chat:${owner}`));
  const browser = await server.signIn(owner, undefined, "me");
  const erased = await browser.post("/me/erase", {
    ...formOf(await browser.get("/me/erase")),
    confirm: "erase",
  });
  expect(erased.status).toBe(200);
  const remaining = await signInOwner(server, admin);
  const { token } = await createKey(remaining);
  const lookup = (guildId: string) =>
    server.send(`GET /v2/chat?chatId=100001&guildId=${guildId}`, { key: token });
  expectForbidden(await lookup(guild), "not_guild_manager");
  expectData(await remove(remaining, admin), { removed: true });
  await expect.poll(async () => (await lookup(guild)).status).toBe(401);
});
