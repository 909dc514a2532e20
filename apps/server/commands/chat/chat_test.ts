/** The commands `chat install` and `chat show`. */
import { freePort, runUntil, startHttpServer } from "@accountlink/test-servers";
import { expect, it, onTestFinished } from "vitest";
import { runInProcess } from "../test_command_line.ts";
import { makeWorkplace } from "../test_program.ts";
import { startDiscord } from "./test_discord.ts";

/** Nothing listens there. */
const deadUrl = "http://127.0.0.1:1";

const setUp = async ({
  publicUrl = deadUrl,
  ...application
}: {
  publicUrl?: string;
} & Parameters<typeof startDiscord>[0]) => {
  const discord = await startDiscord(application);
  const environment = { ...discord.environment, ACCOUNTLINK_PUBLIC_URL: publicUrl };
  const chat = (...words: ReadonlyArray<string>) => runInProcess(["chat", ...words], environment);
  return { ...discord, environment, chat };
};

it("install makes every command and sets the address; then show finds no difference", async () => {
  const port = String(await freePort());
  const publicUrl = `http://127.0.0.1:${port}`;
  const interactionsUrl = `${publicUrl}/chat/interactions`;
  const { chat, application, commands, environment } = await setUp({ publicUrl });
  await (await makeWorkplace(environment)).serve({ ACCOUNTLINK_PORT: port });
  expect((await chat("show")).code).toBe(1);
  const installed = await chat("install");
  expect([installed.code, installed.stderr]).toEqual([0, ""]);
  expect(
    commands()
      .map(({ name }) => name)
      .join(),
  ).toBe("verify,unlink,whois,Linked account,update,Update roles,panel,help");
  expect(commands()).toMatchObject([
    { type: 1, default_member_permissions: null },
    { type: 1, default_member_permissions: null },
    {
      type: 1,
      default_member_permissions: String(2 ** 40),
      options: [
        { name: "user", type: 6, required: false },
        { name: "game", type: 3, max_length: 100 },
      ],
    },
    { type: 2, default_member_permissions: String(2 ** 40) },
    { type: 1, default_member_permissions: String(2 ** 28) },
    { type: 2, default_member_permissions: String(2 ** 28) },
    { type: 1, default_member_permissions: "32", options: [{ type: 3, max_length: 300 }] },
    { type: 1, default_member_permissions: null },
  ]);
  expect(application.interactions_endpoint_url).toBe(interactionsUrl);
  const shown = await chat("show");
  expect([shown.code, shown.stdout]).toEqual([
    0,
    `All commands are there, and are sent to ${interactionsUrl}.\n`,
  ]);
  expect((await chat("install")).stdout).toContain("All commands are there already.");
});

it("install changes commands of this service only, and names the application's others", async () => {
  const play = { name: "play", type: 1, description: "Play a song", handler: 2, nsfw: true };
  const menu = { name: "verify", type: 2 };
  const old = { name: "verify", type: 1, description: "Of an earlier version" };
  const { chat, commands } = await setUp({
    interactions_endpoint_url: "https://other.example/bot",
    commands: [play, menu, old],
  });
  const { code, stdout } = await chat("install");
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining("Other commands of the application stay: play, verify."),
  ]);
  const kept = [play, menu].map((command) => expect.objectContaining(command) as unknown);
  expect(commands()).toEqual(expect.arrayContaining(kept));
  expect(commands()).not.toContainEqual(old);
  expect(commands().filter(({ name }) => name === "verify")).toHaveLength(2);
  expect((await chat("show")).stdout).toContain("Other commands of the application stay: play, verify.");
});

it("install leaves the address of another service, and says so", async () => {
  const { chat, application } = await setUp({ interactions_endpoint_url: "https://other.example/bot" });
  const { code, stdout } = await chat("install");
  expect([code, application.interactions_endpoint_url]).toEqual([0, "https://other.example/bot"]);
  expect(stdout).toContain("the address stays");
});

it("install says what to do if nothing answers at the address, or takes wrong signatures", async () => {
  const gullible = startHttpServer(() => ({ body: { type: 1 } }));
  const { url } = await runUntil(onTestFinished)(gullible);
  for (const publicUrl of [deadUrl, url]) {
    const { chat, application } = await setUp({ publicUrl });
    const { code, stderr } = await chat("install");
    expect([code, stderr, application.interactions_endpoint_url]).toEqual([
      1,
      expect.stringContaining("start the server and make the address public"),
      null,
    ]);
  }
});

it.each([
  [
    {
      status: 400,
      body: {
        code: 50_035,
        message: "Invalid Form Body",
        errors: { 0: { name: { _errors: [{ message: "Too long" }] } } },
      },
    },
    'The chat platform refuses the commands: it says "Invalid Form Body; 0.name: Too long"',
  ],
  [{ status: 403, body: { code: 50_001, message: "Missing Access" } }, 'it says "Missing Access"'],
  [{ status: 403, body: { code: 1 } }, "it answers with the status 403"],
  [
    {
      status: 429,
      headers: { "retry-after": "600" },
      body: { message: "Max number of daily application command creates" },
    },
    "The chat platform takes no more changes for now: try again in 10 minutes",
  ],
  [{ status: 500 }, "Cannot reach the chat platform"],
])("install tells what the chat platform refuses: %j", async (refused, said) => {
  const { chat } = await setUp({ refused });
  const { code, stderr } = await chat("install");
  expect([code, stderr]).toEqual([1, expect.stringContaining(said)]);
});

it("chat needs the live platform", async () => {
  const { code, stderr } = await runInProcess(["chat", "show"], { ACCOUNTLINK_PLATFORM: "dev" });
  expect([code, stderr]).toEqual([1, expect.stringContaining("expected live")]);
});
