/**
 * Runs a server for tests of the two sites that users sign in to, the dashboard and /me. Simulated browsers open them.
 */
import { afterAll, expect } from "vitest";
import {
  type Account,
  accountOf,
  type Changes,
  changed,
  type Fixtures,
  type Guild,
  inGuilds,
  makeFixtures,
} from "../support/fixtures.ts";
import { type FlowBrowser, formOf, locationOf, openBrowser } from "../support/flow_browser.ts";
import type { Answer } from "../support/http.ts";
import { type ServerOptions, useServer } from "../support/server.ts";

export type SiteServer = ReturnType<typeof useSiteServer>;

export type Site = "dashboard" | "me";

/** Runs one server for all tests of a file. Each browser sends requests from its own client address. */
export const useSiteServer = (
  env: Readonly<Record<string, string>> = {},
  change: (fixture: Fixtures["fixture"]) => Changes = () => ({}),
  options: Pick<ServerOptions, "usual"> = {},
) => {
  const fixtures = makeFixtures();
  const server = useServer(() => ({
    fixture: changed(fixtures.fixture, change(fixtures.fixture)),
    env,
    ...options,
  }));
  const browsers: Array<FlowBrowser> = [];
  afterAll(() => {
    for (const { close } of browsers) close();
  });
  const newBrowser = () => {
    const browser = openBrowser(server.url, fixtures.address());
    browsers.push(browser);
    return browser;
  };
  return {
    ...server,
    fixtures,
    newBrowser,
    signIn: async (chatId: string, browser = newBrowser(), site: Site = "dashboard") => {
      const finished = await browser.get(await returnAs(browser, chatId, site));
      expect([finished.status, finished.headers.location]).toEqual([303, `/${site}`]);
      return browser;
    },
  };
};

/** Changes the fixture so that these chat users manage every guild, which gets these roles and other properties. */
export const managedBy =
  (chatIds: ReadonlyArray<string>, roles?: Guild["roles"], others: Partial<Guild> = {}) =>
  (fixture: Fixtures["fixture"]) => ({
    ...fixture,
    platform: inGuilds(fixture, ({ members = [] }) => ({
      members: members.map((member) => ({ ...member, manager: chatIds.includes(member.chatId) })),
      ...(roles && { roles }),
      ...others,
    })),
  });

/** A role that the bot may give, in every guild of `clubOf`. */
export const verified = { id: "5", name: "Verified", assignable: true };

/** The tier and the team of a club, and properties of every guild, whose roles come before `verified`. */
type Club = Pick<Account, "tier" | "team"> & Partial<Guild>;

/** Changes the fixture so that this chat user owns the account "club" and manages every guild. */
export const clubOf =
  (chatId: string, { tier = "free", team, roles = [], ...others }: Club = {}) =>
  (fixture: Fixtures["fixture"]) => ({
    ...managedBy([chatId], [...roles, verified], others)(fixture),
    accounts: [accountOf({ name: "club", chatId, tier, team }), ...(fixture.accounts ?? [])],
  });

/** Starts a sign-in to a site, signs in on the chat platform, and returns the callback URL without opening it. */
export const returnAs = async (
  browser: FlowBrowser,
  as: Parameters<FlowBrowser["signIn"]>[1],
  site: Site = "dashboard",
): Promise<string> => browser.signIn(locationOf(await browser.get(`/${site}/sign-in`)), as);

/** Downloads the data of the signed-in user from /me. */
export const exportOf = async (browser: FlowBrowser): Promise<Answer> =>
  browser.post("/me/export", formOf(await browser.get("/me/export")));

/** Returns the `Set-Cookie` header that sets the named cookie, split at each semicolon. */
export const setCookie = (answer: Answer, name: string): ReadonlyArray<string> =>
  (answer.headers["set-cookie"] ?? []).find((line) => line.startsWith(`${name}=`))?.split("; ") ?? [];
