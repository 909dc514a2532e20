/** What was asked for before a user erased everything: it brings nothing of the user back. */
import { beforeAll, describe, expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { type FlowBrowser, formOf } from "../support/flow_browser.ts";
import { type Answer, textOf } from "../support/http.ts";
import { checked, expectRefusal } from "./contract_server.ts";
import { idempotentWrites } from "./idempotent_writes.ts";
import { useSiteServer } from "./site_server.ts";

const site = await useSiteServer({ ACCOUNTLINK_POLL_INTERVAL: "0 seconds" });
const { fixtures, platform, signIn, newBrowser } = site;
const send = checked(site.send);

/** The user of every request here who erases everything, and one who does not. */
const [ada, bob] = ["100001", "100002"];

const erase = async () => {
  const browser = await signIn(ada, newBrowser(), "me");
  const { csrf = "" } = formOf(await browser.get("/me/erase"));
  expect((await browser.post("/me/erase", { csrf, confirm: "erase" })).status).toBe(200);
};

const newKey = (options: Parameters<typeof fixtures.key>[0] = {}) =>
  fixtures.key({ tier: "premium", links: { [ada]: "1", [bob]: "2" }, ...options });

const linkOf = async (key: string, query = `chatId=${ada}`) => {
  const { body } = await send(`GET /v2/verifications/chat?${query}`, { key, from: fixtures.address() });
  return body.data?.gameId;
};

describe("A request under an idempotency key", () => {
  const named = { "idempotency-key": "before" };
  const writes = Object.entries(idempotentWrites).map(([id, write]) => ({ id, key: newKey(), ...write }));
  const paths = new Map<string, string>();
  const ask = (key: string, line: `${string} ${string}`, body?: object, headers = named): Promise<Answer> =>
    send(line, { key, headers, from: fixtures.address(), ...(body === undefined ? {} : { body }) });
  const [failed, fresh] = [newKey(), newKey()];
  const late = { chatId: ada, gameId: "7" };

  beforeAll(async () => {
    for (const { id, key, prepare, line, body } of writes) {
      paths.set(id, await prepare(send, key));
      expect((await ask(key, line(paths.get(id) ?? ""), body)).status).toBeLessThan(300);
    }
    await platform.fail({ mode: "down", platform: "game" });
    expect((await ask(failed, "PATCH /v2/game", late)).status).toBe(503);
    await platform.recover();
    await erase();
  });

  test.each(writes.filter(({ body }) => JSON.stringify(body ?? {}).includes(ada)))(
    "is not done again after the erasure of its user: $id",
    async ({ id, key, line, body, other }) => {
      const path = paths.get(id) ?? "";
      const again = await ask(key, line(path), body);
      expectRefusal(again, 409, "CONFLICT", { reason: "user_erased" });
      expect(again.headers["idempotent-replayed"]).toBeUndefined();
      expectRefusal(await ask(key, line(path), other), 409, "CONFLICT", { reason: "idempotency_key_reused" });
      expect(await linkOf(key)).toBe(null);
    },
  );

  test("is not done again if it had failed", async () => {
    expectRefusal(await ask(failed, "PATCH /v2/game", late), 409, "CONFLICT", { reason: "user_erased" });
    expect(await linkOf(failed)).toBe(null);
  });

  test.each(writes.filter(({ body }) => !JSON.stringify(body ?? {}).includes(ada)))(
    "is answered again if it names another user, or none: $id",
    async ({ id, key, line, body }) => {
      const again = await ask(key, line(paths.get(id) ?? ""), body);
      expect(again.headers["idempotent-replayed"]).toBe("true");
    },
  );

  test("is done when it is new, under another key or none", async () => {
    expect((await ask(fresh, "PATCH /v2/game", late)).body.data?.updated).toBe(true);
    expect((await ask(failed, "PATCH /v2/game", late, { "idempotency-key": "after" })).status).toBe(200);
    const unnamed = await send("PATCH /v2/game", {
      key: String(writes[0]?.key),
      from: fixtures.address(),
      body: late,
    });
    expect(unnamed.status).toBe(200);
  });
});

describe("A proof from before", () => {
  const [global, guildKey] = [newKey(), newKey({ guildId: guild })];
  interface Begun {
    readonly key: string;
    readonly sid: string | undefined;
    readonly browser: FlowBrowser;
    readonly form: Readonly<Record<string, string>>;
  }
  const begun = new Map<string, Begun>();

  const create = async (key: string, body: object) => {
    const scope = key === guildKey ? { guildId: guild } : {};
    const { body: answer } = await send("POST /v2/sessions", {
      key,
      from: fixtures.address(),
      body: { clientId: "client", ...scope, ...body },
    });
    return answer.data ?? {};
  };

  const begin = async (title: string, key: string, query: string, sid?: string) => {
    const browser = newBrowser();
    begun.set(title, { key, sid, browser, form: formOf(await browser.walk(query, ada, "3")) });
  };

  const titles = [
    "a session of anybody",
    "a session of the user",
    "a session of a guild",
    "a community's page",
  ];

  beforeAll(async () => {
    const anybody = await create(global, {});
    const [any, own] = [textOf(anybody["sid"]), textOf((await create(global, { chatId: ada }))["sid"])];
    const ofGuild = textOf((await create(guildKey, {}))["sid"]);
    await begin("a session of anybody", global, `?sid=${any}`, any);
    await begin("a session of the user", global, `?sid=${own}`, own);
    await begin("a session of a guild", guildKey, `?sid=${ofGuild}`, ofGuild);
    await begin("a community's page", global, `?pid=${textOf(anybody["pid"])}`);
    await erase();
  });

  test.each(titles)("links nobody after the erasure: %s", async (title) => {
    const { key, sid, browser, form } = begun.get(title) as Begun;
    expect(form["csrf"]).toBeTruthy();
    expect((await browser.post("/verify/confirm", form)).status).toBe(409);
    const query = key === guildKey ? `chatId=${ada}&guildId=${guild}` : `chatId=${ada}`;
    expect(await linkOf(key, query)).toBe(null);
    if (sid === undefined) return;
    const { body } = await send(`GET /v2/sessions/${sid}`, { key, from: fixtures.address() });
    expect(body.data).toMatchObject({ state: "failed", error: "link_removed", chatId: null, gameId: null });
  });

  test("does not keep the user from a new one", async () => {
    const sid = textOf((await create(global, {}))["sid"]);
    const browser = newBrowser();
    const page = await browser.walk(`?sid=${sid}`, ada, "3");
    expect((await browser.post("/verify/confirm", formOf(page))).status).toBe(200);
    expect(await linkOf(global)).toBe("3");
  });
});
