import { chmodSync, existsSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeWorkplace } from "../internal/test_program.ts";

interface Finding {
  readonly status: string;
  readonly check: string;
  readonly finding: string;
}

const findingsOf = (answer: Record<string, unknown>): ReadonlyArray<string> =>
  (answer["findings"] as ReadonlyArray<Finding>).map(
    ({ status, check, finding }) => `${status} ${check}: ${finding}`,
  );

/** A port that is taken until the test ends. */
const takenPort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  return (server.address() as { readonly port: number }).port;
};

describe("accountlink doctor", () => {
  it("finds nothing wrong with a deployment that is new, and makes nothing", async () => {
    const { run, dataFolder } = await makeWorkplace();
    const { code, stdout, stderr } = await run("doctor");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^ok {4}configuration {2}\d+ variables, 4 of them set$/m);
    expect(stdout).not.toMatch(/^(warn|fail)/m);
    expect(existsSync(dataFolder)).toBe(false);
  });

  it("finds every variable that is wrong or unknown", async () => {
    const { run } = await makeWorkplace({
      ACCOUNTLINK_PORT: "80a",
      ACCOUNTLINK_SESSION_TTL: "soon",
      ACCOUNTLINK_PROT: "1",
    });
    const { code, stdout } = await run("doctor");
    expect(code).toBe(1);
    expect(stdout).toContain('fail  configuration  ACCOUNTLINK_PORT is "80a", expected a port number');
    expect(stdout).toContain('fail  configuration  ACCOUNTLINK_SESSION_TTL is "soon", expected a duration');
    expect(stdout).toContain("warn  configuration  ACCOUNTLINK_PROT is set, and no variable of this release");
  });

  it("finds what is open to others", async () => {
    const { json, dataFolder } = await makeWorkplace();
    await json("migrate");
    chmodSync(dataFolder, 0o755);
    chmodSync(join(dataFolder, "secret"), 0o644);
    const findings = findingsOf(await json("doctor"));
    expect(findings).toContain(`warn data folder: "${dataFolder}" is open to others (mode 755)`);
    expect(findings).toContain(`warn secret: "${join(dataFolder, "secret")}" is open to others (mode 644)`);
  });

  it("finds a secret that is gone, a clock that went back and a database that is too new", async () => {
    const { json, dataFolder } = await makeWorkplace();
    await json("migrate");
    writeFileSync(join(dataFolder, "secret"), "damaged");
    const database = new DatabaseSync(join(dataFolder, "accountlink.db"));
    database.exec("INSERT INTO schema_migrations (migration_id, name) VALUES (999, 'later')");
    database.close();
    const later = Date.now() / 1000 + 7_200;
    utimesSync(join(dataFolder, "accountlink.db"), later, later);
    const answer = await json("doctor");
    const findings = findingsOf(answer).join("\n");
    expect(answer["failed"]).toBe(3);
    expect(findings).toContain("fail secret: secret file");
    expect(findings).toMatch(/fail clock: it says .*, and the database was written 7\d\d\d s later/);
    expect(findings).toContain("has schema version 999, and this release knows");
  });

  it("finds a database that is damaged", async () => {
    const { run, json, dataFolder } = await makeWorkplace();
    await json("migrate");
    writeFileSync(
      join(dataFolder, "accountlink.db"),
      "not a database, and long enough to be looked at".repeat(100),
    );
    const { code, stdout } = await run("doctor");
    expect(code).toBe(1);
    expect(stdout).toContain("fail  database       file is not a database");
  });

  it("finds a running server, and asks it when its port is known", async () => {
    const { json, serve, dataFolder } = await makeWorkplace();
    const url = await serve();
    expect(findingsOf(await json("doctor")).join("\n")).toMatch(
      /ok server: process \d+ runs, on a port that is not known/,
    );
    const under = async (port: string) => {
      const environment = { ACCOUNTLINK_DATA_DIR: dataFolder, ACCOUNTLINK_PORT: port };
      return findingsOf(await (await makeWorkplace(environment)).json("doctor")).join("\n");
    };
    expect(await under(new URL(url).port)).toMatch(/ok server: process \d+ runs and is ready/);
    expect(await under("1")).toMatch(/warn server: process \d+ runs, and does not answer at .*ECONNREFUSED/);
  });

  it("finds a port that is taken", async () => {
    const port = await takenPort();
    const { json } = await makeWorkplace({ ACCOUNTLINK_PORT: String(port) });
    expect(findingsOf(await json("doctor")).join("\n")).toMatch(
      /fail server: none runs, and it could not listen: .*EADDRINUSE/,
    );
  });

  it("finds that a fixture cannot be loaded", async () => {
    const place = await makeWorkplace({ ACCOUNTLINK_FIXTURE: "fixture.json" });
    await place.file("fixture.json", '{ "links": [{ "scope": "global" }] }');
    const findings = findingsOf(await place.json("doctor")).join("\n");
    expect(findings).toMatch(/fail fixture: "fixture.json": .*links\[0\]/);
  });
});
