/** The ways to prove a game account in a real browser, from the channel of the community to the role. */
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { locationOf } from "../support/flow_browser.ts";
import { textOf } from "../support/http.ts";
import { openPlainPage, signedIn } from "../support/plain_page.ts";
import { useServer } from "../support/server.ts";
import { closeTab, focused, openPage } from "./browser.ts";
import { shows } from "./dashboard_pages.ts";
import { press, signIn } from "./flow_pages.ts";
import { expectUsable, phone } from "./looks.ts";

const guild = "700000000000000009";
const role = { id: "5", name: "Verified" };

/** A picture in the page itself, which needs no server. */
const face = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'/%3E";

const fixtures = makeFixtures();
const key = fixtures.key({ account: "club", guildId: guild });
fixtures.plan({ account: "club", guildId: guild, rules: [{ roleId: role.id, when: { is: "linked" } }] });

const chatUsers = [
  { id: "100001", username: "nora", displayName: "Nora", connections: [{ gameId: "1", verified: true }] },
  { id: "100002", username: "max", displayName: "Max" },
  { id: "100003", username: "olga", displayName: "Olga" },
  {
    id: "100004",
    username: "paul",
    displayName: "Paul",
    connections: ["2", "3"].map((gameId) => ({ gameId, verified: true })),
  },
];

const server = useServer(() => ({
  fixture: {
    ...fixtures.fixture,
    accounts: [{ name: "club", chatId: "100003" }],
    platform: {
      guilds: [
        {
          id: guild,
          name: "Chess Club",
          roles: [{ ...role, assignable: true }],
          members: chatUsers.map(({ id }) => ({ chatId: id, manager: id === "100003" })),
        },
      ],
      chatUsers,
      gameUsers: ["nora", "max", "olga"].map((name, index) => ({
        id: String(index + 1),
        username: `${name}_plays`,
        displayName: `${name} plays`,
        avatar: { headshot: face, fullBody: null },
      })),
    },
  },
  env: { ACCOUNTLINK_GAME_PROOFS: "connection,words", ACCOUNTLINK_GAME_NAME: "Roblox" },
}));

closeTab();

/** Returns the address of the community's channel on the dev platform, as a member sees it. */
const channelOf = async (chatId: string): Promise<string> => {
  const body = { clientId: "channel", guildId: guild };
  const created = await server.send("POST /v2/sessions", { key, from: fixtures.address(), body });
  const sid = textOf(created.body.data?.sid);
  const { origin } = new URL(locationOf(await server.send(`GET /verify/chat/start?sid=${sid}`)));
  return `${origin}/chat/guilds/${guild}?as=${chatId}`;
};

/** Types /verify in the channel, and follows the link. */
const verify = async (chatId: string, options: object) => {
  const channel = await channelOf(chatId);
  const page = await openPage(channel, options);
  await page.getByLabel("Command").fill("/verify");
  await press(page, "Send");
  await press(page, "Verify");
  await expect.poll(() => page.title()).toBe("Link your accounts");
  return { page, channel };
};

const expectRole = async (page: Page, channel: string) => {
  await page.goto(channel);
  await expect
    .poll(async () => {
      await page.reload();
      return page.locator("#roles").textContent();
    })
    .toContain(role.name);
};

it("a member with a connected account links it by three presses and one sign-in, and types nothing", async () => {
  const { page, channel } = await verify("100001", phone);
  const acts: Array<string> = [];
  await page.exposeFunction("tell", (act: string) => acts.push(act));
  await page.addInitScript(
    "for (const act of ['click', 'input']) addEventListener(act, () => tell(act), true)",
  );
  await page.reload();
  await press(page, "Sign in to the chat platform");
  await page.getByText("It also asks which accounts").waitFor();
  await press(page, "Nora");
  await expectUsable(page, "Is this right?", "ways-connection");
  await page.getByText("nora plays").waitFor();
  await page.getByText("You have connected this account").waitFor();
  await press(page, "Link these accounts");
  await expect.poll(() => page.title()).toBe("Your accounts are linked");
  expect(acts).toEqual(["click", "click", "click"]);
  await expectRole(page, channel);
});

