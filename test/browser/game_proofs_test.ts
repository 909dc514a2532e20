/** The ways to prove a game account in a real browser, from the channel of the community to the role. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { locationOf } from "../support/flow_browser.ts";
import { textOf } from "../support/http.ts";
import { useServer } from "../support/server.ts";
import { openPage } from "./browser.ts";
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

/** Opens the channel of the community as a member. */
const openChannel = async (chatId: string, options: object): Promise<Page> => {
  const body = { clientId: "channel", guildId: guild };
  const created = await server.send("POST /v2/sessions", { key, from: fixtures.address(), body });
  const sid = textOf(created.body.data?.sid);
  const { origin } = new URL(locationOf(await server.send(`GET /verify/chat/start?sid=${sid}`)));
  return openPage(`${origin}/chat/guilds/${guild}?as=${chatId}`, options);
};

/** Types /verify, and follows the link. */
const verify = async (page: Page) => {
  await page.getByLabel("Command").fill("/verify");
  await press(page, "Send");
  await press(page, "Verify");
  await expect.poll(() => page.title()).toBe("Link your accounts");
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
  const page = await openChannel("100001", phone);
  const channel = page.url();
  await verify(page);
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
  const page = await openChannel("100004", phone);
  const channel = page.url();
  await verify(page);
  await signIn(page, "chat", "Paul");
  await page.getByText("You have connected these accounts").waitFor();
  await expectUsable(page, "Link your accounts", "ways-connections");
  await press(page, "Use olga plays");
  await expectUsable(page, "Is this right?", "ways-connections-confirm");
  await press(page, "Link these accounts");
  await expect.poll(() => page.title()).toBe("Your accounts are linked");
  await expectRole(page, channel);
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
  const page = await openChannel("100002", { ...phone, permissions });
  const channel = page.url();
  await verify(page);
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
  expect(await page.locator("#words").textContent()).toBe(words);

  const [profile] = await Promise.all([page.context().waitForEvent("page"), press(page, "Open Roblox")]);
  await profile.getByLabel("About").fill(`Hello! ${words}.`);
  await press(profile, "Save");
  await profile.getByText(words).waitFor();
  await profile.close();
  await press(page, "I have done it");
  await page.getByText("You may remove the words now.").waitFor();
  await expectUsable(page, "Is this right?", "ways-words-confirm");
  await press(page, "Link these accounts");
  await expect.poll(() => page.title()).toBe("Your accounts are linked");
  await expectRole(page, channel);
});

it("whois and the page of a community say how accounts were linked", async () => {
  const channel = await openChannel("100003", phone);
  await channel.getByLabel("Command").fill("/whois max");
  await press(channel, "Send");
  await channel.getByText("Verified by words in the profile on Roblox.").waitFor();
  const page = await openPage(`${server.url()}/dashboard`, phone);
  await press(page, "Olga");
  await page.goto(`${server.url()}/dashboard/communities`);
  await press(page, "Chess Club");
  await page.getByRole("heading", { name: "How accounts were linked" }).waitFor();
  expect(await page.locator("#ways dt").allTextContents()).toEqual([
    "Connected on the chat platform",
    "Words in the profile on Roblox",
  ]);
  expect(await page.locator("#ways dd").allTextContents()).toEqual(["2", "1"]);
});
