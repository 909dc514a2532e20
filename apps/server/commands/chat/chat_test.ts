/** The commands `chat install` and `chat show`. */
import { generateKeyPairSync } from "node:crypto";
import { type HeardRequest, type HttpAnswer, startHttpServer } from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { expect, it, onTestFinished } from "vitest";
import { runInProcess } from "../test_command_line.ts";

const applicationId = "816547628409595165";
const publicUrl = "https://links.example";
const interactionsUrl = `${publicUrl}/chat/interactions`;

/** A Discord with an application. It sets an address only if `answers` says that a service answers there. */
const startDiscord = async ({ address = null as string | null, answers = true } = {}) => {
  const { publicKey } = generateKeyPairSync("ed25519");
  const application = {
    id: applicationId,
    verify_key: publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex"),
    interactions_endpoint_url: address,
  };
  let commands: ReadonlyArray<object> = [];
  const answer = ({ method, path, body, headers }: HeardRequest): HttpAnswer => {
    if (headers["authorization"] !== "Bot the-token") return { status: 401, body: { code: 0 } };
    if (path === "/applications/@me") {
      if (method !== "PATCH") return { status: 200, body: application };
      if (!answers) return { status: 400, body: { code: 50_035 } };
      Object.assign(application, JSON.parse(body));
      return { status: 200, body: application };
    }
    if (path !== `/applications/${applicationId}/commands`) return { status: 404, body: { code: 0 } };
    if (method === "PUT") commands = JSON.parse(body);
    return {
      status: 200,
      body: commands.map((command, index) => ({ ...command, id: String(index), version: "1", nsfw: false })),
    };
  };
  const scope = Scope.makeUnsafe();
  onTestFinished(() => Effect.runPromise(Scope.close(scope, Exit.void)));
  const server = await Effect.runPromise(Scope.provide(startHttpServer(answer), scope));
  const env = {
    ACCOUNTLINK_PLATFORM: "live",
    ACCOUNTLINK_PUBLIC_URL: publicUrl,
    ACCOUNTLINK_CHAT_API_URL: server.url,
    ACCOUNTLINK_CHAT_BOT_TOKEN: "the-token",
    ACCOUNTLINK_CHAT_CLIENT_ID: applicationId,
    ACCOUNTLINK_CHAT_CLIENT_SECRET: "a-secret",
    ACCOUNTLINK_GAME_CLIENT_ID: "1",
    ACCOUNTLINK_GAME_CLIENT_SECRET: "a-secret",
  };
  const chat = (...words: ReadonlyArray<string>) => runInProcess(["chat", ...words], env);
  return { chat, application, commands: () => commands };
};

it("install makes every command and sets the address; then show finds no difference", async () => {
  const { chat, application, commands } = await startDiscord();
  expect((await chat("show")).code).toBe(1);
  const installed = await chat("install");
  expect([installed.code, installed.stderr]).toEqual([0, ""]);
  expect(commands().map((command) => "name" in command && command.name)).toEqual([
    "verify",
    "unlink",
    "whois",
    "Linked account",
    "update",
    "Update roles",
    "panel",
  ]);
  expect(commands()).toMatchObject([
    { type: 1, default_member_permissions: null },
    { type: 1, default_member_permissions: null },
    { type: 1, default_member_permissions: String(2 ** 40), options: [{ type: 6, required: true }] },
    { type: 2, default_member_permissions: String(2 ** 40) },
    { type: 1, default_member_permissions: String(2 ** 28) },
    { type: 2, default_member_permissions: String(2 ** 28) },
    { type: 1, default_member_permissions: "32", options: [{ type: 3, max_length: 300 }] },
  ]);
  expect(application.interactions_endpoint_url).toBe(interactionsUrl);
  const shown = await chat("show");
  expect([shown.code, shown.stdout]).toEqual([
    0,
    `All commands are there, and are sent to ${interactionsUrl}.\n`,
  ]);
  expect((await chat("install")).stdout).toContain("All commands are there already.");
});

it("install leaves the address of another service, and says so", async () => {
  const { chat, application } = await startDiscord({ address: "https://other.example/bot" });
  const { code, stdout } = await chat("install");
  expect([code, application.interactions_endpoint_url]).toEqual([0, "https://other.example/bot"]);
  expect(stdout).toContain("the address stays");
});

it("install says what to do if the chat platform gets no answer at the address", async () => {
  const { chat } = await startDiscord({ answers: false });
  const { code, stderr } = await chat("install");
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("start the server and make the address public"),
  ]);
});

it("chat needs the live platform", async () => {
  const { code, stderr } = await runInProcess(["chat", "show"], { ACCOUNTLINK_PLATFORM: "dev" });
  expect([code, stderr]).toEqual([1, expect.stringContaining("expected live")]);
});
