/** A client of the dashboard's JSON API, signed in as an owner. */
import { expect } from "vitest";
import { guild } from "../support/fixtures.ts";
import type { FlowBrowser } from "../support/flow_browser.ts";
import { type Answer, type Json, listOf, type RequestOptions, type Send, textOf } from "../support/http.ts";
import { checked, dataOf } from "./contract_server.ts";
import { answerChecker, servedDocument } from "./openapi_schemas.ts";
import type { SiteServer } from "./site_server.ts";

type Path = `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`;

export interface Owner {
  readonly browser: FlowBrowser;
  /** The token of the account that the owner chose last. */
  readonly csrfToken: string;
  /** Sends a request with the headers of a dashboard page. The `headers` of the options override them. */
  readonly send: (line: Path, options?: RequestOptions) => Promise<Answer>;
}

export const headersOf = (browser: FlowBrowser, origin: string, csrfToken: string) => ({
  cookie: `accountlink_session=${browser.cookies.get("accountlink_session") ?? ""}`,
  origin,
  "x-csrf-token": csrfToken,
});

const patternOf = (template: string): RegExp => new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`);

/** Makes a `send` that compares each answer with the OpenAPI document. */
export const documented = async (send: Send): Promise<Send> => {
  const document = await servedDocument(send);
  const check = answerChecker(document);
  const operationsByPath = Object.entries(document["paths"] ?? {}).map(
    ([template, operations]) => [template, patternOf(template), operations] as const,
  );
  return async (line, options) => {
    const [method = "", path = ""] = line.replace(/\?.*/, "").split(" ");
    const answer = await send(line, options);
    const [template, , operations] = operationsByPath.find(([, pattern]) => pattern.test(path)) ?? [];
    const isKnown = template !== undefined && operations?.[method.toLowerCase()] !== undefined;
    expect({ line, problem: isKnown ? check(method, template, answer) : null }).toEqual({
      line,
      problem: null,
    });
    return answer;
  };
};

/**
 * For each server, the `send` that compares answers with the OpenAPI document. It is kept, because reading the document
 * takes longer than most tests.
 */
const sends = new WeakMap<SiteServer, Promise<Send>>();

export const signInOwner = async (server: SiteServer, chatId: string): Promise<Owner> => {
  const browser = await server.signIn(chatId);
  const known = sends.get(server) ?? documented(checked(server.send));
  sends.set(server, known);
  const send = await known;
  const session = await send("GET /dashboard/api/session", { headers: headersOf(browser, server.url(), "") });
  let csrfToken = textOf(dataOf(session).csrfToken);
  return {
    browser,
    get csrfToken() {
      return csrfToken;
    },
    send: async (line, { headers, ...options } = {}) => {
      const answer = await send(line, {
        from: "198.18.255.1",
        ...options,
        headers: { ...headersOf(browser, server.url(), csrfToken), ...headers },
      });
      const { csrfToken: next }: Json = answer.body?.data ?? {};
      if (next !== undefined) csrfToken = textOf(next);
      return answer;
    },
  };
};

/** Opens these pages of the dashboard, and every page that links lead to. Returns their sources by their addresses. */
export const pagesFrom = async (browser: FlowBrowser, addresses: ReadonlyArray<string>) => {
  const pages = new Map<string, string>();
  const waiting = [...addresses];
  for (const address of waiting) {
    const { status, text } = await browser.get(address);
    // Moderators have no overview: it leads on to the links.
    expect([address, status]).toEqual([address, address === "/dashboard" && status === 303 ? 303 : 200]);
    pages.set(address, text);
    for (const [, href = ""] of text.matchAll(/ href="(\/dashboard[^"#]*)/g)) {
      const target = href.replaceAll("&amp;", "&");
      // The link to sign in is hidden until a sign-in has ended.
      if (!/\.(?:csv|css)\b|\/sign-in$/.test(target) && !waiting.includes(target)) waiting.push(target);
    }
  }
  return pages;
};

export const createKey = async (
  owner: Owner,
  chosen: object = {},
): Promise<{ readonly token: string; readonly id: string; readonly key: Json }> => {
  const created = await owner.send("POST /dashboard/api/keys", {
    body: { name: "Bot", scope: "global", ...chosen },
  });
  const { token, key = {} } = dataOf(created, 201);
  return { token: textOf(token), id: textOf(key.id), key };
};

/** The scopes of the owner's account, the global one first. */
export const scopesOf = async (owner: Owner): Promise<ReadonlyArray<Json>> =>
  listOf(dataOf(await owner.send("GET /dashboard/api/scopes")).scopes);

const pidIn = (scopes: ReadonlyArray<Json>, guildId?: string) =>
  textOf(scopes.find((each) => guildId === undefined || textOf(each.guildId ?? "") === guildId)?.pid);

/** The public ID of the owner's scope of this guild, or else of the owner's first scope. */
export const pidOf = async (owner: Owner, guildId?: string): Promise<string> =>
  pidIn(await scopesOf(owner), guildId);

/** Signs an owner in, and reads the public IDs of the first scope and of the scope of this guild, or else the first again. */
export const enterDashboard = async (server: SiteServer, chatId: string, guildId?: string) => {
  const owner = await signInOwner(server, chatId);
  const scopes = await scopesOf(owner);
  const [global, pid] = [pidIn(scopes), pidIn(scopes, guildId)];
  return { owner, browser: owner.browser, csrf: owner.csrfToken, global, pid };
};

export const planOf = async (owner: Owner, pid: string, guildId = guild): Promise<Json> =>
  dataOf(await owner.send(`GET /dashboard/api/roles?pid=${pid}&guildId=${guildId}`)).plan ?? {};

/** Stores a plan of `guild`, which is on and has no rules unless the change says otherwise. */
export const putPlan = (owner: Owner, change: object): Promise<Answer> =>
  owner.send("PUT /dashboard/api/roles", {
    body: { guildId: guild, rules: [], nickname: null, state: "on", ...change },
  });
