import { readFileSync } from "node:fs";
import { KeyStore } from "@accountlink/core/keys";
import { Effect, Layer } from "effect";
import { expect, it, vi } from "vitest";
import {
  AccountLink,
  AccountLinkError,
  createAccountLink,
  InvalidOptions,
  InvalidParameter,
  memory,
  type Options,
  promisedAccountLink,
} from "./mod.ts";
import { promiseApiSuite } from "./test_promise_api.ts";

promiseApiSuite(memory, { shares: false });

const gameUserExists = () => true;
const http = { publicUrl: "https://links.example", clientAddress: "none" } as const;
const aSecret = "expected 32 or more random bytes, or these in base64";
const aFunction = "expected a function that tells whether a game user exists";
const refused: ReadonlyArray<readonly [options: object, problem: string]> = [
  [{}, `gameUserExists is missing, ${aFunction}`],
  [{ gameUserExists: 1 }, "gameUserExists is 1, expected a function"],
  [{ gameUserExists, storage: memory() }, `secret is missing, ${aSecret}`],
  [{ gameUserExists, secret: new Uint8Array(31) }, `secret has 31 bytes, ${aSecret}`],
  [{ gameUserExists, secret: "hunter2!" }, `secret is not base64, ${aSecret}`],
  [
    { gameUserExists, redirectOrigins: ["example.com"] },
    'redirectOrigins.0 is "example.com", expected an origin such as "https://example.com"',
  ],
  [{ gameUserExists, secrets: "" }, "secrets is unknown, expected one of storage, secret, scope, "],
  [{ gameUserExists, http: { ...http, docs: true } }, "http.docs is true, expected a function"],
  [{ gameUserExists, secret: [] }, `secret is an empty list, ${aSecret}`],
  [{ gameUserExists, scope: { tier: "gold" } }, 'scope.tier is "gold", expected one of free, premium'],
  [{ gameUserExists, limits: { free: {} } }, "limits.free.keys is missing; limits.free.links is missing"],
  [{ gameUserExists, sessions: { life: -1 } }, "sessions.life is -1, expected a whole number, 0 or more"],
  [
    {
      gameUserExists,
      languages: { de: { "go.title": "Code", "flow.help": 1, "flow.sign_in": "Los" }, de_AT: {}, tlh: {} },
    },
    [
      "languages.de: go.title is not in English",
      "languages.de: flow.help is of type number, expected a message",
      "languages.de: flow.sign_in: {platform} is missing, in English text",
      "languages.de_AT is not a language tag, expected one such as de or pt-BR",
      "languages.tlh has 0 messages, expected at least ",
    ].join("; "),
  ],
];

it.each(refused)("createAccountLink refuses %j", async (options, problem) => {
  const opened = createAccountLink(options as Options);
  await expect(opened).rejects.toBeInstanceOf(InvalidOptions);
  await expect(opened).rejects.toThrow(`Cannot create accountlink: ${problem}`);
});

it("an embedder brings a language, and readers get in English what it lacks", async () => {
  const english = JSON.parse(readFileSync(new URL("../pages/languages/en.json", import.meta.url), "utf8"));
  const { "code.hint": hint, ...brought } = english;
  const languages = { sv: { ...brought, "code.title": "Skriv in din kod" }, ur: { ...brought } };
  const al = await createAccountLink({ gameUserExists, http, languages });
  const read = async (query: string, headers = {}) =>
    (await al.fetch(new Request(`https://links.example/go${query}`, { headers }))).text();
  const page = await read("", { "accept-language": "sv-FI, en;q=0.5" });
  expect(page).toContain('<html lang="sv" dir="ltr">');
  expect(page).toContain("<title>Skriv in din kod</title>");
  expect(page).toContain(hint.split("{")[0]);
  expect(page).toContain('lang="sv" hreflang="sv" aria-current="true">Svenska</a>');
  expect(await read("?lang=ur-PK")).toContain('<html lang="ur" dir="rtl">');
  await al.close();
});

it("an account has a visible name, unless it is stored", async () => {
  const scope = { account: "\u200B" };
  const problem = "scope.account expected well-formed text .*, at least one character visible";
  await expect(createAccountLink({ gameUserExists, scope })).rejects.toThrow(new RegExp(problem, "u"));
  const services = await Effect.runPromise(
    Effect.scoped(Layer.build(AccountLink.layerMemory({ gameUserExists }))),
  );
  const al = await promisedAccountLink(services);
  await expect(al.scope(scope)).rejects.toBeInstanceOf(InvalidParameter);
  const stored = { name: scope.account, chatId: null, tier: "free" } as const;
  await Effect.runPromise(
    Effect.provide(
      KeyStore.use((store) => store.ensureAccount(stored)),
      services,
    ),
  );
  expect(await (await al.scope(scope)).links.get("100001")).toBeNull();
});

it("the service uses the scope of its options", async () => {
  const al = await createAccountLink({ gameUserExists, scope: { account: "acme" } });
  await al.links.set("100001", "1");
  const acme = await al.scope({ account: "acme" });
  expect(await acme.links.get("100001")).toMatchObject({ gameId: "1" });
  expect(await (await al.scope({})).links.get("100001")).toBeNull();
  await expect(al.scope({ guild: "700000000000000001" } as object)).rejects.toThrow("guild (is unknown");
  await al.close();
});

