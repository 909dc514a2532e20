/** Runs a server with a client site, platforms and a browser, for tests of the public flow's pages. */

import { runUntil, startHttpServer } from "@accountlink/test-servers";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, expect } from "vitest";
import { changed, chatUsers, gameUsers, guild, makeFixtures } from "../support/fixtures.ts";
import { type Json, type Send, textOf } from "../support/http.ts";
import { openPlainPage, signedIn } from "../support/plain_page.ts";
import { useServer } from "../support/server.ts";
import { closeTab, keepPicture, openPage, reach } from "./browser.ts";

const face = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="#5b7cfa"/><circle cx="4" cy="3" r="1.6" fill="#fff"/><rect x="1.4" y="5.2" width="5.2" height="2.8" rx="1.4" fill="#fff"/></svg>`;

const welcome =
  '<!doctype html><html lang="en"><title>Client</title><link rel="icon" href="data:,"><h1>Welcome back</h1>';

/** The site of a client, with a welcome page and a picture. */
const flowSite = startHttpServer(({ path }) =>
  path === "/face.svg"
    ? { headers: { "content-type": "image/svg+xml" }, body: face }
    : { headers: { "content-type": "text/html; charset=utf-8" }, body: welcome },
);

/** Runs one server and one browser for the tests of a file. The chat users 100002 and 100003 are already linked. */
export const useFlowPages = async () => {
  const site = await runUntil(afterAll)(flowSite);
  const picture = `${site.url}/face.svg`;
  const fixtures = makeFixtures();
  const key = fixtures.key({
    account: "Chess Club",
    redirectOrigins: [site.url],
    links: { 100002: "3", 100003: "2" },
  });
  const fixture = changed(fixtures.fixture, {
    platform: {
      // A name of maximum length without a space to break the line.
      guilds: [{ id: guild, name: "Rook&Bishop".repeat(9), members: [{ chatId: "100001" }] }],
      chatUsers: chatUsers.slice(0, 5).map((user) => ({ ...user, avatar: picture })),
      gameUsers: gameUsers.slice(0, 3).map((user) => ({
        ...user,
        avatar: { headshot: user.id === "1" ? picture : null, fullBody: null },
      })),
    },
  });
  const { send: sendAs, url } = useServer(() => ({
    fixture,
    env: {
      ACCOUNTLINK_SESSION_CREATE_BURST: "0",
      ACCOUNTLINK_PRIVACY_URL: "https://links.example/privacy",
      ACCOUNTLINK_CONTACT: "help@links.example",
    },
  }));

  closeTab();

  /** Sends a request of the client, from another address than the browser's. */
  const send: Send = (line, options) => sendAs(line, { key, from: fixtures.address(), ...options });
  return {
    fixtures,
    /** The site of the client, an allowed redirect origin. */
    clientUrl: site.url,
    send,
    newSession: async (asked: object = {}) => {
      const { body } = await send("POST /v2/sessions", { body: { clientId: "client", ...asked } });
      return { sid: textOf(body.data?.sid), pid: textOf(body.data?.pid) };
    },
    linkOf: async (chatId: string): Promise<Json> => {
      const { status, body } = await send(`GET /v2/verifications/chat?chatId=${chatId}`);
      expect(status).toBe(200);
      return body.data ?? {};
    },
    /** Opens a page of a site without a real browser, signed in as the user on the platform's button. */
    open: (path: `/${"me" | "dashboard"}`, as: RegExp) => signedIn(url(), fixtures.address(), path, as),
    /** Opens a path of the service as a new visitor, without a real browser. */
    walk: (path: string) => openPlainPage(url(), fixtures.address(), path),
    /** Opens a path of the service as a new visitor. */
    visit: (path: string, options: BrowserContextOptions) => openPage(`${url()}${path}`, options),
  };
};

export const press = async (page: Page, name: string | RegExp): Promise<void> => {
  await page.getByRole("link", { name }).or(page.getByRole("button", { name })).first().click();
};

export const signIn = async (page: Page, proof: "chat" | "game", user: RegExp | string): Promise<void> => {
  await press(page, `Sign in to the ${proof} platform`);
  await press(page, user);
};

/** Signs in to both platforms. */
export const walk = async (page: Page, chat = /User 1\b/, game = /Player 1\b/): Promise<void> => {
  await signIn(page, "chat", chat);
  await signIn(page, "game", game);
};

/** Presses Tab until this element has the focus, expects a visible focus, and presses Enter. */
export const enter = async (page: Page, name: RegExp, picture?: string) => {
  await reach(page, name);
  if (picture !== undefined) await keepPicture(page, picture);
  const address = page.url();
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.href !== address);
  await page.waitForLoadState();
};
