/** Postgres behind PgBouncer in session mode, with the settings of docs/scaling.md. */
import { storageAt } from "@accountlink/server/test_command_line";
import { inspectPostgres, layerPostgres } from "@accountlink/sql/postgres";
import {
  makePostgresDatabase,
  startPgbouncer,
  startPostgres,
  whyNoPgbouncer,
  whyNoPostgres,
} from "@accountlink/test-servers";
import { linkStoreSuite } from "@accountlink/testing/conformance";
import { Effect, Exit, Layer, Logger, Option, Redacted } from "effect";
import * as test from "vitest";
import { readDocument } from "../docs/document.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { openReads } from "../support/open_reads.ts";
import { serverInScope } from "../support/server.ts";

const { describe, expect, it } = test;

const missing = (await whyNoPostgres()) ?? (await whyNoPgbouncer());

const [, ignored = ""] =
  /ignore_startup_parameters = ([\w,]+)/.exec(readDocument("docs/scaling.md").replaceAll("\n", " ")) ?? [];

const startBehindPgbouncerIn = Effect.fnUntraced(function* (mode: "session" | "transaction") {
  const { url } = yield* makePostgresDatabase(yield* startPostgres());
  return yield* startPgbouncer(url, [`pool_mode = ${mode}`, `ignore_startup_parameters = ${ignored}`]);
});

const startBehindPgbouncer = startBehindPgbouncerIn("session");

const storage = Layer.unwrap(
  Effect.map(startBehindPgbouncer, (url) => layerPostgres({ url: Redacted.make(url) })),
);

it.skipIf(missing !== null)(
  `PgBouncer in transaction mode is named at the start and by the inspection ${missing ?? ""}`,
  () =>
    Effect.gen(function* () {
      const url = Redacted.make(yield* startBehindPgbouncerIn("transaction"));
      const lines: Array<string> = [];
      const logger = Logger.make(({ message }) => void lines.push(String(message)));
      const started = yield* Effect.exit(Layer.build(layerPostgres({ url }))).pipe(
        Effect.provide(Logger.layer([logger])),
      );
      const inspected = yield* Effect.exit(inspectPostgres({ url }));
      const said = "gives each transaction another connection, expected pool_mode = session";
      const failureOf = (exit: Exit.Exit<unknown, { readonly message: string }>) =>
        Option.getOrElse(
          Option.map(Exit.findErrorOption(exit), ({ message }) => message),
          () => "",
        );
      expect(`${lines.join(" ")} ${failureOf(started)}`).toContain(said);
      const isNamed = Exit.isSuccess(inspected)
        ? inspected.value.isShared
        : failureOf(inspected).includes(said);
      expect(isNamed).toBe(true);
    }).pipe(Effect.scoped, Effect.runPromise),
);

describe.skipIf(missing !== null)(`PgBouncer in session mode ${missing ?? ""}`, () => {
  linkStoreSuite({ name: "Postgres behind PgBouncer", layer: storage, test });

  it("a server behind PgBouncer starts, writes a link, looks it up and answers a long poll", () =>
    Effect.gen(function* () {
      const url = yield* startBehindPgbouncer;
      const fixtures = makeFixtures();
      const key = fixtures.key({ links: { 100001: "1" } });
      const env = storageAt(url);
      const { send } = yield* serverInScope({ fixture: fixtures.fixture, env });
      yield* Effect.promise(async () => {
        const write = await send("PATCH /v2/game", { key, body: { chatId: "100002", gameId: "2" } });
        expect(write.status).toBe(200);
        const lookup = await send("GET /v2/chat?chatId=100002", { key });
        expect(lookup.body.data).toMatchObject({ gameId: "2" });
        const created = await send("POST /v2/sessions", { key, body: { clientId: "client" } });
        const sid = textOf(created.body.data?.["sid"]);
        const poll = send(`GET /v2/sessions/${sid}?wait=20`, { key });
        await openReads(send, "session_reads_open")(1);
        await send(`DELETE /v2/sessions/${sid}`, { key });
        expect((await poll).body.data).toMatchObject({ state: "cancelled" });
      });
    }).pipe(Effect.scoped, Effect.runPromise));
});
