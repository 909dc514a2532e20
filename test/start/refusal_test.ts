/** Refused starts print one line that says why. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type Ended, runInProcess, storageAt } from "@accountlink/server/test_command_line";
import { listenLocally } from "@accountlink/test-servers";
import { expect, test } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { useFolder } from "../support/folder.ts";
import { startServerHere } from "../support/server.ts";

const folder = useFolder();

const runServe = (environment: Readonly<Record<string, string>>, flags: ReadonlyArray<string> = []) =>
  runInProcess(["serve", ...flags], environment);

const expectRefusal = (ended: Ended, line: string) => {
  expect(ended).toEqual({ code: 1, stdout: "", stderr: `${line}\n` });
};

const aDuration = "a duration of at most 1000000 days, such as 5 minutes, 1 second or 250 millis";

test.each([
  ["ACCOUNTLINK_FREE_WINDOW", "2seconds", `"2seconds", expected ${aDuration}`],
  [
    "ACCOUNTLINK_SECRET",
    "too short",
    "a value of 9 characters, expected 32 or more bytes in base64, or new,old while it is rotated",
  ],
  [
    "ACCOUNTLINK_DATABASE_URL",
    "mysql://ada:pass@db/links",
    "a value of 25 characters, expected postgres://user:password@host:port/database or redis://[[user]:password@]host[:6379][/database] or redis+sentinel://[[user]:password@]host[:26379][,host…]/master[/database][?sentinelUsername=…&sentinelPassword=…]",
  ],
])("an invalid value stops the start: %s", async (name, value, problem) => {
  const line = `Cannot start: ${name} is ${problem}`;
  expectRefusal(await runServe({ [name]: value }), line);
  const flag = `--${name.replace("ACCOUNTLINK_", "").toLowerCase().replaceAll("_", "-")}`;
  expectRefusal(await runServe({}, [flag, value]), line);
});

test("a Node that cannot run TypeScript stops the start, and the message names its version", async () => {
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

const shared = {
  ...storageAt("postgres://ada:pass@127.0.0.1:1/links"),
  ACCOUNTLINK_PLATFORM: "dev",
  ACCOUNTLINK_PORT: "0",
};

test("a Postgres that does not answer is logged as an outage, without address and password", async () => {
  const ended = await runServe({ ...shared, ACCOUNTLINK_DATABASE_START_TIMEOUT: "0 seconds" });
  expect({ ...ended, stderr: JSON.parse(ended.stderr) as unknown }).toMatchObject({
    code: 1,
    stdout: "",
    stderr: {
      level: "ERROR",
      message: 'Cannot use database "127.0.0.1:1/links": the connection failed (ECONNREFUSED)',
    },
  });
});

test("the server starts without Redis, which holds only temporary data", async () => {
  const server = await startServerHere({
    fixture: makeFixtures().fixture,
    env: { ACCOUNTLINK_CACHE: "redis", ACCOUNTLINK_REDIS_URL: "redis://:pass@127.0.0.1:1" },
  });
  const { status } = await server.send("GET /readyz");
  expect({ status, code: await server.stop() }).toEqual({ status: 200, code: 0 });
  expect(server.output()).toContain("Redis cannot be reached");
  expect(server.output()).not.toContain("pass");
});

test("a missing fixture file stops the start, and the message names it", async () => {
  const [file, data] = [join(folder, "nowhere.json"), join(folder, "untouched")];
  const ended = await runServe({
    ACCOUNTLINK_DATA_DIR: data,
    ACCOUNTLINK_PORT: "0",
    ACCOUNTLINK_FIXTURE: file,
  });
  expectRefusal(ended, `Cannot start: ACCOUNTLINK_FIXTURE is "${file}", expected a file that can be read`);
  expect(existsSync(data)).toBe(false);
});

test("a second server cannot use the data folder of the first", async () => {
  const first = await startServerHere({ fixture: makeFixtures().fixture });
  try {
    const ended = await runServe({
      ACCOUNTLINK_STORAGE: "embedded",
      ACCOUNTLINK_PLATFORM: "dev",
      ACCOUNTLINK_PORT: "0",
      ACCOUNTLINK_DATA_DIR: first.dataFolder,
    });
    expectRefusal(
      ended,
      `Cannot start: data folder "${first.dataFolder}" is in use by process ${process.pid}, expected one server per folder`,
    );
    expect((await first.send("GET /readyz")).status).toBe(200);
  } finally {
    await first.stop();
  }
});

const listenOn = (environment: Readonly<Record<string, string>>) =>
  runServe({
    ACCOUNTLINK_STORAGE: "memory",
    ACCOUNTLINK_PLATFORM: "dev",
    ACCOUNTLINK_PORT: "0",
    ACCOUNTLINK_DEV_PLATFORM_PORT: "0",
    ...environment,
  });

test.each(["ACCOUNTLINK_PORT", "ACCOUNTLINK_DEV_PLATFORM_PORT", "ACCOUNTLINK_OPERATOR_PORT"])(
  "a port in use stops the start, and the message names the variable: %s",
  async (name) => {
    const holder = createServer();
    const port = String(await listenLocally(holder));
    try {
      expectRefusal(
        await listenOn({ [name]: port }),
        `Cannot start: ${name} is "${port}", which is in use on "127.0.0.1", expected a free port`,
      );
    } finally {
      holder.close();
    }
  },
);

test("a host address of another machine stops the start, and the message names it", async () => {
  const ended = await listenOn({ ACCOUNTLINK_HOST: "192.0.2.1" });
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toMatch(/^Cannot [^\n]*"192\.0\.2\.1"[^\n]*\n$/);
});

const aList = "an address or a CIDR such as 10.0.0.0/8 on each line";

test.concurrent.each([
  ["ACCOUNTLINK_VPN_NETWORKS", "198.51.100.0/24\n# a comment\nten\n", "line 3 is wrong", aList],
  ["ACCOUNTLINK_SHARED_NETWORKS", "198.51.100.0/33", "line 1 is wrong", aList],
  ["ACCOUNTLINK_VPN_DATABASE", "198.51.100.0/24", "its content is wrong", "a database in mmdb format"],
])("a damaged file of networks stops the start: %s", async (name, content, found, expected) => {
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
