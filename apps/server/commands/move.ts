import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Moved, MoveRefused, type Rest } from "@accountlink/core";
import { moveRows } from "@accountlink/core/storage";
import type { StorageRedis } from "@accountlink/redis";
import { StorageSql } from "@accountlink/sql";
import * as StoragePostgres from "@accountlink/sql/postgres";
import { Clock, Effect, Option, Redacted, Schedule } from "effect";
import { Flag } from "effect/cli";
import { Invocation } from "../cli/invocation.ts";
import { answer, countOf, rowsIn } from "../cli/output.ts";
import { progressBar } from "../cli/progress.ts";
import { CommandFailed } from "../cli/report.ts";
import { type Config, InvalidConfig } from "../config/config.ts";
import { locationOf, type OfKind, type PersistentStorage } from "../config/resolved_config.ts";
import { isPostgresUrl, isStorageUrl, storageForms } from "../config/store_url.ts";
import { writeIfAbsent } from "../files/atomic_write.ts";
import { prepareFolder, unusableFolder } from "../files/data_folder.ts";
import { redis } from "../layers/store_layers.ts";
import { checkIdentity, knownSecrets, secretFile } from "../secrets/deployment_secret.ts";
import { describe, single } from "./command.ts";
import { connectTimeout, type OpenedStorage, openStorage, stateOf } from "./management_layer.ts";

/** A folder whose name looks like a URL has to be written as a path, such as `./redis:x`. */
const scheme = /^[a-z][a-z\d+.-]+:/i;

const targetOf = (
  to: string,
  name: string,
  { ACCOUNTLINK_REDIS_PREFIX: prefix }: Config,
): Effect.Effect<PersistentStorage, InvalidConfig> => {
  if (isPostgresUrl(to)) {
    return Effect.succeed({ kind: "postgres", url: Redacted.make(to), maxConnections: 10 });
  }
  if (isStorageUrl(to)) return Effect.succeed({ kind: "redis", url: Redacted.make(to), prefix });
  const [begins] = scheme.exec(to) ?? [];
  if (begins === undefined) return Effect.succeed({ kind: "embedded", folder: join(to) });
  // Without what follows, which may have a password.
  return new InvalidConfig({
    problem: `${name} begins with "${begins}", expected ${storageForms.join(" or ")}, or a folder`,
  });
};

/** The flag, or the variable: flags show in the process list, and the URL may have a password. */
const givenTarget = Effect.fnUntraced(function* (to: Option.Option<string>, config: Config) {
  const { ACCOUNTLINK_MOVE_TO: variable = "" } = (yield* Invocation).environment;
  if (Option.isSome(to)) return yield* targetOf(to.value, "--to", config);
  if (variable !== "") return yield* targetOf(variable, "ACCOUNTLINK_MOVE_TO", config);
  return yield* new InvalidConfig({
    problem: "--to is not set, and neither is ACCOUNTLINK_MOVE_TO, expected the storage to move to",
  });
});

/** The connections of a move, which its source tells from a server's. */
const moveName = `accountlink move ${randomUUID()}`;

/** A connection is there for a moment after its program has ended. */
const untilGone = Schedule.spaced("200 millis").pipe(Schedule.upTo({ duration: "2 seconds" }));

/** Refuses a source that servers use. A lock keeps them out of a data folder. */
const refuseServers = Effect.fnUntraced(function* (source: PersistentStorage) {
  if (source.kind === "embedded") return;
  const users = Effect.gen(function* () {
    return source.kind === "postgres"
      ? yield* StoragePostgres.usersOf({ ...source, connectTimeout }, moveName)
      : yield* (yield* redis).StorageRedis.usersOf(source);
  });
  const [first, ...others] = yield* Effect.repeat(users, {
    schedule: untilGone,
    while: (found) => found.length > 0,
  });
  if (first === undefined) return;
  const use = others.length === 0 ? " uses" : ` and ${countOf(others.length, "other")} use`;
  return yield* new InvalidConfig({
    problem: `${first}${use} ${locationOf(source).text}, expected stopped servers`,
  });
});

/** A count of a large table takes longer than what servers do, and no request waits for it. */
const statementTimeout = "1 minute";

/** Takes a folder from every server, since nothing may change meanwhile. */
const openSql = Effect.fnUntraced(function* (
  storage: OfKind<PersistentStorage, "embedded" | "postgres">,
  role: Role,
) {
  const sql = yield* storage.kind === "embedded"
    ? StorageSql.openEmbedded(storage)
    : StoragePostgres.openPostgres({ ...storage, connectTimeout, statementTimeout }, moveName);
  const rows = yield* StorageSql.openRows(sql, role);
  const restAs: RestAs = (rest) => StorageSql.restDatabase(sql, rest);
  return { rows, restAs };
});

const openRedis = Effect.fnUntraced(function* (storage: OfKind<PersistentStorage, "redis">, role: Role) {
  const { StorageRedis } = yield* redis;
  const rows = yield* Effect.flatMap(StorageRedis.openKv(storage), (kv) => StorageRedis.openRows(kv, role));
  const restAs: RestAs = (rest) => StorageRedis.restRedis(storage, rest);
  return { rows, restAs };
});

type Role = "source" | "target";

type Resting = ReturnType<typeof StorageSql.restDatabase> | ReturnType<typeof StorageRedis.restRedis>;
type RestAs = (rest: Rest | null) => Effect.Effect<void, Effect.Error<Resting>>;

const openRows = (storage: PersistentStorage, role: Role) =>
  storage.kind === "redis" ? openRedis(storage, role) : openSql(storage, role);

