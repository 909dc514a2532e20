import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { decodeFixture } from "@accountlink/core/fixture";
import { expect, test } from "@accountlink/test-servers/effect";
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import { Context, Effect, Layer, Redacted } from "effect";
import { HttpServer } from "effect/http";
import { devPlatform } from "../server/server.ts";

const oauthClient = { clientId: "service", clientSecret: Redacted.make("a secret: 100%+") };
const redirectUri = "http://127.0.0.1:9/callback?from=here";

/** Starts a dev platform on a free port, and stops it with the scope. Returns its URL. */
const started = Effect.gen(function* () {
  const { platform: fixture } = yield* decodeFixture(JSON.stringify(document));
  const client = { ...oauthClient, redirectUris: [redirectUri] };
  const platform = devPlatform({
    fixture,
    botToken: Redacted.make("bot-token"),
    clients: { chat: client, game: client },
  });
  const listener = NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 });
  const running = yield* Layer.build(Layer.provideMerge(platform, listener));
  return { url: HttpServer.formatAddress(Context.get(running, HttpServer.HttpServer).address) };
});

const chatUser = {
  id: "10001",
  username: "ada",
  displayName: `Ada <"&'>`,
  avatar: "https://images.test/a?b=1&c=2",
  banner: null,
  created: null,
};
const document = { platform: { chatUsers: [chatUser, { id: "10002", username: "grace" }, { id: "10003" }] } };

const verifier = "v".repeat(43);
const challenge = createHash("sha256").update(verifier).digest("base64url");

const request: Record<string, string> = {
  client_id: oauthClient.clientId,
  redirect_uri: redirectUri,
  state: "a state",
  code_challenge: challenge,
  code_challenge_method: "S256",
};

const present = (parameters: Record<string, string | null>) =>
  Object.fromEntries(
    Object.entries(parameters).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );

/** Returns the query of an authorization request. `other` replaces parameters; null removes a parameter. */
const queryWith = (other: Record<string, string | null> = {}) =>
  new URLSearchParams(present({ ...request, ...other })).toString();

const send = (url: string, form?: Record<string, string>, headers: Record<string, string> = {}) =>
  Effect.promise(async () => {
    const posted = form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) };
    const response = await fetch(url, { redirect: "manual", headers, ...posted });
    return { status: response.status, headers: response.headers, text: await response.text() };
  });

test("the authorize page has a button for each user, escapes names, and allows only its style, pictures and the redirect", function* () {
  const { url } = yield* started;
  const { status, headers, text } = yield* send(`${url}/chat/oauth/authorize?${queryWith()}`);
  expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(text.match(/<button [^>]*>/g)).toEqual([
    '<button name="user" value="10001">',
    '<button name="user" value="10002">',
    '<button name="user" value="10003">',
    '<button class="deny" name="deny" value="1">',
  ]);
  expect(text).toContain("Ada &lt;&quot;&amp;&#39;&gt; <small>@ada · 10001</small>");
  expect(text).toContain("grace <small>@grace · 10002</small>");
  expect(text).toContain("10003 <small>10003</small>");
  expect(text).toContain('src="https://images.test/a?b=1&amp;c=2" alt=""');
  const style = /<style>(.*)<\/style>/s.exec(text)?.[1] ?? "";
  expect(headers.get("content-security-policy")?.split("; ")).toEqual([
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    "img-src http: https: data:",
    "form-action 'self' http://127.0.0.1:9",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]);
  expect(text).not.toMatch(/<script| style=| on\w+=/);
  const asking = yield* send(`${url}/chat/oauth/authorize?${queryWith({ scope: "identify connections" })}`);
  expect(asking.text).toContain('name="refuse" value="connections"');
});

test.each([
  queryWith({ client_id: "another" }),
  queryWith({ redirect_uri: "http://127.0.0.1:9/callback" }),
  queryWith({ redirect_uri: `${redirectUri}/more` }),
  queryWith({ redirect_uri: "https://elsewhere.test/callback?from=here" }),
  queryWith({ code_challenge: null }),
  queryWith({ code_challenge: verifier.slice(1) }),
  queryWith({ code_challenge_method: "plain" }),
  `${queryWith()}&client_id=service`,
])(
  "the authorize page redirects nobody for a request of no client, to no registered address, without PKCE or with a repeated parameter: %s",
  function* (query) {
    const { url } = yield* started;
    for (const form of [undefined, { user: "10001" }, { deny: "1" }]) {
      const { status, headers, text } = yield* send(`${url}/chat/oauth/authorize?${query}`, form);
      expect([status, headers.get("location")]).toEqual([400, null]);
      expect(text).toContain("<h1>This sign-in cannot go on</h1>");
    }
  },
);

