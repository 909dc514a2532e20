import { readdirSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { listenLocally } from "@accountlink/test-servers";
import { Effect } from "effect";
import { describe, expect, it, onTestFinished } from "vitest";
import { runInProcess, secretOf, storageAt } from "./test_command_line.ts";
import { embeddedIn, inDatabase, makeWorkplace, rowsIn } from "./test_program.ts";
import { makeShared, whyNothingShared } from "./test_shared.ts";

const missing = await whyNothingShared();

const versions = "SELECT MAX(migration_id) AS version FROM schema_migrations";

/** A migration that begins on it says that the newest step was taken. */
const forgetLast =
  "DELETE FROM schema_migrations WHERE migration_id = (SELECT MAX(migration_id) FROM schema_migrations)";

it("`migrate` creates the database and the secret of a new folder, and prints the steps", async () => {
  const { run, json, dataFolder } = await makeWorkplace();
  const { code, stdout, stderr } = await run("migrate");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^Ran step initial\n(Ran step \w+\n)*$/);
  expect(statSync(join(dataFolder, "secret")).mode & 0o777).toBe(0o600);
  expect(await json("migrate")).toEqual({ folder: dataFolder, steps: [] });
  expect((await run("migrate")).stdout).toBe(`The schema in data folder "${dataFolder}" is up to date\n`);
});

it("migrate works while a server runs", async () => {
  const { json, serve } = await makeWorkplace();
  await serve();
  expect(await json("migrate")).toMatchObject({ steps: [] });
});

describe.skipIf(missing !== null)(`refusals come before the first write ${missing ?? ""}`, () => {
  /** How to begin a storage, to give it the version before, and to read what a start or a migration would change. */
  const storages = {
    embedded: async () => {
      const { dataFolder } = await makeWorkplace();
      const file = join(dataFolder, "accountlink.db");
      return {
        variables: embeddedIn(dataFolder),
        older: async () => inDatabase(file, forgetLast),
        read: async () => rowsIn(file, versions),
      };
    },
    postgres: async () => {
      const { database, environment } = await makeShared();
      const ask = (query: string) => Effect.runPromise(database.query(query));
      return {
        variables: { ...environment, ACCOUNTLINK_CACHE: "memory" },
        older: async () => void (await ask(forgetLast)),
        read: () => ask(versions),
      };
    },
    redis: async () => {
      const { redis } = await makeShared();
      const ask = (...words: ReadonlyArray<string>) => Effect.runPromise(redis.ask(...words));
      return {
        variables: storageAt(redis.url),
        older: async () => {
          const found = await ask("HGET", "accountlink:store:values", "schema ");
          const value = found.replace(/^\$\d+\r\n/, "").trim();
          await ask(
            "HSET",
            "accountlink:store:values",
            "schema ",
            value.replace('"version":5', '"version":4'),
          );
          await ask("DEL", "accountlink:store:identity");
        },
        read: async () => [
          (await ask("HGET", "accountlink:store:values", "schema ")).replace(/^[^{]*/, ""),
          await ask("EXISTS", "accountlink:store:identity"),
        ],
      };
    },
  };

  it.each(["embedded", "postgres", "redis"] as const)("a storage in %s keeps its schema", async (kind) => {
    const { variables, older, read } = await storages[kind]();
    const held = createServer();
    const port = String(await listenLocally(held));
    onTestFinished(() => void held.close());
    const right = {
      ...variables,
      ACCOUNTLINK_SECRET: secretOf("s"),
      ACCOUNTLINK_PLATFORM: "none",
      ACCOUNTLINK_PORT: "0",
    };
    expect(await runInProcess(["keys", "create", "--account", "acme"], right)).toMatchObject({ code: 0 });
    const newest = await read();
    await older();
    const before = await read();
    expect(before).not.toEqual(newest);
    const wrongSecret = { ACCOUNTLINK_SECRET: secretOf("t") };
    const { redis } = await makeShared();
    const noDatabase = { ACCOUNTLINK_CACHE: "redis", ACCOUNTLINK_REDIS_URL: `${redis.url}/99` };
    const otherDeployment = { ACCOUNTLINK_DEPLOYMENT: "another" };
    for (const [command, wrong, problem] of [
      ["serve", wrongSecret, "ACCOUNTLINK_SECRET is not the secret"],
      ["serve", otherDeployment, 'ACCOUNTLINK_DEPLOYMENT is "another"'],
      ["serve", { ACCOUNTLINK_PORT: port }, "which is in use"],
      ["serve", { ACCOUNTLINK_OPERATOR_PORT: port }, "which is in use"],
      ["serve", { ACCOUNTLINK_PLATFORM: "dev", ACCOUNTLINK_DEV_PLATFORM_PORT: port }, "which is in use"],
      ["serve", noDatabase, "ACCOUNTLINK_REDIS_URL names database 99"],
      ["keys list", noDatabase, "ACCOUNTLINK_REDIS_URL names database 99"],
      ["migrate", wrongSecret, "ACCOUNTLINK_SECRET is not the secret"],
      ["migrate", otherDeployment, 'ACCOUNTLINK_DEPLOYMENT is "another"'],
      ["keys list", wrongSecret, "ACCOUNTLINK_SECRET is not the secret"],
      ["keys create --account acme", otherDeployment, 'ACCOUNTLINK_DEPLOYMENT is "another"'],
      ["resume", wrongSecret, "ACCOUNTLINK_SECRET is not the secret"],
      ["secrets rotate", wrongSecret, "ACCOUNTLINK_SECRET is not the secret"],
    ] as const) {
      const { code, stderr } = await runInProcess(command.split(" "), { ...right, ...wrong });
      expect([command, code, stderr]).toEqual([command, 1, expect.stringContaining(problem)]);
      expect([command, problem, await read()]).toEqual([command, problem, before]);
    }
  });

  it("a deployment that is named makes nothing in an empty folder", async () => {
    const { dataFolder } = await makeWorkplace({});
    const variables = { ...embeddedIn(dataFolder), ACCOUNTLINK_DEPLOYMENT: "another" };
    for (const command of ["serve", "migrate"]) {
      const { code, stderr } = await runInProcess([command], variables);
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining("is empty, expected the storage of that deployment"),
      ]);
    }
    expect(readdirSync(dataFolder)).toEqual([]);
  });
});
