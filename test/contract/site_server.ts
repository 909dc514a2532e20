/**
 * Runs a server for tests of the two sites that users sign in to, the dashboard and /me. Simulated browsers open them.
 */
import { freePort } from "@accountlink/test-servers";
import { afterAll, expect } from "vitest";
import { type DevPlatform, devPlatformOn } from "../support/dev_platform.ts";
import { type Fixtures, makeFixtures } from "../support/fixtures.ts";
import { type FlowBrowser, locationOf, openBrowser } from "../support/flow_browser.ts";
import { type Answer, makeClient, type Send } from "../support/http.ts";
import { useServer } from "../support/server.ts";
import type { TestStorage } from "../support/storage.ts";

export interface SiteServer {
  readonly fixtures: Fixtures;
  readonly send: Send;
  readonly platform: DevPlatform;
  /** Sends a request that changes data of the dev platform, such as `PUT /control/guilds/…`. */
  readonly control: Send;
  readonly url: () => string;
  readonly output: () => string;
  readonly storage: () => TestStorage;
  readonly newBrowser: () => FlowBrowser;
  /** Signs in with the browser, or by default with a new one, and returns the browser. */
  readonly signIn: (chatId: string, browser?: FlowBrowser, site?: Site) => Promise<FlowBrowser>;
}

export type Site = "dashboard" | "me";

/** Runs one server for all tests of a file. Each browser sends requests from its own client address. */
export const useSiteServer = async (
  env: Readonly<Record<string, string>> = {},
  change: (fixture: Fixtures["fixture"]) => object = (fixture) => fixture,
): Promise<SiteServer> => {
  const fixtures = makeFixtures();
  const port = await freePort();
  const server = useServer(() => ({
    fixture: change(fixtures.fixture),
    env: { ACCOUNTLINK_DEV_PLATFORM_PORT: String(port), ...env },
  }));
  const platform = devPlatformOn(port);
  const control = makeClient(`http://127.0.0.1:${port}`);
  const browsers: Array<FlowBrowser> = [];
  afterAll(() => {
    platform.close();
    control.close();
    for (const { close } of browsers) close();
  });
  const newBrowser = () => {
    const browser = openBrowser(server.url, fixtures.address());
    browsers.push(browser);
    return browser;
  };
  return {
    fixtures,
    platform,
    control: control.send,
    send: server.send,
    url: server.url,
    output: server.output,
    storage: server.storage,
    newBrowser,
    signIn: async (chatId, browser = newBrowser(), site = "dashboard") => {
      const finished = await browser.get(await returnAs(browser, chatId, site));
      expect([finished.status, finished.headers.location]).toEqual([303, `/${site}`]);
      return browser;
    },
  };
};

/** Changes the fixture so that this chat user manages every guild. */
export const managedBy = (chatId: string) => (fixture: Fixtures["fixture"]) => ({
  ...fixture,
  platform: {
    ...fixture.platform,
    guilds: fixture.platform?.guilds?.map((each) => ({
      ...each,
      members: each.members?.map((member) => ({ ...member, manager: member.chatId === chatId })),
    })),
  },
});

/** A role that the bot may give, in every guild of `clubOf`. */
export const verified = { id: "5", name: "Verified", assignable: true };

/** Changes the fixture so that this chat user owns the account "club" and manages every guild. */
export const clubOf = (chatId: string) => (fixture: Fixtures["fixture"]) => {
  const managed = managedBy(chatId)(fixture);
  return {
    ...managed,
    accounts: [{ name: "club", chatId }],
    platform: {
      ...managed.platform,
      guilds: managed.platform.guilds?.map((each) => ({ ...each, roles: [verified] })),
    },
  };
};

/** Starts a sign-in to a site, signs in on the chat platform, and returns the callback URL without opening it. */
export const returnAs = async (
  browser: FlowBrowser,
  as: Parameters<FlowBrowser["signIn"]>[1],
  site: Site = "dashboard",
): Promise<string> => browser.signIn(locationOf(await browser.get(`/${site}/sign-in`)), as);

/** Returns the `Set-Cookie` header that sets the named cookie, split at each semicolon. */
export const setCookie = (answer: Answer, name: string): ReadonlyArray<string> =>
  (answer.headers["set-cookie"] ?? []).find((line) => line.startsWith(`${name}=`))?.split("; ") ?? [];