test.each<Record<string, string>>([{}, { user: "10009" }, { user: "" }, { deny: "0" }])(
  "the authorize page refuses the choice %o",
  function* (form) {
    const { url } = yield* started;
    const answer = yield* send(`${url}/chat/oauth/authorize?${queryWith()}`, form);
    expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
  },
);

const redemption = (code: string) => ({
  client_id: oauthClient.clientId,
  client_secret: Redacted.value(oauthClient.clientSecret),
  code,
  redirect_uri: redirectUri,
  code_verifier: verifier,
});

const approved = (url: string) =>
  Effect.map(
    send(`${url}/chat/oauth/authorize?${queryWith()}`, { user: "10001" }),
    ({ headers }) => new URL(headers.get("location") ?? "").searchParams.get("code") ?? "",
  );

test("the token endpoint issues a token of the user, not the bot's token", function* () {
  const { url } = yield* started;
  const answer = yield* send(`${url}/chat/oauth/token`, redemption(yield* approved(url)));
  const { access_token } = JSON.parse(answer.text);
  expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);

  const asUser = { authorization: `Bearer ${access_token}` };
  const me = yield* send(`${url}/chat/api/users/@me`, undefined, asUser);
  expect([me.status, JSON.parse(me.text)]).toEqual([200, chatUser]);
  for (const path of ["10001", "@me/connections"])
    expect(yield* send(`${url}/chat/api/users/${path}`, undefined, asUser)).toMatchObject({ status: 401 });
  for (const token of ["", "another", "bot-token"]) {
    const headers = { authorization: `Bearer ${token}` };
    expect(yield* send(`${url}/chat/api/users/@me`, undefined, headers)).toMatchObject({ status: 401 });
    const { status } = yield* send(`${url}/chat/api/users/10001`, undefined, headers);
    expect(status).toBe(token === "bot-token" ? 200 : 401);
  }
});

test("the token endpoint accepts only codes of its own platform, once", function* () {
  const { url } = yield* started;
  const redeem = (code: string, platform = "chat") =>
    Effect.map(send(`${url}/${platform}/oauth/token`, redemption(code)), ({ status }) => status);
  const code = yield* approved(url);
  const racing = Array.from({ length: 4 }, () => redeem(code));
  const statuses = yield* Effect.all(racing, { concurrency: "unbounded" });
  expect(statuses.map(String).toSorted()).toEqual(["200", "400", "400", "400"]);
  expect(yield* redeem(yield* approved(url), "game")).toBe(400);
});

test.each<[other: Record<string, string | null>, status: number, error: string]>([
  [{ client_id: "another" }, 401, "invalid_client"],
  [{ client_secret: "another" }, 401, "invalid_client"],
  [{ code: "another" }, 400, "invalid_grant"],
  [{ code_verifier: "short" }, 400, "invalid_grant"],
  [{ code_verifier: challenge }, 400, "invalid_grant"],
  [{ redirect_uri: "http://127.0.0.1:9/callback" }, 400, "invalid_grant"],
  ...["client_id", "client_secret", "code", "redirect_uri", "code_verifier"].map(
    (name): [Record<string, null>, number, string] => [{ [name]: null }, 400, "invalid_request"],
  ),
])(
  "the token endpoint refuses %o with %i %s, and a wrong client keeps the code valid",
  function* ([other, status, error]) {
    const { url } = yield* started;
    const form = redemption(yield* approved(url));
    const refused = yield* send(`${url}/chat/oauth/token`, present({ ...form, ...other }));
    expect([refused.status, JSON.parse(refused.text)]).toEqual([status, { error }]);
    if (error === "invalid_client") {
      expect(yield* send(`${url}/chat/oauth/token`, form)).toMatchObject({ status: 200 });
    }
  },
);
