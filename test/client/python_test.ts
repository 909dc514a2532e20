/**
 * The Python client: events across restarts, sessions, webhooks, its wheel and its types. Also tests the bot in
 * `examples`.
 */
import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  freePort,
  type HttpAnswering,
  isProof,
  runUntil,
  startHttpServer,
  whyNoAiohttp,
  whyNoPython,
} from "@accountlink/test-servers";
import { describe, expect, onTestFinished, test } from "vitest";
import { shortReads, useFlowServer } from "../contract/flow_server.ts";
import { eventually } from "../support/eventually.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { formOf } from "../support/flow_browser.ts";
import { startServerHere } from "../support/server.ts";
import { startProgram } from "./program.ts";
import { pathOf, pythonWithClient } from "./python.ts";

const noPython = await whyNoPython();
const noAiohttp = await whyNoAiohttp();
const run = promisify(execFile);
const { send, url, newKey, newUser, signIn, newBrowser } = useFlowServer(shortReads);

const newFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), "accountlink-python-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

/** Starts a Python program that can import the client, in a folder of its own, since Python imports from there first. */
const start = async (program: string, variables: Readonly<Record<string, string>>) => {
  const { file, env } = await pythonWithClient();
  const running = startProgram([file, "-u", "-c", program], await newFolder(), { ...env, ...variables });
  onTestFinished(running.stop);
  return running;
};

/** The synchronous and the asynchronous client, each with a function that adapts a program to it. */
const kinds = [
  ["synchronous", noPython, (program: string) => program],
  [
    "asynchronous",
    noAiohttp,
    (program: string) => {
      const body = program
        .replaceAll("AccountLink", "AsyncAccountLink")
        .replaceAll(/^for /gm, "async for ")
        .replaceAll(/client\.(?:sessions\.create|close)/g, "await $&");
      return `import asyncio\nasync def main():\n${body.replaceAll(/^/gm, "    ")}\nasyncio.run(main())`;
    },
  ],
] as const;

