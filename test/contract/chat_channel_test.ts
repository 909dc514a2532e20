/** The channel that the dev platform plays: its commands are signed by its own key. */
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { formOf } from "../support/flow_browser.ts";
import { clubOf, useSiteServer, verified } from "./site_server.ts";

const [ada, cyd] = ["100001", "100003"];

const { fixtures, newBrowser, platform } = useSiteServer({}, clubOf(ada));
fixtures.key({ account: "club", guildId: guild });
fixtures.plan({ account: "club", guildId: guild, rules: [{ roleId: verified.id, when: { is: "linked" } }] });

const page = `/chat/guilds/${guild}` as const;

/** Sends the form of the channel's page, and returns the page that follows. */
const act = async (chatId: string, fields: Readonly<Record<string, string>>) => {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const body = new URLSearchParams({ as: chatId, ...fields }).toString();
  const sent = await platform.send(`POST ${page}`, { body, headers });
  return sent.status === 303 ? await platform.send(`GET ${page}?as=${chatId}`) : sent;
};

test("a member verifies from /verify in the channel, and the button gives the role", async () => {
  const offered = await act(cyd, { command: "/verify" });
  const url = /class="button" href="([^"]+)"/.exec(offered.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
  expect(new URL(url).searchParams.get("guildId")).toBe(guild);
  expect((await platform.send(`GET ${page}?as=${ada}`)).text).not.toContain("/verify?pid");

  const browser = newBrowser();
  const asked = await browser.walk(new URL(url).search, cyd, "3");
  expect((await browser.post("/verify/confirm", formOf(asked))).status).toBe(200);

  const shown = await act(cyd, { command: "/verify" });
  expect(shown.text).toContain("<strong>Player 3</strong>");
  const messages = [...shown.text.matchAll(/name="message" value="([^"]+)"/g)];
  await act(cyd, { message: messages.at(-1)?.[1] ?? "", action: "roles" });
  await expect
    .poll(async () => (await platform.send(`GET ${page}?as=${cyd}`)).text)
    .toMatch(/<span id="roles">[^<]*Verified/);
});

test("everybody sees the panel", async () => {
  await act(ada, { command: "/panel Prove who you are" });
  const { text } = await platform.send(`GET ${page}?as=${cyd}`);
  expect(text).toContain("Prove who you are");
  expect(text).toContain("Everybody sees this");
});

test("a command that does not exist, and one without its member, say so", async () => {
  expect((await act(ada, { command: "/dance" })).text).toContain("There is no command");
  expect((await act(ada, { command: "/whois nobody" })).text).toContain("or no member with that name");
  expect((await act(ada, { command: "/whois @user_2" })).text).toContain("no linked account");
});

test("a slow answer is deferred, and edited into the channel later", async () => {
  await platform.fail({ platform: "chat", mode: "slow", delayMs: 2_600, under: "/chat/api/guilds" });
  const waiting = await act(ada, { command: "/update user_4" });
  expect(waiting.text).toContain("The service is thinking");
  await expect
    .poll(async () => (await platform.send(`GET ${page}?as=${ada}`)).text, { timeout: 10_000 })
    .toContain("try again in a minute");
  await platform.recover();
});

test("an unknown guild has no channel", async () => {
  expect((await platform.send("GET /chat/guilds/12345")).status).toBe(400);
});