it("each call of close resolves once the storage is closed", async () => {
  let isClosed = false;
  const release = Effect.andThen(
    Effect.sleep(10),
    Effect.sync(() => {
      isClosed = true;
    }),
  );
  const storage = Layer.merge(memory(), Layer.effectDiscard(Effect.addFinalizer(() => release)));
  const al = await createAccountLink({ gameUserExists, storage, secret: new Uint8Array(32) });
  void al.close();
  await al.close();
  expect(isClosed).toBe(true);
});

it("a request whose platform never answers is answered with 503 once close has waited for it", async () => {
  const never = vi.fn<() => Promise<never>>(() => new Promise(() => {}));
  const al = await createAccountLink({ gameUserExists: never, http });
  const { token } = await al.keys.create({ kind: "staff" });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({ chatId: "100001", gameId: "1" });
  const answer = al.fetch(new Request("https://links.example/v2/game", { method: "PATCH", headers, body }));
  await vi.waitFor(() => expect(never).toHaveBeenCalled());
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const closing = al.close();
  await vi.advanceTimersByTimeAsync(10_000);
  vi.useRealTimers();
  await closing;
  expect((await answer).status).toBe(503);
});

it("a first request rejects with the library's error if the service closes while it starts", async () => {
  const al = await createAccountLink({ gameUserExists, http });
  const answer = al.fetch(new Request("https://links.example/healthz"));
  const [ended] = await Promise.allSettled([answer, al.close()]);
  expect(ended).toMatchObject({ reason: { code: "CLOSED", details: null } });
});

it("fetch and chat.answer reject after close with the library's error, whatever its options", async () => {
  const request = new Request("https://links.example/healthz");
  for (const options of [{ gameUserExists }, { gameUserExists, http }]) {
    const al = await createAccountLink(options);
    await al.close();
    for (const call of [al.fetch(request.clone()), al.chat.answer(request.clone()), al.links.get("100001")]) {
      const closed = await call.then(
        () => null,
        (error: unknown) => error,
      );
      expect(closed).toBeInstanceOf(AccountLinkError);
      expect(closed).toMatchObject({ code: "CLOSED", details: null });
    }
  }
});

it("the option gameProofs decides which ways have routes, and refuses unknown ways and none", async () => {
  const al = await createAccountLink({ gameUserExists, http, gameProofs: ["oauth"] });
  const statusOf = async (path: string) => {
    const answer = await al.fetch(new Request(`https://links.example${path}`, { method: "POST" }));
    return answer.status;
  };
  // A path without a route is 404; a route refuses the method or the form.
  expect(await statusOf("/verify/game/connection")).toBe(404);
  expect(await statusOf("/verify/game/start")).toBe(405);
  await al.close();
  for (const gameProofs of [["password"], []]) {
    const options = { gameUserExists, gameProofs } as unknown as Options;
    await expect(createAccountLink(options)).rejects.toBeInstanceOf(InvalidOptions);
  }
});

it.each([[false], [true], [[]], ["100001"], [new Response(null, { status: 404 })]])(
  "nobody is a member for whom the program answers %j",
  async (answer) => {
    const guildMember = (() => answer) as () => never;
    const al = await createAccountLink({ gameUserExists, guild: () => ({}), guildMember });
    const set = al.links.set("100001", "1", { guildId: "700000000000000001" });
    const message = expect.stringMatching(/^guildMember returned .* expected an object or null$/);
    await expect(set).rejects.toMatchObject({ _tag: "PlatformUnavailable", cause: { message } });
    await al.close();
  },
);

it("a profile has its own fields of the program's object, those of the right kind", async () => {
  const logged = vi.spyOn(console, "log").mockReturnValue();
  const created = new Date(0);
  const member: object = { joined: new Date(NaN) };
  const row: object = {
    id: 42,
    username: "ada",
    displayName: undefined,
    badges: 1n,
    created,
    passwordHash: "x",
  };
  const al = await createAccountLink({
    gameUserExists,
    gameProfile: () => row,
    chatUser: () => ({ created: "yesterday" }),
    guild: () => ({}),
    guildMember: () => member,
  });
  await al.links.set("100001", "1");
  const resolved = { guildId: "700000000000000001", resolved: true } as const;
  const found = await al.links.get("100001", resolved);
  const rest = { description: null, isBanned: null, hasVerifiedBadge: null, avatar: null };
  const given = { id: "1", username: "ada", displayName: null, created: "1970-01-01T00:00:00.000Z" };
  expect(found?.resolved.game).toEqual({ ...given, badges: null, groups: null, ...rest });
  expect(found?.resolved.chat?.guild).toEqual({ nickname: null, joined: null, roles: [] });
  await al.links.get("100001", resolved);
  const lines: ReadonlyArray<string> = logged.mock.calls.map((parts) => parts.at(-1));
  expect(found?.resolved.chat?.created).toBe(null);
  expect(lines.toSorted()).toEqual([
    "chatUser returned fields of the wrong kind: created",
    "gameProfile returned fields of the wrong kind: badges",
    "guildMember returned fields of the wrong kind: joined",
  ]);
  logged.mockRestore();
  await al.close();
});
