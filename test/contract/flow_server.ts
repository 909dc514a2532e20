/** Runs a server for tests of the public flow, with keys, sessions and browsers. */

import { freePort } from "@accountlink/test-servers";
import { afterAll, expect } from "vitest";
import { type DevPlatform, devPlatformOn } from "../support/dev_platform.ts";
import { type Fixtures, makeFixtures } from "../support/fixtures.ts";
import { type FlowBrowser, formOf, openBrowser, titleOf } from "../support/flow_browser.ts";
import { type Answer, type Json, type Send, textOf } from "../support/http.ts";
import { useServer } from "../support/server.ts";

/** An origin to which some keys of the tests allow redirects. */
export const clientOrigin = "https://client.example";

/**
 * Settings under which streams end after 2 seconds, so that clients must resume them. The burst limit of session
 * creations is small, but refills quickly.
 */
export const shortReads = {
  ACCOUNTLINK_POLL_INTERVAL: "1 second",
  ACCOUNTLINK_STREAM_MAX: "2 seconds",
  ACCOUNTLINK_SESSION_CREATE_BURST: "4",
  ACCOUNTLINK_SESSION_CREATE_REFILL: "1 second",
};

export interface FlowServer {
  readonly fixtures: Fixtures;
  readonly send: Send;
  readonly platform: DevPlatform;
  readonly url: () => string;
  readonly newBrowser: () => FlowBrowser;
  /** Returns two functions that together complete the verification of a session for chat user 100001. */
  readonly newUser: (sid: string) => {
    readonly begin: () => Promise<unknown>;
    readonly finish: () => Promise<void>;
  };
  /** Returns a key of a new scope without links. A test that needs any other key adds the key to `fixtures`. */
  readonly newKey: () => string;
  readonly newSession: (key: string, asked?: object) => Promise<Json>;
  readonly read: (key: string, sid: string) => Promise<Json>;
  readonly gameOf: (key: string, chatId?: string) => Promise<string | null>;
}

/**
 * Runs one server for the tests of a file. Every client and browser has its own address, and sessions can be created
 * and read without limits.
 */
export const useFlowServer = async (
  env: Readonly<Record<string, string>> = {},
  change: (fixture: Fixtures["fixture"]) => object = (fixture) => fixture,
): Promise<FlowServer> => {
  const fixtures = makeFixtures();
  // Keys must be in the fixture before the server starts.
  const keys = Array.from({ length: 60 }, () => fixtures.key());
  const port = await freePort();
  const server = useServer(() => ({
    fixture: change(fixtures.fixture),
    env: {
      ACCOUNTLINK_DEV_PLATFORM_PORT: String(port),
      ACCOUNTLINK_SESSION_CREATE_BURST: "0",
      ACCOUNTLINK_POLL_INTERVAL: "0 seconds",
      ...env,
    },
  }));
  const platform = devPlatformOn(port);
  const browsers: Array<FlowBrowser> = [];
  afterAll(() => {
    platform.close();
    for (const { close } of browsers) close();
  });
  const { send, url } = server;
  const newBrowser = () => {
    const browser = openBrowser(url, fixtures.address());
    browsers.push(browser);
    return browser;
  };

  return {
    fixtures,
    send,
    platform,
    url,
    newBrowser,
    newUser: (sid) => {
      const browser = newBrowser();
      const query = `?sid=${sid}`;
      return {
        begin: () => browser.prove("chat", "100001", query),
        finish: async () => {
          await browser.prove("game", "1");
          const page = await browser.get(`/verify${query}`);
          expect((await browser.post("/verify/confirm", formOf(page))).status).toBe(200);
        },
      };
    },
    newKey: () => textOf(keys.pop()),
    newSession: async (key, asked = {}) => {
      const created = await send("POST /v2/sessions", {
        key,
        from: fixtures.address(),
        body: { clientId: "client", ...asked },
      });
      expect({ status: created.status, error: created.body.error }).toEqual({
        status: 201,
        error: undefined,
      });
      return created.body.data ?? {};
    },
    read: async (key, sid) =>
      (await send(`GET /v2/sessions/${sid}`, { key, from: fixtures.address() })).body.data ?? {},
    gameOf: async (key, chatId = "100001") => {
      const { status, body } = await send(`GET /v2/verifications/chat?chatId=${chatId}`, { key });
      expect(status).toBe(200);
      const gameId: unknown = body.data?.gameId;
      return gameId === null ? null : textOf(gameId);
    },
  };
};

/** Expects a page with this status and title, and with headers against framing, scripts, caching and referrers. */
export const expectPage = (answer: Answer, status: number, title: string): void => {
  expect([answer.status, titleOf(answer.text)]).toEqual([status, title]);
  expect(answer.headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "x-request-id": expect.stringMatching(/^req_[0-9A-HJKMNP-TV-Z]{26}$/),
    "content-security-policy": expect.stringMatching(
      /^default-src 'none'; style-src 'self'; img-src data:[^;]*; form-action 'self'[^;]*; base-uri 'none'; frame-ancestors 'none'$/,
    ),
  });
  expect(answer.text).not.toMatch(/<script|<[^>]*\s(?:on\w+|style)=|="javascript:/i);
};
