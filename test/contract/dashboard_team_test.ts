/** The Team page, its forms, and the choice between several accounts. */
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { type FlowBrowser, formOf, titleOf } from "../support/flow_browser.ts";
import { useSiteServer } from "./site_server.ts";

const [ada, bob, cyd] = ["100001", "100002", "100003"];

const { signIn, fixtures } = useSiteServer();
const team = { [bob]: "owner", [cyd]: "moderator" } as const;
fixtures.account({ name: "club", chatId: ada, tier: "premium", team });
fixtures.key({ account: "club" });
fixtures.key({ account: "club", guildId: guild });

const postTo = async (browser: FlowBrowser, path: string, fields: Readonly<Record<string, string>>) => {
  const { csrf = "" } = formOf(await browser.get("/dashboard/team"));
  return browser.post(`/dashboard/team/${path}`, { csrf, ...fields });
};

test("the team page shows the reason of a refused change, and keeps the typed values", async () => {
  const browser = await signIn(ada);
  const unknown = await postTo(browser, "add", { who: "nobody_here", role: "admin" });
  expect([unknown.status, titleOf(unknown.text)]).toEqual([400, "Team – accountlink"]);
  expect(unknown.text).toContain('value="nobody_here"');
  expect(unknown.text).toContain("Nobody was found with this user name.");
  expect(unknown.text).toMatch(/name="role" value="admin" checked/);
  const twice = await postTo(browser, "add", { chatId: cyd, role: "admin" });
  expect(twice.status).toBe(409);
  expect(twice.text).toContain("This user is in the team or invited already.");
});

test("communities of which none is ticked are refused at their boxes, in the form that was sent", async () => {
  const browser = await signIn(ada);
  const invited = await postTo(browser, "add", { who: "100004", role: "admin", of: "some" });
  expect(invited.status).toBe(400);
  expect(invited.text).toMatch(/<li><a href="#scopes">Which communities<\/a>: expected 1 to/);
  expect(invited.text).not.toContain("#who");
  expect(invited.text).toMatch(/id="who"[^>]* value="100004"/);
  expect(invited.text).toMatch(/name="of" value="some" checked/);
  const change = { chatId: cyd, [`role-${cyd}`]: "admin", [`of-${cyd}`]: "some" };
  const changed = await postTo(browser, "role", change);
  expect(changed.status).toBe(400);
  expect(changed.text).toContain(`<li><a href="#scopes-${cyd}">Which communities</a>`);
  const [, card = ""] = /<details open>(.*?)<\/details>/s.exec(changed.text) ?? [];
  expect(card).toContain(`id="scopes-${cyd}-problem"`);
  expect(card).toContain(`name="role-${cyd}" value="admin" checked`);
  expect(card).toContain(`name="of-${cyd}" value="some" checked`);
});

test("a member is removed by a form that is sent twice", async () => {
  const browser = await signIn(ada);
  const user = { chatId: "100006" };
  expect((await postTo(browser, "add", { ...user, role: "moderator" })).status).toBe(303);
  for (let press = 0; press < 2; press++) {
    const { headers } = await postTo(browser, "remove", user);
    expect(headers.location).toBe("/dashboard/team?done=memberRemoved");
  }
});

test("moderators can see and leave the team, but cannot remove other members", async () => {
  const browser = await signIn(cyd);
  const { text } = await browser.get("/dashboard/team");
  expect(text).toContain("User 1");
  expect(text).not.toContain("Invite to the team");
  expect(text.match(/<details>/g)).toHaveLength(1);
  expect((await postTo(browser, "remove", { chatId: ada })).status).toBe(403);
  const left = await postTo(browser, "remove", { chatId: cyd });
  expect([left.status, left.headers.location]).toEqual([303, "/dashboard/signed-out"]);
  expect((await browser.get("/dashboard/team")).headers.location).toBe("/dashboard/sign-in");
});

test("a user without a team learns from the overview how to be invited", async () => {
  const { text } = await (await signIn("100031")).get("/dashboard");
  expect(text).toContain("one of its owners can invite you by your ID, 100031");
});
