/** Runs a server with platforms and a browser, for tests of the dashboard's pages. */
import { paths } from "@accountlink/pages/dashboard";
import type { BrowserContext, BrowserContextOptions } from "playwright-core";
import { expect } from "vitest";
import { changed, daysAgo, type Fixtures, gameUsers, makeFixtures, newToken } from "../support/fixtures.ts";
import { type PlainPage, signedIn } from "../support/plain_page.ts";
import { type ServerOptions, useServer } from "../support/server.ts";
import { closeTab, openPage } from "./browser.ts";

/** A hostile name of a community or user. */
export const hostile = `"'><img src=x onerror=alert(1)></textarea><script>alert(1)</script>`;

/** A guild that the owner manages and that has the bot. */
export const ownGuild = "700000000000000001";

const lists = [{ scope: "global" }, { scope: "guild", guildId: ownGuild }] as const;

export const shows = (page: PlainPage, words: string | RegExp, options?: { readonly interval: number }) =>
  expect.poll(page.reload, options).toMatch(words);

/** Keys and links of an account in its shared list and in the one of its own guild, with another game account in each. */
export const twoLists = (account: string, chatIds: ReadonlyArray<string>) => ({
  keys: lists.map((list) => ({ account, ...list, key: newToken() })),
  links: lists.flatMap((list, index) =>
    chatIds.map((chatId) => ({
      account,
      ...list,
      chatId,
      gameId: String(index + 1),
      lastVerifiedAt: daysAgo(1),
    })),
  ),
});

type Fixture = Fixtures["fixture"];

/** Runs one server and one browser for the tests of a file. */
export const useDashboard = (
  change: (fixture: Fixture) => Partial<Fixture> = () => ({}),
  started: Pick<ServerOptions, "here"> = {},
) => {
  const fixtures = makeFixtures();
  const roles = [{ id: "13", name: "Member", assignable: true }];
  const of = { members: [{ chatId: "100001", manager: true }, { chatId: "100002" }], roles };
  const fixture = changed(fixtures.fixture, {
    platform: {
      gameUsers: gameUsers.map((user) => ({ ...user, avatar: null })),
      guilds: [
        { id: ownGuild, name: "Rook & Bishop", ...of },
        { id: "700000000000000002", name: hostile, ...of },
        {
          id: "700000000000000003",
          name: "Without the bot",
          bot: false,
          roles,
          members: [...of.members, { chatId: "100003", manager: true }],
        },
      ],
      chatUsers: [
        { id: "100001", username: "ada", displayName: "Ada" },
        { id: "100002", username: "mallory", displayName: hostile },
        { id: "100003", username: "newcomer", displayName: "Newcomer" },
        { id: "100004", username: "busy", displayName: "Busy" },
        { id: "100006", username: "grace", displayName: "Grace" },
        { id: "100007", username: "linus", displayName: "Linus" },
      ],
    },
  });
  const { send, url, platform } = useServer(() => ({
    ...started,
    fixture: changed(fixture, change(fixture)),
    env: {
      ACCOUNTLINK_FREE_KEYS: "20",
      ACCOUNTLINK_FREE_PER_WINDOW: "0",
      ACCOUNTLINK_FREE_DAILY: "4",
      ACCOUNTLINK_WEBHOOK_NETWORKS: "127.0.0.0/8",
    },
  }));
  closeTab();
  return {
    url,
    send,
    platform,
    /** Opens a path of the dashboard or of /me without a real browser, signed in as the user on the platform's button. */
    open: async (path: string, as: RegExp, site: "dashboard" | "me" = "dashboard") => {
      const page = await signedIn(url(), fixtures.address(), `/${site}`, as);
      if (path !== page.path) await page.goto(path);
      return page;
    },
    /** Opens a path of the dashboard, signed in as a chat user, or without a sign-in if `as` is null. */
    visit: (path: string, as: RegExp | null, options: BrowserContextOptions) =>
      openPage(`${url()}${path}`, options, async (context) => {
        if (as !== null) await signIn(context, `${url()}/dashboard`, as);
      }),
  };
};

/** Signs in with plain requests, because loading the pages takes most of the time of a sign-in. */
const signIn = async ({ request }: BrowserContext, address: string, as: RegExp): Promise<void> => {
  const choice = await request.get(address);
  const buttons = [...(await choice.text()).matchAll(/<button name="user" value="(\d+)">(.*?)<\/button>/g)];
  const [, user] = buttons.find(([, , label = ""]) => as.test(label.replaceAll(/<[^>]*>/g, ""))) ?? [];
  if (user === undefined) throw new Error(`Cannot sign in: the platform has no user ${as}`);
  await request.post(choice.url(), { form: { user } });
};

export const tokenOn = ({ words }: PlainPage) => /alk_\w+?_[\w-]+/.exec(words)?.[0] ?? "";

/** Creates a key of the shared list, and returns the complete key. */
export const newKey = async (page: PlainPage, name: string): Promise<string> => {
  await page.goto(paths.newKey);
  await page.press("Create the key", { Name: name, "Shared list": true });
  return tokenOn(page);
};
