/** Starts that are refused: one line that says what is wrong, and nothing left behind. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { RedisUrl } from "@accountlink/redis";
import { type Ended, runInProcess } from "@accountlink/server/test_command_line";
import { listenLocally } from "@accountlink/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeFixtures, newToken } from "../support/fixtures.ts";
import { startServer, startServerHere } from "../support/server.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "accountlink-refusal-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs `accountlink serve`, which is expected to end by itself. */
const runServe = (environment: Readonly<Record<string, string>>, flags: ReadonlyArray<string> = []) =>
  runInProcess(["serve", ...flags], environment);

const flagOf = (variable: string): string =>
  `--${variable.replace("ACCOUNTLINK_", "").toLowerCase().replaceAll("_", "-")}`;

/** Refused with this one line and nothing else. */
const expectRefusal = (ended: Ended, line: string) => {
  expect(ended).toEqual({ code: 1, stdout: "", stderr: `${line}\n` });
};

describe("a variable with a value that it does not take", () => {
  const aCount = "a whole number, 0 to turn the rule off";
  const aDuration = "a duration such as 5 minutes, 1 second or 250 millis";
  const aPort = "a port number from 0 to 65535";
  const aWebAddress = "an http or https URL without credentials, query and fragment";
  const anOrigin = "an http or https URL without credentials, path, query and fragment";
  const short = Buffer.alloc(31, "s").toString("base64");

  /** By variable: a wrong value, and what is expected instead. */
  const wrong: Readonly<Record<string, readonly [value: string, expected: string]>> = {
    ACCOUNTLINK_PORT: ["80a", aPort],
    ACCOUNTLINK_PUBLIC_URL: ["https://links.example/base", anOrigin],
    ACCOUNTLINK_STORAGE: ["postgresql", "one of embedded, memory, postgres"],
    ACCOUNTLINK_DATABASE_URL: ["mysql://ada:pass@db/links", "postgres://user:password@host:port/database"],
    ACCOUNTLINK_DATABASE_CONNECTIONS: ["0", "a whole number, at least 1"],
    ACCOUNTLINK_CACHE: ["none", "one of memory, redis"],
    ACCOUNTLINK_REDIS_URL: ["http://:pass@cache", RedisUrl.forms.join(" or ")],
    ACCOUNTLINK_REDIS_PREFIX: ["{links}:", "letters, digits, and : . _ -"],
    ACCOUNTLINK_SECRET: [short, "32 or more bytes in base64, or new,old while it is rotated"],
    ACCOUNTLINK_ADDRESS_KEYS: [
      `new:${short}`,
      "id:base64 pairs of 32 or more bytes, separated by commas, newest first, each id once",
    ],
    ACCOUNTLINK_DATABASE_START_TIMEOUT: ["half a minute", aDuration],
    ACCOUNTLINK_PLATFORM: ["Dev", "one of dev, live, none"],
    ACCOUNTLINK_CHAT_BOT_TOKEN: ["two words", "a token without white space"],
    ACCOUNTLINK_CHAT_CLIENT_SECRET: ["two words", "a secret without white space"],
    ACCOUNTLINK_CHAT_API_URL: ["chat.example", aWebAddress],
    ACCOUNTLINK_CHAT_AUTHORIZATION_URL: ["ftp://chat.example", aWebAddress],
    ACCOUNTLINK_GAME_CLIENT_SECRET: ["two words", "a secret without white space"],
    ACCOUNTLINK_GAME_API_URL: ["https://game.example", `${aWebAddress}, with {service} in it`],
    ACCOUNTLINK_GAME_AUTHORIZATION_URL: ["https://game.example/?a=b", aWebAddress],
    ACCOUNTLINK_PRIVACY_URL: ["/privacy", "an http or https URL without credentials"],
    ACCOUNTLINK_TRUSTED_PROXIES: ["10.0.0.0/33", "CIDRs such as 10.0.0.0/8, separated by commas"],
    ACCOUNTLINK_WEBHOOK_NETWORKS: ["localhost", "CIDRs such as 10.0.0.0/8, separated by commas"],
    ACCOUNTLINK_SESSION_TTL: ["0 seconds", `${aDuration}, longer than 0 seconds`],
    ACCOUNTLINK_POLL_INTERVAL: ["two seconds", aDuration],
    ACCOUNTLINK_POLL_LIMIT: ["-1", aCount],
    ACCOUNTLINK_LONG_POLL_MAX: ["25s", aDuration],
    ACCOUNTLINK_STREAM_MAX: ["-1 seconds", aDuration],
    ACCOUNTLINK_IP_PER_SECOND: ["many", aCount],
    ACCOUNTLINK_IP_DAILY: ["1e4", aCount],
    ACCOUNTLINK_IP_VERIFY_DAILY: ["0x10", aCount],
    ACCOUNTLINK_IP_AUTH_FAILURES: ["3.5", aCount],
    ACCOUNTLINK_SESSION_CREATE_BURST: ["none", aCount],
    ACCOUNTLINK_SESSION_CREATE_REFILL: ["10 fortnights", aDuration],
    ACCOUNTLINK_FREE_PER_WINDOW: ["one", aCount],
    ACCOUNTLINK_FREE_WINDOW: ["2seconds", aDuration],
    ACCOUNTLINK_FREE_DAILY: ["1,000", aCount],
    ACCOUNTLINK_FREE_VERIFY_DAILY: ["1 000", aCount],
    ACCOUNTLINK_FREE_KEYS: ["9".repeat(16), aCount],
    ACCOUNTLINK_PREMIUM_PER_WINDOW: ["+1", aCount],
    ACCOUNTLINK_PREMIUM_WINDOW: ["soon", aDuration],
    ACCOUNTLINK_PREMIUM_DAILY: ["null", aCount],
    ACCOUNTLINK_PREMIUM_VERIFY_DAILY: ["true", aCount],
    ACCOUNTLINK_PREMIUM_KEYS: ["ten", aCount],
    ACCOUNTLINK_SIGHTING_RETENTION: ["forever", aDuration],
    ACCOUNTLINK_AUDIT_RETENTION: ["a year", aDuration],
    ACCOUNTLINK_EVENT_RETENTION: ["23 hours", `${aDuration}, at least 1 day`],
    ACCOUNTLINK_LOG_LEVEL: ["verbose", "one of trace, debug, info, warn, error"],
    ACCOUNTLINK_OPERATOR_PORT: ["-1", aPort],
    ACCOUNTLINK_DRAIN_DELAY: ["later", aDuration],
    ACCOUNTLINK_CONNECTIONS_PER_IP: ["-256", aCount],
    ACCOUNTLINK_CONNECTIONS: ["0", "a whole number, at least 1"],
    ACCOUNTLINK_HEADER_TIMEOUT: ["10", aDuration],
    ACCOUNTLINK_REQUEST_TIMEOUT: ["soon", aDuration],
    ACCOUNTLINK_IDLE_TIMEOUT: ["5s", aDuration],
    ACCOUNTLINK_WRITE_TIMEOUT: ["-1 seconds", aDuration],
    ACCOUNTLINK_DEV_PLATFORM_PORT: ["65536", aPort],
  };

  /** Every text is right, as far as can be told by looking at it. */
  const anyText = [
    "ACCOUNTLINK_HOST",
    "ACCOUNTLINK_DATA_DIR",
    "ACCOUNTLINK_CHAT_CLIENT_ID",
    "ACCOUNTLINK_GAME_CLIENT_ID",
    "ACCOUNTLINK_CHAT_NAME",
    "ACCOUNTLINK_GAME_NAME",
    "ACCOUNTLINK_CONTACT",
    "ACCOUNTLINK_FIXTURE",
    "ACCOUNTLINK_VPN_NETWORKS",
    "ACCOUNTLINK_VPN_DATABASE",
    "ACCOUNTLINK_SHARED_NETWORKS",
  ];
  const secrets = new Set([
    "ACCOUNTLINK_DATABASE_URL",
    "ACCOUNTLINK_REDIS_URL",
    "ACCOUNTLINK_SECRET",
    "ACCOUNTLINK_ADDRESS_KEYS",
    "ACCOUNTLINK_CHAT_BOT_TOKEN",
    "ACCOUNTLINK_CHAT_CLIENT_SECRET",
    "ACCOUNTLINK_GAME_CLIENT_SECRET",
  ]);

  const refusalOf = (name: string) => {
    const [value = "", expected = ""] = wrong[name] ?? [];
    const got = secrets.has(name) ? `a value of ${value.length} characters` : `"${value}"`;
    return { value, problem: `${name} is ${got}, expected ${expected}` };
  };

  test("is told by the doctor, with all the others", async () => {
    const environment = Object.fromEntries(Object.entries(wrong).map(([name, [value]]) => [name, value]));
    const { stdout } = await runInProcess(["doctor"], environment);
    const told = [...stdout.matchAll(/^fail {2}configuration {2}(.*)$/gm)].map(([, problem]) => problem);
    expect(new Set(told)).toEqual(new Set(Object.keys(wrong).map((name) => refusalOf(name).problem)));
  });

  const some = ["ACCOUNTLINK_FREE_WINDOW", "ACCOUNTLINK_SECRET", "ACCOUNTLINK_DATABASE_URL"];

  test.each(some)("refuses the start: %s", async (name) => {
    const { value, problem } = refusalOf(name);
    expectRefusal(await runServe({ [name]: value }), `Cannot start: ${problem}`);
    expectRefusal(await runServe({}, [flagOf(name), value]), `Cannot start: ${problem}`);
  });

  test("there are no other variables", async () => {
    const { stdout } = await runServe({}, ["--help"]);
    const [, flags = ""] = stdout.split("GLOBAL FLAGS", 1)[0]?.split("FLAGS\n") ?? [];
    const documented = [...flags.matchAll(/^ +(--[a-z-]+) /gm)].map(([, flag]) => flag);
    expect(new Set(documented)).toEqual(new Set([...anyText, ...Object.keys(wrong)].map(flagOf)));
  });

  test("an unknown flag is refused by its name", async () => {
    const { code, stdout, stderr } = await runServe({}, ["--prot", "8080"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^[^\n]*"--prot"[^\n]*\n$/);
  });
});

test("a Node that runs no TypeScript is refused in a sentence", async () => {
  const main = fileURLToPath(new URL("../../apps/server/main.ts", import.meta.url));
  const old = spawn(process.execPath, ["--no-strip-types", main, "serve"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([text(old.stdout), text(old.stderr), once(old, "close")]);
  expectRefusal(
    { code: old.exitCode, stdout, stderr },
    `Cannot start: Node is ${process.version}, expected 24 or later, which runs TypeScript (npm start has one of its own)`,
  );
});

test("live platforms without what they need are refused, and nothing of the demo is made", async () => {
  const data = join(folder, "live");
  expectRefusal(
    await runServe({ ACCOUNTLINK_PLATFORM: "live", ACCOUNTLINK_DATA_DIR: data }),
    "Cannot start: ACCOUNTLINK_PUBLIC_URL is not set, expected an http or https URL without credentials, path, query and fragment (ACCOUNTLINK_PLATFORM is live)",
  );
  expect(existsSync(data)).toBe(false);
});

test("a server that is not the demo is refused without a platform, and no folder is made", async () => {
  const data = join(folder, "no_platform");
  expectRefusal(
    await runServe({ ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_DATA_DIR: data }),
    "Cannot start: ACCOUNTLINK_PLATFORM is not set, expected one of dev, live, none (this is not the demo, and there is no fixture; on dev anyone can sign in as anybody)",
  );
  expect(existsSync(data)).toBe(false);
});

describe("what several servers share", () => {
  const secret = Buffer.alloc(32, "s").toString("base64");
  const shared = {
    ACCOUNTLINK_STORAGE: "postgres",
    ACCOUNTLINK_DATABASE_URL: "postgres://ada:pass@127.0.0.1:1/links",
    ACCOUNTLINK_SECRET: secret,
    ACCOUNTLINK_PLATFORM: "dev",
    ACCOUNTLINK_PORT: "0",
  };

  test.each([
    ["ACCOUNTLINK_DATABASE_URL", "postgres://user:password@host:port/database", "postgres)"],
    [
      "ACCOUNTLINK_SECRET",
      "32 or more bytes in base64, or new,old while it is rotated",
      "postgres; the same for every node)",
    ],
  ])("is refused without %s", async (name, expected, storage) => {
    expectRefusal(
      await runServe({ ...shared, [name]: "" }),
      `Cannot start: ${name} is not set, expected ${expected} (ACCOUNTLINK_STORAGE is ${storage}`,
    );
  });

  test("is logged as an outage when Postgres does not answer, without address and password", async () => {
    const ended = await runServe({ ...shared, ACCOUNTLINK_DATABASE_START_TIMEOUT: "0 seconds" });
    expect({ ...ended, stderr: JSON.parse(ended.stderr) as unknown }).toMatchObject({
      code: 1,
      stdout: "",
      stderr: {
        level: "ERROR",
        message: 'Cannot use database "[redacted]:1/links": the connection failed (ECONNREFUSED)',
      },
    });
  });

  test("starts without Redis, which is for what may be forgotten", async () => {
    const server = await startServerHere({
      fixture: makeFixtures().fixture,
      env: { ACCOUNTLINK_CACHE: "redis", ACCOUNTLINK_REDIS_URL: "redis://:pass@127.0.0.1:1" },
    });
    const { status } = await server.send("GET /readyz");
    expect({ status, code: await server.stop() }).toEqual({ status: 200, code: 0 });
    expect(server.output()).toContain("Redis cannot be reached");
    expect(server.output()).not.toContain("pass");
  });
});

describe("a fixture", () => {
  /** What it was refused with; it has left nothing behind. */
  const serveFixture = async (file: string) => {
    const data = join(folder, "untouched");
    const ended = await runServe({
      ACCOUNTLINK_DATA_DIR: data,
      ACCOUNTLINK_PORT: "0",
      ACCOUNTLINK_FIXTURE: file,
    });
    expect(existsSync(data)).toBe(false);
    return ended;
  };

  test("that is not there is refused by its name", async () => {
    const file = join(folder, "nowhere.json");
    expectRefusal(
      await serveFixture(file),
      `Cannot start: ACCOUNTLINK_FIXTURE is "${file}", expected a file that can be read`,
    );
  });

  test("that is not JSON is refused with the place, and nothing of it is shown", async () => {
    const file = join(folder, "broken.json");
    const token = newToken();
    await writeFile(file, `{\n  "keys": [{ "key": "${token}", ]\n}`);
    const ended = await serveFixture(file);
    const column = /column (\d+)/.exec(ended.stderr)?.[1] ?? "";
    expectRefusal(
      ended,
      `Cannot start: ACCOUNTLINK_FIXTURE is "${file}", expected a fixture: the file is not JSON, see line 2, column ${column}`,
    );
    expect(ended.stderr).not.toContain(token.slice(0, 16));
  });
});

describe("a data folder", () => {
  const serveFolder = (data: string) =>
    runServe({
      ACCOUNTLINK_STORAGE: "embedded",
      ACCOUNTLINK_PLATFORM: "dev",
      ACCOUNTLINK_PORT: "0",
      ACCOUNTLINK_DATA_DIR: data,
    });

  const refusalOf = (data: string, reason: string): string =>
    `Cannot start: ACCOUNTLINK_DATA_DIR is "${data}", expected a folder that can be made and written to (${reason})`;

  test("that a server has is refused to a second one", async () => {
    const first = await startServer({ fixture: makeFixtures().fixture });
    try {
      expectRefusal(
        await serveFolder(first.dataFolder),
        `Cannot start: data folder "${first.dataFolder}" is in use by process ${first.pid}, expected one server per folder`,
      );
      expect((await first.send("GET /readyz")).status).toBe(200);
    } finally {
      await first.stop();
    }
  });

  test("that cannot be made is refused by its name", async () => {
    const file = join(folder, "file");
    await writeFile(file, "");
    const data = join(file, "data");
    expectRefusal(await serveFolder(data), refusalOf(data, `ENOTDIR: not a directory, mkdir '${data}'`));
    expectRefusal(await serveFolder(file), refusalOf(file, "it is not a folder"));
  });

  test.skipIf(process.platform !== "linux")("where the system makes none is refused (Linux)", async () => {
    const data = "/proc/none";
    expectRefusal(
      await serveFolder(data),
      refusalOf(data, `ENOENT: no such file or directory, mkdir '${data}'`),
    );
  });

  test("whose secret is damaged is refused, and the secret is not shown", async () => {
    const data = join(folder, "damaged");
    await mkdir(data, { recursive: true });
    await writeFile(join(data, "secret"), "not much of a secret\n");
    expectRefusal(
      await serveFolder(data),
      `Cannot start: secret file "${join(data, "secret")}" is damaged, expected 32 or more bytes in base64`,
    );
  });

  test("whose secret is lost is refused: none of its keys would work", async () => {
    const data = join(folder, "lost");
    const fixtures = makeFixtures();
    await (await startServerHere({ fixture: fixtures.fixture, dataFolder: data })).stop();
    await rm(join(data, "secret"));
    expectRefusal(
      await serveFolder(data),
      `Cannot start: ACCOUNTLINK_SECRET is not set and data folder "${data}" holds none, expected the secret that its database was made with`,
    );
  });

  test("whose database is damaged is refused by its name", async () => {
    const data = join(folder, "garbage");
    await mkdir(data, { recursive: true });
    await writeFile(join(data, "secret"), `${Buffer.alloc(32, "s").toString("base64")}\n`);
    await writeFile(join(data, "accountlink.db"), "This was never a database. ".repeat(400));
    expectRefusal(
      await serveFolder(data),
      `Cannot use database "${join(data, "accountlink.db")}": file is not a database`,
    );
  });
});

describe("an address", () => {
  const listenOn = (host: string, port: string, devPlatformPort = "0") =>
    runServe({
      ACCOUNTLINK_STORAGE: "memory",
      ACCOUNTLINK_PLATFORM: "dev",
      ACCOUNTLINK_HOST: host,
      ACCOUNTLINK_PORT: port,
      ACCOUNTLINK_DEV_PLATFORM_PORT: devPlatformPort,
    });

  test("that is in use is refused by its variable", async () => {
    const holder = createServer();
    const port = String(await listenLocally(holder));
    try {
      const refusal = `is "${port}", which is in use on "127.0.0.1", expected a free port`;
      expectRefusal(await listenOn("127.0.0.1", port), `Cannot start: ACCOUNTLINK_PORT ${refusal}`);
      expectRefusal(
        await listenOn("127.0.0.1", "0", port),
        `Cannot start: ACCOUNTLINK_DEV_PLATFORM_PORT ${refusal}`,
      );
    } finally {
      holder.close();
    }
  });

  test("of another machine is refused by its name", async () => {
    const ended = await listenOn("192.0.2.1", "0");
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(/^Cannot [^\n]*"192\.0\.2\.1"[^\n]*\n$/);
  });
});

describe("a file of networks", () => {
  const aList = "an address or a CIDR such as 10.0.0.0/8 on each line";

  test.concurrent.each([
    ["ACCOUNTLINK_VPN_NETWORKS", "198.51.100.0/24\n# a comment\nten\n", "line 3 is wrong", aList],
    ["ACCOUNTLINK_SHARED_NETWORKS", "198.51.100.0/33", "line 1 is wrong", aList],
    ["ACCOUNTLINK_VPN_DATABASE", "198.51.100.0/24", "its content is wrong", "a database in mmdb format"],
  ])("that is damaged refuses the start: %s", async (name, content, found, expected) => {
    const file = join(folder, name);
    const data = join(folder, `data of ${name}`);
    await writeFile(file, content);
    const ended = await runServe({
      ACCOUNTLINK_DATA_DIR: data,
      ACCOUNTLINK_STORAGE: "embedded",
      ACCOUNTLINK_PLATFORM: "dev",
      [name]: file,
    });
    expectRefusal(ended, `Cannot start: ${name} is "${file}" (${found}), expected ${expected}`);
    expect(existsSync(data)).toBe(false);
  });
});
