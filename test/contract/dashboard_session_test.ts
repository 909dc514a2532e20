/** Sign-in sessions of the dashboard, and attacks on them. */

import { dashboardRoutes } from "@accountlink/http-api";
import { sections } from "@accountlink/pages/dashboard";
import { runInProcess } from "@accountlink/server/test_command_line";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { formOf, titleOf } from "../support/flow_browser.ts";
import { textOf } from "../support/http.ts";
import { whyHidden } from "../support/storage.ts";
import {
  dataOf,
  expectData,
  expectForbidden,
  expectInvalid,
  expectRefusal,
  expectUnknown,
} from "./contract_server.ts";
import { createKey, headersOf, type Owner, signInOwner } from "./dashboard.ts";
import { useSiteServer } from "./site_server.ts";

const server = useSiteServer(
  { ACCOUNTLINK_FREE_KEYS: "0", ACCOUNTLINK_FREE_WINDOW: "0 seconds" },
  () => ({ accounts: [{ name: "acme", chatId: "100011", tier: "premium" }] }),
  // The commands of the operator open the storage.
  { usual: "embedded" },
);

const [ada, bob] = ["100001", "100002"];

/**
 * Returns a request line and a body for every route of the dashboard. A body may be empty, because the server checks
 * access before the body.
 */
const routes = (id: string) =>
  dashboardRoutes.map(({ method, path, source }) => {
    const line = `${method} ${path.replace(":id", id).replace(/:\w+/, "x")}` as Line;
    return [line, source === "body" ? {} : undefined] as const;
  });

type Line = Parameters<Owner["send"]>[0];