describe.each(kinds)("the %s client", (_, whyNot, programOf) => {
  test.skipIf(whyNot !== null)(
    `the Python client follows events over a restart ${whyNot ?? ""}`,
    async () => {
      const fixtures = makeFixtures();
      const key = fixtures.key();
      const port = String(await freePort());
      const dataFolder = await newFolder();
      const startHere = () =>
        startServerHere({ fixture: fixtures.fixture, dataFolder, env: { ACCOUNTLINK_PORT: port } });
      const first = await startHere();
      const program = programOf(`import os
from accountlink import AccountLink
client = AccountLink(os.environ["URL"], os.environ["KEY"])
for event, cursor in client.events.follow(cursor="", from_="oldest", types=["link.set"]):
    print(event["type"], event["data"]["chatId"], bool(cursor))`);
      const following = await start(program, { URL: first.url, KEY: key });
      const set = async (node: typeof first, chatId: string) => {
        const written = await node.send("PATCH /v2/game", { key, body: { chatId, gameId: "1" } });
        expect(written.status).toBe(200);
        await following.untilPrinted(new RegExp(`^(link.set ${chatId} True)$`, "m"));
      };
      await set(first, "100001");
      await first.stop();
      const second = await startHere();
      onTestFinished(async () => void (await second.stop()));
      await set(second, "100002");
      expect(following.output().match(/link\.set/g)).toHaveLength(2);
    },
  );

  test.skipIf(whyNot !== null)(`the Python client watches a session to its end ${whyNot ?? ""}`, async () => {
    const key = newKey();
    const program = programOf(`import os
from accountlink import AccountLink
client = AccountLink(os.environ["URL"], os.environ["KEY"])
created = client.sessions.create("player", chat_id=100001)
print("sid", created["sid"], client.sessions.redirect_url("vs_1"))
for session in client.sessions.watch(created["sid"]):
    print(session["state"], session["gameId"])
client.close()`);
    const watching = await start(program, { URL: url(), KEY: key });
    const user = newUser(await watching.untilPrinted(/^sid (\S+) http\S+\/v2\/sessions\/vs_1\/redirect$/m));
    await watching.untilPrinted(/^(pending None)$/m);
    await user.begin();
    await watching.untilPrinted(/^(opened None)$/m);
    await user.finish();
    expect(await watching.ended).toBe(0);
    expect(watching.output()).toMatch(/^completed 1$/m);
  });

  test.skipIf(whyNot !== null)(
    `the Python client opens a stream within its timeout, and yields an end between streams ${whyNot ?? ""}`,
    async () => {
      const event = (id: number, state: string) =>
        `id: ${id}\ndata: {"state": "${state}", "sid": "vs_1"}\n\n`;
      const answers: Array<HttpAnswering> = [
        "silent",
        (outgoing) => {
          outgoing.writeHead(200, { "content-type": "text/event-stream" });
          outgoing.write(event(1, "pending"));
          const broken = Buffer.from(`${event(2, "opened")}data: é`).subarray(0, -1);
          // Longer than the timeout, which does not count for a stream that has begun.
          setTimeout(() => outgoing.end(broken), 2_500);
        },
        { status: 410, body: { error: { code: "SESSION_EXPIRED", message: "No", details: null } } },
      ];
      const service = startHttpServer(() => answers.shift() ?? "cut");
      const { url: address, heard } = await runUntil(onTestFinished)(service);
      const program = programOf(`import os
from accountlink import AccountLink
client = AccountLink(os.environ["URL"], timeout=2)
for session in client.sessions.watch("vs_1"):
    print(session["state"], session["sid"])
client.close()`);
      const begun = performance.now();
      const watching = await start(program, { URL: address });
      expect(await watching.ended).toBe(0);
      expect(watching.output()).toBe("pending vs_1\nopened vs_1\nexpired vs_1\n");
      expect(heard.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, undefined, "2"]);
      // A stream may be silent for longer than a request without an answer.
      expect(performance.now() - begun).toBeLessThan(20_000);
    },
  );

  test.skipIf(whyNot !== null)(
    `an answer that arrives byte by byte ends at the timeout, and one that breaks off is none ${whyNot ?? ""}`,
    async () => {
      const begun =
        (status: number, go: (outgoing: ServerResponse) => void) => (outgoing: ServerResponse) => {
          outgoing.writeHead(status, { "content-type": "application/json", "content-length": "60" });
          go(outgoing);
        };
      const slowly = (outgoing: ServerResponse) => {
        const pulse = setInterval(() => outgoing.write(" "), 100);
        outgoing.on("close", () => clearInterval(pulse));
      };
      const broken = (outgoing: ServerResponse) => outgoing.write("{", () => outgoing.socket?.destroy());
      const answers = [begun(200, slowly), begun(404, slowly), begun(200, broken), begun(404, broken)];
      const service = startHttpServer(() => answers.shift() ?? "cut");
      const { url: address } = await runUntil(onTestFinished)(service);
      const program = programOf(`import os
from accountlink import AccountLink
client = AccountLink(os.environ["URL"], timeout=1, retry_for=0)
codes = []
while len(codes) < 4:
    try:
        client.sessions.create("player")
    except Exception as error:
        codes.append(error.code)
print(*codes)
client.close()`);
      const asking = await start(program, { URL: address });
      expect(await asking.ended).toBe(0);
      expect(asking.output()).toBe("TIMEOUT TIMEOUT NETWORK_ERROR NETWORK_ERROR\n");
    },
  );

  test.skipIf(whyNot !== null)(
    `tracebacks with local variables, which loggers print, do not show the key ${whyNot ?? ""}`,
    async () => {
      const answers: Array<HttpAnswering> = ["cut", "silent", { status: 502, body: "<!doctype html>" }];
      const service = startHttpServer(() => answers.shift() ?? "cut");
      const { url: address } = await runUntil(onTestFinished)(service);
      const program = programOf(`import os, traceback
from accountlink import AccountLink
client = AccountLink(os.environ["URL"], os.environ["KEY"], timeout=1, retry_for=0)
codes = []
while len(codes) < 4:
    try:
        client.sessions.create("player", idempotency_key="a b" if len(codes) == 3 else None)
    except Exception as error:
        codes.append(error.code)
        print(*traceback.TracebackException.from_exception(error, capture_locals=True).format())
print(*codes)
client.close()`);
      const key = newKey();
      const failing = await start(program, { URL: address, KEY: key });
      expect(await failing.ended).toBe(0);
      expect(failing.output()).toMatch(/^NETWORK_ERROR TIMEOUT UNEXPECTED_RESPONSE INVALID_PARAMETER$/m);
      expect(failing.output()).toMatch(/The service cannot be reached: \w/);
      expect(failing.output()).not.toContain(key.slice(-43));
    },
  );
});

