/** The chat bot in `examples`, with the service and a simulated Discord. */
import { generateKeyPairSync, sign } from "node:crypto";
import { type HeardRequest, type HttpTestServer, startHttpServer } from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { useFlowServer } from "../contract/flow_server.ts";
import { emptyGuild, guild } from "../support/fixtures.ts";
import { formOf } from "../support/flow_browser.ts";
import { type Answer, makeClient, textOf } from "../support/http.ts";
import { patience } from "../support/patience.ts";
import { type RunningProgram, startExample } from "./program.ts";

const { fixtures, url, newBrowser } = await useFlowServer({ ACCOUNTLINK_SESSION_CREATE_BURST: "1" });

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const stranger = generateKeyPairSync("ed25519").privateKey;
const publicHex = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");

const edits = new Map<string, Array<HeardRequest>>();
/** Answers as Discord, and refuses the first edit of each answer. */
const takeEdit = (request: HeardRequest) => {
  const heard = [...(edits.get(request.path) ?? []), request];
  edits.set(request.path, heard);
  return heard.length === 1 ? { status: 429, headers: { "retry-after": "1" } } : { body: {} };
};
const scope = Scope.makeUnsafe();
let discord: HttpTestServer;
beforeAll(async () => {
  discord = await Effect.runPromise(Scope.provide(startHttpServer(takeEdit), scope));
});
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)));

describe.each(["Node", "Deno", "Bun"])("the chat bot on %s", (runtime) => {
  // Each key can create only one session at once, because `ACCOUNTLINK_SESSION_CREATE_BURST` is 1.
  const keys = { linked: fixtures.key({ guildId: guild }), cancelled: fixtures.key() };
  const bots = new Map<keyof typeof keys, ReturnType<typeof makeClient>>();
  const programs: Array<RunningProgram> = [];
  const botOf = async (name: keyof typeof keys) => {
    const started = bots.get(name);
    if (started !== undefined) return started;
    const program = startExample(runtime, "chat_bot.ts", {
      ACCOUNTLINK_URL: url(),
      ACCOUNTLINK_KEY: keys[name],
      DISCORD_URL: discord.url,
      DISCORD_PUBLIC_KEY: publicHex,
      PORT: "0",
    });
    programs.push(program);
    const bot = makeClient(await program.untilPrinted(/^listening on (\S+)$/m));
    bots.set(name, bot);
    return bot;
  };
  afterAll(async () => {
    for (const { close } of bots.values()) close();
    await Promise.all(programs.map(({ stop }) => stop()));
  });

  /** Sends an interaction as Discord does. In a forgery, the body `signed` differs from the interaction. */
  const interact = async (
    name: keyof typeof keys,
    interaction: object,
    { as = privateKey, signed = interaction }: { as?: typeof privateKey; signed?: object } = {},
  ): Promise<Answer> => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = sign(null, Buffer.from(`${timestamp}${JSON.stringify(signed)}`), as).toString("hex");
    const headers = { "x-signature-ed25519": signature, "x-signature-timestamp": timestamp };
    return (await botOf(name)).send("POST /", { body: interaction, headers });
  };
  const verifyCommand = (token: string, guildId?: string) => ({
    type: 2,
    application_id: "42",
    token: `${token}-${runtime}`,
    data: { name: "verify" },
    ...(guildId === undefined
      ? { user: { id: "100001" } }
      : { guild_id: guildId, member: { user: { id: "100001" } } }),
  });
  const urlIn = ({ body }: Answer) => textOf(/"url":"([^"]*)"/.exec(JSON.stringify(body["data"]))?.[1]);
  const editOf = (token: string) =>
    vi.waitFor(() => {
      const heard = edits.get(`/webhooks/42/${token}-${runtime}/messages/@original`) ?? [];
      expect(heard).toHaveLength(2);
      expect(heard.map(({ method }) => method)).toEqual(["PATCH", "PATCH"]);
      return JSON.parse(heard[1]?.body ?? "") as unknown;
    }, patience);

  it("the chat bot answers a ping, and refuses requests without Discord's signature", async () => {
    const ping = { type: 1 };
    expect((await interact("linked", ping)).body).toEqual({ type: 1 });
    expect((await interact("linked", ping, { as: stranger })).status).toBe(401);
    expect((await interact("linked", ping, { signed: { type: 2 } })).status).toBe(401);
    const unsigned = await (await botOf("linked")).send("POST /", { body: ping });
    expect(unsigned.status).toBe(401);
  });

  it("the chat bot answers /verify with a button, and edits the answer after the user has linked", async () => {
    // The service refuses a session for another guild than the key's. The refused request does not count against the
    // limit of one session at once.
    const foreign = await interact("linked", verifyCommand("foreign", emptyGuild));
    expect(foreign.body).toEqual({
      type: 4,
      data: { content: "You cannot verify here.", components: [], flags: 64 },
    });

    const answer = await interact("linked", verifyCommand("linked", guild));
    const address = urlIn(answer);
    expect(address.startsWith(`${url()}/verify?sid=vs_`)).toBe(true);
    expect(answer.body).toEqual({
      type: 4,
      data: {
        content: expect.any(String),
        components: [
          { type: 1, components: [{ type: 2, style: 5, label: expect.any(String), url: address }] },
        ],
        flags: 64,
      },
    });

    const impatient = await interact("linked", verifyCommand("impatient", guild));
    expect(JSON.stringify(impatient.body)).toMatch(/Try again in \d+ seconds\./);

    const wrong = newBrowser();
    expect((await wrong.prove("chat", "100002", new URL(address).search)).status).toBe(403);
    const browser = newBrowser();
    const page = await browser.walk(new URL(address).search, "100001", "2");
    expect((await browser.post("/verify/confirm", formOf(page))).status).toBe(200);
    expect(await editOf("linked")).toEqual({ content: "You are linked to 2.", components: [] });
  });

  it("the chat bot edits its answer in a direct message after the user has cancelled", async () => {
    const address = urlIn(await interact("cancelled", verifyCommand("cancelled")));
    const browser = newBrowser();
    const page = await browser.walk(new URL(address).search);
    expect((await browser.post("/verify/cancel", formOf(page))).status).toBe(200);
    const content = "You cancelled, so nothing was linked. Type /verify to begin again.";
    expect(await editOf("cancelled")).toEqual({ content, components: [] });
  });
});
