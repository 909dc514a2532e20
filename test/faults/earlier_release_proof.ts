/**
 * A node of the release before, on the schema of this one: it answers every request of the contract as before. The
 * release before is the last commit without the newest migration.
 */
import { pathTemplate, type Route, routes } from "@accountlink/http-api";
import { runInProcess, storageAt } from "@accountlink/server/test_command_line";
import { makePostgresDatabase, whyNoPostgres } from "@accountlink/test-servers";
import { testLive } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { expect } from "vitest";
import type { Case } from "../contract/case_writer.ts";
import { addAccounts, addKey, cases } from "../contract/cases.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { useFolder } from "../support/folder.ts";
import { type Send, textOf } from "../support/http.ts";
import { serverInScope, startServer } from "../support/server.ts";
import { checkOut, newestStep, releaseBefore } from "./releases.ts";

const folder = useFolder();
const missing = await whyNoPostgres();

/** The requests that succeed, by route. */
const successes = cases.filter(({ title }) => title === "a request without a guild");

interface Row extends Pick<Case, "values" | "session"> {
  readonly key: string | null;
  readonly from: string;
}

/** Sends a request as a client does, with an idempotency key. */
const sendTo = async (send: Send, { id, method, path, source }: Route, row: Row) => {
  const { values, session, key, from } = row;
  const by = { ...(key !== null && { key }), from };
  let sid = `vs_${"0".repeat(43)}`;
  if (session !== undefined && key !== null) {
    const { body } = await send("POST /v2/sessions", { ...by, body: { clientId: "client" } });
    sid = textOf(body.data?.["sid"]);
  }
  const pairs = Object.entries(values).map(([name, value]): [string, string] => [name, String(value)]);
  const query = source === "query" && pairs.length > 0 ? `?${String(new URLSearchParams(pairs))}` : "";
  return send(`${method} ${path.replace(":sid", sid)}${query}`, {
    ...by,
    headers: { "idempotency-key": `${id}-1` },
    ...(source === "body" && { body: values }),
  });
};

testLive.skipIf(missing !== null)(
  `a node of the release before serves the contract on the schema of this one ${missing ?? ""}`,
  function* () {
    const step = yield* Effect.promise(newestStep);
    const program = yield* Effect.promise(async () => checkOut(await releaseBefore(), folder));
    const database = yield* makePostgresDatabase();
    const env = {
      ...storageAt(database.url),
      ACCOUNTLINK_STREAM_MAX: "100 millis",
    };
    const fixtures = makeFixtures();
    addAccounts(fixtures);
    const rows = successes.map(({ key, ...rest }) => ({
      ...rest,
      key: addKey(fixtures, key),
    }));
    const { send } = yield* serverInScope({ fixture: fixtures.fixture, env }, (options) =>
      startServer({ ...options, program }),
    );
    expect((yield* Effect.promise(() => send("GET /readyz"))).status).toBe(200);

    const migrated = yield* Effect.promise(() => runInProcess(["migrate", "--json"], env));
    expect([migrated.code, migrated.stdout]).toEqual([
      0,
      expect.stringContaining(/_(\w+)$/.exec(step)?.[1] ?? "no step"),
    ]);

    const { paths } = (yield* Effect.promise(() => send("GET /openapi.json"))).body;
    const answers: Array<unknown> = [];
    for (const row of rows) {
      const found = routes.find(({ id }) => id === row.route) ?? expect.fail();
      // A route of this release only.
      if (paths?.[pathTemplate(found)]?.[found.method.toLowerCase()] === undefined) continue;
      const { status, text } = yield* Effect.promise(() =>
        sendTo(send, found, { ...row, from: fixtures.address() }),
      );
      if (!row.answer.startsWith(String(status))) answers.push({ ...row, status, text });
    }
    expect(answers).toEqual([]);
    expect(rows.length).toBeGreaterThan(30);
    // A balancer prefers the nodes of this release, and uses the others until one is ready.
    const { status, body } = yield* Effect.promise(() => send("GET /readyz"));
    expect([status, body["failing"]]).toEqual([503, ["storage"]]);
  },
);