const operate = async (...words: ReadonlyArray<string>) => {
  const { code, stderr } = await runInProcess(words, server.storage().env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
};

const request = (body: object | undefined, headers: Readonly<Record<string, string>>) =>
  body === undefined ? { headers } : { body, headers };

test("the session shows account, user, role and expiry", async () => {
  const owner = await signInOwner(server, ada);
  const { body, headers } = await owner.send("GET /dashboard/api/session");
  expect(headers["cache-control"]).toBe("no-store");
  expect(body.meta).toEqual({
    requestId: headers["x-request-id"],
    version: "2.0.0",
    rateLimit: { limit: null, remaining: null, resetAt: null, retryAfter: null, scope: null },
  });
  const { expiresAt, ...data } = body.data ?? {};
  expect(data).toEqual({
    account: { name: `chat:${ada}`, tier: "free" },
    user: {
      chatId: ada,
      username: "user_1",
      displayName: "User 1",
      avatar: "https://chat.example/avatars/1.png",
    },
    csrfToken: owner.csrfToken,
    role: "owner",
    scopes: null,
    accounts: [{ name: `chat:${ada}`, role: "owner" }],
    invitations: [],
    keys: { used: expect.any(Number), allowed: null },
  });
  expect(Math.abs(Date.parse(textOf(expiresAt)) - Date.now() - 12 * 3_600_000)).toBeLessThan(120_000);
});

test("the session belongs to the account that an operator assigned to the chat user", async () => {
  const { body } = await (await signInOwner(server, "100011")).send("GET /dashboard/api/session");
  expect(body.data?.account).toEqual({ name: "acme", tier: "premium" });
  expect(body.data?.keys).toEqual({ used: 0, allowed: 10 });
});

test("signing out ends the session, and with all=true every session of the user", async () => {
  const [owner, elsewhere] = [await signInOwner(server, bob), await signInOwner(server, bob)];
  const [third, other] = [await signInOwner(server, bob), await signInOwner(server, ada)];
  const ended = await owner.send("DELETE /dashboard/api/session");
  expectData(ended, { signedOut: true });
  expect(ended.headers["set-cookie"]?.[0]).toMatch(/^accountlink_session=; Max-Age=0; Path=\/dashboard/);
  expectRefusal(await owner.send("GET /dashboard/api/session"), 401, "INVALID_SESSION", null);
  expectInvalid(await elsewhere.send("DELETE /dashboard/api/session?all=yes"), "all: expected true or false");
  expectData(await elsewhere.send("DELETE /dashboard/api/session?all=true"), { signedOut: true });
  for (const each of [elsewhere, third]) {
    expectRefusal(await each.send("GET /dashboard/api/session"), 401, "INVALID_SESSION", null);
  }
  expect((await other.send("GET /dashboard/api/session")).status).toBe(200);
});

test("no page or JSON answer can be shown in a frame, and pages are neither cached nor load foreign scripts", async () => {
  const owner = await signInOwner(server, ada);
  for (const { path } of Object.values(sections)) {
    const { headers } = await owner.browser.get(path);
    expect([path, headers]).toMatchObject([
      path,
      {
        "x-frame-options": "DENY",
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "content-security-policy":
          "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      },
    ]);
  }
  for (const [by, line, expected] of [
    [owner, "GET /dashboard/api/session", 200],
    [owner, "GET /dashboard/api/usage?days=0", 400],
    [server, "GET /dashboard/api/session", 401],
    [owner, "GET /dashboard/api", 404],
    [owner, "GET /dashboard/api/nowhere", 404],
    [owner, "GET /dashboard/api/keys/", 404],
    [server, "POST /dashboard/api/session", 405],
    [server, "OPTIONS /dashboard/api/session", 204],
    [owner, "GET /dashboard/api/%", 400],
    [server, "GET /dashboard/%61pi/session", 401],
  ] as const) {
    const { status, headers } = await by.send(line as Line);
    expect([line, status, headers["x-frame-options"]]).toEqual([line, expected, "DENY"]);
  }
});

test("every dashboard route refuses requests without a valid session", async () => {
  const { csrfToken } = await signInOwner(server, ada);
  const every = routes("Aa0Bb1Cc2Dd3");
  for (const [cookie, tried] of [
    [`accountlink_session=${"x".repeat(43)}`, every],
    ["", every.slice(0, 3)],
    ["accountlink_session=", every.slice(0, 3)],
  ] as const) {
    for (const [line, body] of tried) {
      const headers = { cookie, origin: server.url(), "x-csrf-token": csrfToken };
      expectRefusal(await server.send(line, request(body, headers)), 401, "INVALID_SESSION", null);
    }
  }
});

test("every dashboard route refuses writes without the right origin and CSRF token", async () => {
  const owner = await signInOwner(server, ada);
  const other = await signInOwner(server, bob);
  const { id } = await createKey(owner);
  const right = headersOf(owner.browser, server.url(), owner.csrfToken);
  const { cookie } = right;
  const forged = [
    { cookie, "x-csrf-token": owner.csrfToken },
    { cookie, origin: server.url() },
    { ...right, origin: "https://evil.example" },
    { ...right, origin: "null" },
    { ...right, origin: `${server.url()}.evil.example` },
    { ...right, "x-csrf-token": other.csrfToken },
    { ...right, "x-csrf-token": "" },
  ];
  const writes = routes(id).filter(([each]) => !each.startsWith("GET "));
  for (const [index, headers] of forged.entries()) {
    for (const [line, body] of index === 0 ? writes : writes.slice(0, 3)) {
      expectForbidden(await server.send(line, request(body, headers)), "csrf");
    }
  }
  expect((await owner.send("GET /dashboard/api/session")).status).toBe(200);
});

test("keys, webhooks and scopes of another account are not found", async () => {
  const [owner, stranger] = [await signInOwner(server, "100015"), await signInOwner(server, "100016")];
  const { id, token, key } = await createKey(owner);
  const hook = { url: "https://hook.example/", scope: "global" };
  const { webhook } = dataOf(await owner.send("POST /dashboard/api/webhooks", { body: hook }), 201);
  const unknown = ["x", "%00", "%f0%9f%8e%ae"];
  const ids = {
    keys: [id, token, "Aa0Bb1Cc2Dd3", ...unknown],
    webhooks: [textOf(webhook?.id), "wh_00000000000000000000", ...unknown],
    scopes: [textOf(key.pid), "pid_0123456789abcdefghij", ...unknown],
  };
  const mine = {
    name: "Mine",
    confirm: "Mine",
    description: "Mine",
    displayName: "Mine",
    chatId: "100002",
    gameId: "1",
  };
  const refused = async (line: string, body?: object) =>
    expectUnknown(await stranger.send(line as Line, body && { body }));
  const ofIds = dashboardRoutes.filter(({ path }) => /\/(?:keys|webhooks|scopes)\/:/.test(path));
  expect(ofIds.length).toBeGreaterThan(8);
  for (const { method, path, source } of ofIds) {
    for (const each of ids[path.split("/")[3] as keyof typeof ids]) {
      const filled = path.replace(/:\w+/, each).replace(":eventId", "evt_1");
      await refused(`${method} ${filled}`, source === "body" ? mine : undefined);
    }
  }
  for (const keyId of ids.keys) {
    for (const name of ["usage", "audit"]) await refused(`GET /dashboard/api/${name}?keyId=${keyId}`);
  }
  for (const each of ids.scopes) {
    const body = { ...mine, pid: decodeURIComponent(each) };
    await refused(`GET /dashboard/api/links?pid=${each}`);
    for (const method of ["PUT", "DELETE"]) await refused(`${method} /dashboard/api/links`, body);
  }
  const resent = `POST /dashboard/api/webhooks/${ids.webhooks[0]}/deliveries/evt_1/resend` as const;
  expectUnknown(await owner.send(resent));
});

test("the owner and keys of a suspended account are refused until an operator restores the account", async ({
  skip,
}) => {
  if (whyHidden !== null) skip(whyHidden);
  const [owner, other] = [await signInOwner(server, "100013"), await signInOwner(server, bob)];
  const { id, token } = await createKey(owner);
  const ofOther = await createKey(other);
  const lookUp = (key: string) => server.send("GET /v2/chat?chatId=100001", { key });
  const expectUse = async () => {
    expectRefusal(await lookUp(token), 404, "LINK_NOT_FOUND", null);
    expect((await owner.send("GET /dashboard/api/session")).status).toBe(200);
  };
  await expectUse();

  await operate("accounts", "suspend", "chat:100013");
  await eventually(async () => expectRefusal(await lookUp(token), 401, "INVALID_API_KEY", null));
  for (const [line, body] of routes(id)) {
    expectForbidden(await owner.send(line, request(body, {})), "account_suspended");
  }
  const page = await (await server.signIn("100013")).get("/dashboard");
  expect([page.status, titleOf(page.text)]).toEqual([403, "You may not do this"]);
  expect(page.text).toContain('href="/dashboard/sign-in"');
  expectRefusal(await lookUp(ofOther.token), 404, "LINK_NOT_FOUND", null);
  expect((await other.send("GET /dashboard/api/session")).status).toBe(200);

  await operate("accounts", "restore", "chat:100013");
  await eventually(expectUse);
});

test("an erasure does not lift a suspension, and /me says so before", async ({ skip }) => {
  if (whyHidden !== null) skip(whyHidden);
  await server.signIn("100014");
  await operate("accounts", "suspend", "chat:100014");
  const browser = await server.signIn("100014", undefined, "me");
  const asked = await browser.get("/me/erase");
  expect(asked.text).toContain("The suspension stays");
  await browser.post("/me/erase", { ...formOf(asked), confirm: "erase" });
  const page = await (await server.signIn("100014")).get("/dashboard");
  expect([page.status, titleOf(page.text)]).toEqual([403, "You may not do this"]);
});