it("a member with two connected accounts chooses one", async () => {
  const channel = await channelOf("100004");
  const page = await openPlainPage(server.url(), fixtures.address(), channel);
  await page.press("Send", { Command: "/verify" });
  await page.press("Verify");
  await page.press("Sign in to the chat platform");
  expect(await page.press("Paul")).toContain("You have connected these accounts");
  await expectUsable(page, "Link your accounts", "ways-connections");
  await page.press("Use olga plays");
  await expectUsable(page, "Is this right?", "ways-connections-confirm");
  await page.press("Link these accounts");
  expect(page.title).toBe("Your accounts are linked");
  await page.goto(channel);
  await shows(page, "Your roles: Verified");
});

const expectCopied = async (page: Page, words: string) => {
  await press(page, "Copy");
  await page.getByText("Copied").waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(words);
  // A reload keeps everything, and sends no form again.
  await page.reload();
  expect(await page.locator("#words").textContent()).toBe(words);
};

it("a member proves an account by words", async () => {
  const permissions = ["clipboard-read", "clipboard-write"];
  const { page, channel } = await verify("100002", { ...phone, permissions });
  await signIn(page, "chat", "Max");
  await page.getByLabel("User name on Roblox").fill("max_playz");
  await press(page, "Continue");
  await page.getByRole("alert").getByText("Nobody on Roblox has this user name").waitFor();
  expect(await page.getByLabel("User name on Roblox").inputValue()).toBe("max_playz");
  await expectUsable(page, "Your account on Roblox", "ways-words-unknown");
  await page.getByLabel("User name on Roblox").fill("max_plays");
  await press(page, "Continue");
  await page.getByText("Is this you?").waitFor();
  await page.getByText("Settings → Account info → About").waitFor();
  const words = (await page.locator("#words").textContent()) ?? "";
  expect(words.split(" ")).toHaveLength(6);
  await expectUsable(page, "Your account on Roblox", "ways-words");
  await expectCopied(page, words);
  await page.locator("#words").click();
  expect(await page.evaluate("getSelection().toString()")).toBe(words);
  await press(page, "I have done it");
  await page.getByRole("alert").getByText("The words are not in the profile yet").waitFor();
  expect(await focused(page)).toMatch(/^The words are not in the profile yet/);
  await page.getByText("Use another account on Roblox").click();
  const width = async (locator: Locator) => (await locator.boundingBox())?.width;
  expect(await width(page.getByLabel("User name on Roblox"))).toBe(await width(page.locator("h1")));
  expect(await page.locator("#words").textContent()).toBe(words);

  const [profile] = await Promise.all([page.context().waitForEvent("page"), press(page, "Open Roblox")]);
  await profile.getByLabel("About").fill(`Hello! ${words}.`);
  await press(profile, "Save");
  await profile.getByText(words).waitFor();
  await profile.close();
  await press(page, "I have done it");
  await page.getByText("You can remove the words now.").waitFor();
  await expectUsable(page, "Is this right?", "ways-words-confirm");
  await press(page, "Link these accounts");
  await expect.poll(() => page.title()).toBe("Your accounts are linked");
  await expectRole(page, channel);
});

it("whois and the page of a community say how accounts were linked", async () => {
  const page = await signedIn(server.url(), fixtures.address(), "/dashboard", /Olga/);
  await page.goto("/dashboard/communities");
  await page.press("Chess Club");
  expect(page.words).toMatch(
    /How accounts were linked.*Connected on the chat platform 2 .*Words in the profile on Roblox 1 /,
  );
  await page.goto(await channelOf("100003"));
  await page.press("Send", { Command: "/whois max" });
  expect(page.words).toContain("Verified by words in the profile on Roblox.");
});