test.skipIf(noPython !== null)(`the Python client verifies webhooks ${noPython ?? ""}`, async () => {
  const bytes = Buffer.alloc(32, 7);
  const secret = `whsec_${bytes.toString("base64")}`;
  const body = JSON.stringify({
    type: "link.set",
    timestamp: "2026-11-22T10:00:00.000Z",
    data: { chatId: "é" },
  });
  const headersOf = ({ age = 0, signed = body, key = bytes } = {}) => {
    const timestamp = String(Math.floor(Date.now() / 1_000) - age);
    const hmac = createHmac("sha256", key).update(`evt_1.${timestamp}.${signed}`).digest("base64");
    return {
      "Webhook-Id": "evt_1",
      "Webhook-Timestamp": timestamp,
      "Webhook-Signature": `v1a,abc v1,${hmac}`,
    };
  };
  const requests = [
    headersOf(),
    headersOf({ age: 400 }),
    headersOf({ age: -400 }),
    headersOf({ signed: "{}" }),
    headersOf({ key: Buffer.alloc(32) }),
    { ...headersOf(), "Webhook-Timestamp": "now" },
    ((headers) => ({ ...headers, "Webhook-Timestamp": `${headers["Webhook-Timestamp"]}.{}` }))(
      headersOf({ signed: `{}.${body}` }),
    ),
    { ...headersOf(), "Webhook-Timestamp": "9".repeat(5_000) },
    // As aiohttp gives a byte that is no UTF-8.
    { ...headersOf(), "Webhook-Signature": "v1,\udcff" },
    {},
  ];
  const program = `import json, os
from accountlink import InvalidWebhook, verify_webhook
for headers in json.loads(os.environ["REQUESTS"]):
    try:
        event = verify_webhook(headers, os.environ["BODY"].encode(), os.environ["SECRET"])
        print(event["id"], event["type"])
    except InvalidWebhook as refusal:
        print(refusal)`;
  const checking = await start(program, { REQUESTS: JSON.stringify(requests), BODY: body, SECRET: secret });
  expect(await checking.ended).toBe(0);
  const isOff = expect.stringMatching(/ is signed, .* \d{3} seconds off/);
  const unsigned = "The request is not signed with the secret";
  expect(checking.output().trim().split("\n")).toEqual([
    "evt_1 link.set",
    isOff,
    isOff,
    ...Array(7).fill(unsigned),
  ]);
});

test.skipIf(noPython !== null)(
  `the Python client is a wheel without dependencies ${noPython ?? ""}`,
  async () => {
    const folder = await newFolder();
    const { file, env } = await pythonWithClient("");
    const { stdout } = await run(file, [pathOf("clients/python/build_backend.py"), folder], { env });
    const [wheel = "", sdist = ""] = stdout.trim().split("\n");
    expect([wheel, sdist]).toEqual(["accountlink-0.1.0-py3-none-any.whl", "accountlink-0.1.0.tar.gz"]);
    const check = `import base64, hashlib, sys, zipfile
sys.path.insert(0, sys.argv[1])
import accountlink
assert accountlink.__file__.startswith(sys.argv[1])
assert not {"aiohttp", "requests", "yarl"} & set(sys.modules)
wheel = zipfile.ZipFile(sys.argv[1])
record = wheel.read("accountlink-0.1.0.dist-info/RECORD").decode().splitlines()
assert sorted(line.split(",")[0] for line in record) == sorted(wheel.namelist())
for name, digest, size in (line.split(",") for line in record[:-1]):
    data = wheel.read(name)
    assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    assert int(size) == len(data)
print(*sorted(name for name in wheel.namelist() if not name.endswith(".py")))`;
    const checked = await run(file, ["-I", "-c", check, join(folder, wheel)]);
    const info = ["LICENSE", "METADATA", "RECORD", "WHEEL"].map(
      (name) => `accountlink-0.1.0.dist-info/${name}`,
    );
    expect(checked.stdout.trim()).toBe([...info, "accountlink/py.typed"].join(" "));
  },
);

test.skipIf(noPython !== null)(
  `the Python client is installed from a copy of its folder, and in place ${noPython ?? ""}`,
  async () => {
    const folder = await newFolder();
    const copy = join(folder, "python");
    await cp(pathOf("clients/python"), copy, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.includes("__pycache__"),
    });
    const { file, env } = await pythonWithClient("");
    const built = join(folder, "built");
    const { stdout } = await run(file, [join(copy, "build_backend.py"), built], { env });
    expect(stdout.trim().split("\n")).toHaveLength(2);
    const check = `import os, sys, zipfile
sys.path.insert(0, sys.argv[1])
import build_backend
wheel = zipfile.ZipFile(os.path.join(sys.argv[2], build_backend.build_editable(sys.argv[2])))
print(wheel.read("accountlink.pth").decode().strip())`;
    const editable = await run(file, ["-I", "-c", check, copy, built]);
    expect(editable.stdout.trim()).toBe(await realpath(copy));
  },
);

