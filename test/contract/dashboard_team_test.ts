/** The Team page, its forms, and the choice between several accounts. */
import { expect, test } from "vitest";
import { type FlowBrowser, formOf, titleOf } from "../support/flow_browser.ts";
import { useSiteServer } from "./site_server.ts";

const [ada, bob, cyd] = ["100001", "100002", "100003"];

const members = [
  { chatId: bob, role: "owner" },
  { chatId: cyd, role: "moderator" },
];

const { signIn } = useSiteServer({}, (fixture) => ({
  ...fixture,
  accounts: [{ name: "club", chatId: ada, tier: "premium", members }],
}));

const postTo = async (browser: FlowBrowser, path: string, fields: Readonly<Record<string, string>>) => {
  const { csrf = "" } = formOf(await browser.get("/dashboard/team"));
  return browser.post(`/dashboard/team/${path}`, { csrf, ...fields });
};

/** Chooses an account, which accepts an invitation to it. */
const accept = async (browser: FlowBrowser, account: string) => {
  const { csrf = "" } = formOf(await browser.get("/dashboard/account/choose"));
  return browser.post("/dashboard/account/choose", { csrf, account });
};

const rolesOn = ({ text }: { readonly text: string }) =>
  [...text.matchAll(/<h2>([^<]*?)\s*(?:<span[^]*?<\/span>)?<\/h2>[^]*?<strong>(\w+)<\/strong> since/g)].map(
    ([, name, role]) => `${name} ${role}`,
  );

test("owners can add members by name or ID, change their roles and remove them, and the audit log says who did it", async () => {
  const browser = await signIn(ada);
  const asked = await postTo(browser, "add", { who: "@user_4", role: "moderator" });
  expect([asked.status, titleOf(asked.text)]).toEqual([200, "Invite User 4? – accountlink"]);
  expect(asked.text).toContain("(@user_4, ID 100004) to <strong>club</strong> as <strong>Moderator</strong>");
  expect((await browser.get("/dashboard/team")).text).not.toContain("User 4");
  const added = await browser.post("/dashboard/team/add", formOf(asked));
  expect([added.status, added.headers.location]).toEqual([303, "/dashboard/team?done=memberInvited"]);
  await postTo(browser, "add", { chatId: "100005", role: "admin" });
  await postTo(browser, "role", { chatId: "100005", "role-100005": "moderator" });
  for (const invited of ["100004", "100005"]) await accept(await signIn(invited), "club");
  const page = await browser.get("/dashboard/team");
  expect([page.status, titleOf(page.text)]).toEqual([200, "Team – accountlink"]);
  const roles = ["User 1 Owner", "User 4 Moderator", "User 5 Moderator"];
  expect(rolesOn(page)).toEqual(expect.arrayContaining(roles));
  await postTo(browser, "remove", { chatId: "100005" });
  expect((await browser.get("/dashboard/team")).text).not.toContain("User 5");
  const { text } = await browser.get("/dashboard/audit");
  expect(text).toContain("User 1 removed");
  expect(text).toContain("User 1 invited");
});

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

test("an invited user sees who invites them to what, and can decline after a question", async () => {
  const owner = await signIn("100025");
  await postTo(owner, "add", { chatId: "100026", role: "admin" });
  expect((await owner.get("/dashboard/team")).text).toContain("Not accepted yet.");
  const browser = await signIn("100026");
  expect((await browser.get("/dashboard")).headers.location).toBe("/dashboard/account/choose");
  const page = await browser.get("/dashboard/account/choose");
  expect(titleOf(page.text)).toBe("You are invited – accountlink");
  expect(page.text).toContain(
    "<strong>User 25</strong> invites you to <strong>User 25’s account</strong> as <strong>Admin</strong>",
  );
  const { csrf = "" } = formOf(page);
  const declined = await browser.post("/dashboard/account/decline", { csrf, account: "chat:100025" });
  expect([declined.status, declined.headers.location]).toEqual([303, "/dashboard/account?done=declined"]);
  expect((await browser.get("/dashboard")).status).toBe(200);
  expect((await owner.get("/dashboard/team")).text).not.toContain("User 26");
});

test("a user without a team learns from the overview how to be invited", async () => {
  const { text } = await (await signIn("100031")).get("/dashboard");
  expect(text).toContain("one of its owners can invite you by your ID, 100031");
});