interface Steps<E, R> {
  /** Makes the target ready, once nothing else can use the source. */
  readonly prepare: Effect.Effect<void, E, R>;
  readonly show: Parameters<typeof moveRows>[2];
  /** The rest of the source; null if it acts. */
  readonly rest: Rest | null;
  /** What the source is from the end on, so that never both act. */
  readonly movedAway: Rest;
  /** Whether the source rests because this move was cut off at its very end. */
  readonly isAtEnd: boolean;
}

const moveBetween = Effect.fnUntraced(function* <E, R>(
  source: PersistentStorage,
  target: PersistentStorage,
  { prepare, show, rest, movedAway, isAtEnd }: Steps<E, R>,
) {
  const from = yield* openRows(source, "source");
  yield* prepare;
  const to = yield* openRows(target, "target");
  // A server that began amid the move has connected before it could find that the source rests.
  const settle = Effect.when(to.restAs(rest), Effect.succeed(rest !== null && !isAtEnd)).pipe(
    Effect.andThen(from.restAs(movedAway)),
    Effect.andThen(Effect.tapError(refuseServers(source), () => from.restAs(rest))),
  );
  return yield* moveRows(from.rows, to.rows, show, settle);
});

/** Gives a new data folder the secret of the source, without which nothing starts from it. */
const prepareFolderOf = Effect.fnUntraced(function* (
  { config, storage, location }: OpenedStorage,
  target: PersistentStorage,
  rootKey: string,
) {
  if (target.kind !== "embedded") return;
  const { folder } = target;
  const unusable = unusableFolder(config, `the target is "${folder}"`);
  yield* prepareFolder(config, folder, unusable);
  if (storage.kind !== "embedded" || config.ACCOUNTLINK_SECRET !== null) return;
  const secrets = yield* knownSecrets(config, folder);
  if (secrets !== null) {
    yield* checkIdentity({ config, storage: target, secrets }, rootKey, location.text);
    return;
  }
  const text = yield* Effect.promise(() => readFile(secretFile(storage.folder), "utf8"));
  yield* Effect.mapError(writeIfAbsent(secretFile(folder), text), unusable);
});

/** Names the target for those who look at the source later, perhaps from another folder. */
const absolute = (target: PersistentStorage): string =>
  locationOf(target.kind === "embedded" ? { ...target, folder: resolve(target.folder) } : target).text;

/** Says which secret the target needs, if that is not the configured one. */
const secretNote = (config: Config, source: PersistentStorage, target: PersistentStorage): string => {
  const isFileNeeded = config.ACCOUNTLINK_SECRET === null && target.kind !== "embedded";
  return isFileNeeded && source.kind === "embedded"
    ? `. Its ACCOUNTLINK_SECRET is the content of ${secretFile(source.folder)}`
    : "";
};

export const moveCommand = single(
  "move",
  {
    to: Flag.String("to").pipe(
      Flag.withMetavar("url or dir"),
      Flag.withDescription(
        "A URL of postgres or redis, or the data folder of the embedded storage (default: ACCOUNTLINK_MOVE_TO, so that a password does not show in the process list)",
      ),
      Flag.optional,
    ),
  },
  function* ({ to }) {
    const opened = yield* openStorage("refuse");
    const { config, storage, location } = opened;
    const target = yield* givenTarget(to, config);
    yield* refuseServers(storage);
    const into = locationOf(target);
    const moving = Effect.gen(function* () {
      const { rootKey, rest, isHalfMoved } = yield* stateOf(storage);
      if (isHalfMoved) return yield* MoveRefused.of("halfSource");
      if (rootKey === null) return yield* MoveRefused.of("emptySource");
      yield* checkIdentity(opened, rootKey);
      const found = yield* stateOf(target);
      const reason = `moved to ${absolute(target)}` as const;
      if (found.rootKey !== null && !found.isHalfMoved) {
        const isSame = rest?.reason === reason && found.rootKey === rootKey;
        return yield* MoveRefused.of(isSame ? "finished" : "usedTarget");
      }
      const show = yield* progressBar();
      const moved: Moved = yield* moveBetween(storage, target, {
        prepare: prepareFolderOf(opened, target, rootKey),
        show: (done, total) => show({ doing: "moving", done, total, unit: "records" }),
        rest,
        movedAway: { since: yield* Clock.currentTimeMillis, reason },
        isAtEnd: rest?.reason === reason && found.isHalfMoved,
      });
      return moved;
    });
    const moved = yield* moving.pipe(
      Effect.scoped,
      Effect.catchTag("MoveRefused", ({ reason }) => {
        const places = `from ${location.text} to ${into.text}`;
        const problem = `Cannot move the data ${places}: ${reason}`;
        return Effect.fail(new CommandFailed({ problem, namesStorages: true }));
      }),
    );
    const records = rowsIn(moved.tables);
    const [first] = moved.different;
    if (first !== undefined) {
      const names = moved.different.map(
        ({ table, source, target: found }) => `${table} (${source}, ${found})`,
      );
      return yield* new CommandFailed({
        problem: `Cannot finish the move: ${location.text} and ${into.text} differ in ${names.join(", ")}, expected a source that nobody writes to; empty the target and repeat it`,
        details: { different: moved.different },
        namesStorages: true,
      });
    }
    yield* answer(
      { moved: moved.tables, records, from: location.json, to: into.json },
      `moved ${countOf(records, "record")} from ${location.text} to ${into.text}${secretNote(config, storage, target)}`,
    );
  },
).pipe(
  describe(
    [
      "Copy all records of the storage to an empty one: keys, links, sessions, webhooks, feeds with their positions, " +
        "and the root key under the same secret, so that clients change nothing. From any storage to any other. Stop the " +
        "servers first.",
      "Repeat an interrupted move: it goes on where it stopped. At its end it compares every record of both.",
    ],
    { "accountlink move --to postgres://accountlink:password@10.0.0.9/accountlink": "Move to Postgres" },
  ),
);