test.runIf(isProof)("the Python client has types that pass a strict checker", async () => {
  const folder = await newFolder();
  const program = `from accountlink import AccountLink, AccountLinkError, AsyncAccountLink
from accountlink.contract import ChatLookup, VerificationSession

client = AccountLink("https://links.example", "alk_")


def game_of(chat_id: int) -> str | None:
    found: ChatLookup | None = client.links.get(chat_id, guild_id="700000000000000001")
    return None if found is None else found["gameId"]


def text_of(session: VerificationSession) -> str:
    # The state decides which fields are None.
    return session["gameId"] if session["state"] == "completed" else session["url"]


async def follow() -> None:
    async with AsyncAccountLink("https://links.example") as links:
        async for event, cursor in links.events.follow():
            if event["type"] == "link.set":
                print(event["data"]["gameId"], cursor)
        try:
            await links.links.delete_all(confirm=True)
        except AccountLinkError as error:
            print(error.code == "RATE_LIMITED")
`;
  const wrong = `from accountlink import AccountLink

links = AccountLink("https://links.example").links
links.get(1.5)
links.get("1").keys()
links.delete_all()
`;
  await writeFile(join(folder, "right.py"), program);
  await writeFile(join(folder, "wrong.py"), wrong);
  const unreported =
    "MissingImports UnknownMemberType UnknownParameterType UntypedFunctionDecorator UnknownArgumentType UnknownVariableType UnusedFunction PrivateUsage";
  const settings = {
    include: [".", pathOf("clients/python/accountlink"), pathOf("examples/discord_bot.py")],
    extraPaths: [pathOf("clients/python")],
    typeCheckingMode: "strict",
    pythonVersion: "3.10",
    // aiohttp and discord.py may not be on the machine.
    ...Object.fromEntries(unreported.split(" ").map((rule) => [`report${rule}`, "none"])),
  };
  await writeFile(join(folder, "pyrightconfig.json"), JSON.stringify(settings));
  const pyright = createRequire(import.meta.url).resolve("pyright/index.js");
  const { stdout } = await run(process.execPath, [pyright, "--outputjson"], { cwd: folder }).catch(
    (failed: { stdout: string }) => failed,
  );
  const { generalDiagnostics } = JSON.parse(stdout) as {
    generalDiagnostics: ReadonlyArray<{ file: string; range: { start: { line: number } }; message: string }>;
  };
  const found = generalDiagnostics.map(
    ({ file, range, message }) =>
      `${file.split("/").at(-1)}:${range.start.line + 1} ${message.split("\n")[0]}`,
  );
  expect(found).toEqual([
    expect.stringMatching(/^wrong\.py:4 .*"float"/),
    expect.stringMatching(/^wrong\.py:5 "keys" is not a known attribute of "None"/),
    expect.stringMatching(/^wrong\.py:6 .*"confirm"/),
  ]);
});

test.skipIf(noAiohttp !== null)(
  `the example bot posts who links and unlinks ${noAiohttp ?? ""}`,
  async () => {
    const program = `import asyncio, sys, types
sys.path.insert(0, ${JSON.stringify(pathOf("examples"))})
import discord_bot
async def send(text):
    print(text)
asyncio.run(discord_bot.report(types.SimpleNamespace(send=send)))`;
    const key = newKey();
    const CURSOR_FILE = join(await newFolder(), "cursor");
    const variables = { ACCOUNTLINK_URL: url(), ACCOUNTLINK_KEY: key, CURSOR_FILE };
    const link = async (line: "PATCH /v2/game" | "DELETE /v2/game", body: object) =>
      expect((await send(line, { key, body })).status).toBe(200);
    const first = await start(program, variables);
    await eventually(() => expect(existsSync(CURSOR_FILE)).toBe(true));
    await first.stop();
    await link("PATCH /v2/game", { chatId: "100003", gameId: "3" });
    const me = await signIn("100003", newBrowser(), "me");
    const page = await me.get("/me/erase");
    expect((await me.post("/me/erase", { ...formOf(page), confirm: "erase" })).status).toBe(200);
    await link("PATCH /v2/game", { chatId: "100001", gameId: "1" });
    const bot = await start(program, variables);
    await bot.untilPrinted(/^<@100001> plays as (1)\.$/m);
    expect(bot.output()).not.toContain("erased");
    await link("PATCH /v2/game", { chatId: "100002", gameId: "3" });
    await link("DELETE /v2/game", { chatId: "100002" });
    await bot.untilPrinted(/^<@100002> plays as 3\.\n<@100002> (no longer plays as 3)\.$/m);
    await bot.stop();
    await link("PATCH /v2/game", { chatId: "100002", gameId: "4" });
    const again = await start(program, variables);
    await again.untilPrinted(/^<@100002> plays as (4)\.$/m);
  },
);
