/** Runs a server for tests of the public flow, with keys, sessions and browsers. */

import { expect } from "vitest";
import { formOf, titleOf } from "../support/flow_browser.ts";
import { type Answer, type Json, textOf } from "../support/http.ts";
import { dataOf } from "./contract_server.ts";
import { useSiteServer } from "./site_server.ts";

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

/**
 * Runs one server for the tests of a file. Every client and browser has its own address, and sessions can be created
 * and read without limits.
 */
export const useFlowServer = (
  env: Readonly<Record<string, string>> = {},
  change?: Parameters<typeof useSiteServer>[1],
) => {
  const server = useSiteServer(
    { ACCOUNTLINK_SESSION_CREATE_BURST: "0", ACCOUNTLINK_POLL_INTERVAL: "0 seconds", ...env },
    change,
  );
  const { fixtures, send, newBrowser } = server;
  // Keys must be in the fixture before the server starts.
  const keys = Array.from({ length: 60 }, () => fixtures.key());

  /** Returns a key of a new scope without links. A test that needs any other key adds the key to `fixtures`. */
  const newKey = () => textOf(keys.pop());
  const newSession = async (key: string, asked: object = {}) => {
    const body = { clientId: "client", ...asked };
    return dataOf(await send("POST /v2/sessions", { key, from: fixtures.address(), body }), 201);
  };

  return {
    ...server,
    newKey,
    newSession,
    /** Creates a session, and returns it with a new browser and the queries that enter its flow. */
    setup: async (asked: object = {}, key = newKey()) => {
      const { sid, pid } = await newSession(key, asked);
      const [bySid, byPid] = [`?sid=${textOf(sid)}`, `?pid=${textOf(pid)}`];
      return { key, sid: textOf(sid), pid: textOf(pid), bySid, byPid, browser: newBrowser() };
    },
    /** Returns two functions that together complete the verification of a session for chat user 100001. */
    newUser: (sid: string) => {
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
    read: async (key: string, sid: string): Promise<Json> =>
      (await send(`GET /v2/sessions/${sid}`, { key, from: fixtures.address() })).body.data ?? {},
    gameOf: async (key: string, chatId = "100001") => {
      const { status, body } = await send(`GET /v2/verifications/chat?chatId=${chatId}`, { key });
      expect(status).toBe(200);
      const gameId: unknown = body.data?.gameId;
      return gameId === null ? null : textOf(gameId);
    },
  };
};

/** Expects a page with this status, title and texts, and with headers against framing, scripts, caching and referrers. */
export const expectPage = (
  answer: Answer,
  status: number,
  title: string,
  ...texts: ReadonlyArray<string>
): void => {
  expect([answer.status, titleOf(answer.text)]).toEqual([status, title]);
  for (const text of texts) expect(answer.text).toContain(text);
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
