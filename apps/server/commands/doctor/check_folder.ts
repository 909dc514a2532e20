import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { StorageSql } from "@accountlink/sql";
import { Clock, Effect } from "effect";
import { formatCount } from "../../cli/output.ts";
import type { Config } from "../../config/config.ts";
import type { Storage } from "../../config/resolved_config.ts";
import { reasonOf } from "../../message_text.ts";
import { resolveSecrets, secretFile } from "../../secrets/deployment_secret.ts";
import { checkEvents } from "./check_events.ts";
import { checkRootKey } from "./check_root_key.ts";
import { checkWebhooks } from "./check_webhooks.ts";
import { type Finding, fail, judgeSchema, ok, warn } from "./finding.ts";

type Embedded = Extract<Storage, { readonly kind: "embedded" }>;

const mebibyte = 1_048_576;
const littleSpace = 64 * mebibyte;
const enoughSpace = 1_024 * mebibyte;

/** Also returns the server that uses the folder, and the wrapped root key. */
export const checkFolder = Effect.fnUntraced(function* (config: Config, storage: Embedded) {
  const { folder } = storage;
  const { state, finding } = yield* checkDatabase(folder);
  const findings = [
    ...(yield* checkAccess(folder)),
    ...(yield* checkSecret(config, storage, state)),
    finding,
    ...(yield* checkEvents(config, state)),
    ...(yield* checkWebhooks(state)),
  ];
  findings.push(checkSpace(folder), checkClock(folder, yield* Clock.currentTimeMillis));
  return { findings, server: state?.server ?? null, rootKey: state?.rootKey ?? null };
});

/** Whether a path is accessible to its owner only. */
const checkMode = (check: string, path: string, use: "read" | "written", rightMode: string): Finding => {
  const mode = statSync(path).mode & 0o777;
  return (mode & 0o077) === 0
    ? ok(check, `"${path}" can be ${use}, by nobody else`)
    : warn(
        check,
        `"${path}" is open to others (mode ${mode.toString(8)})`,
        `Run: chmod ${rightMode} "${path}"`,
      );
};

const checkAccess = (folder: string): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.sync(() => {
    const nearest = nearestFolder(folder);
    if (!canWrite(nearest)) {
      return [
        fail("data folder", `"${nearest}" cannot be written`, "Give it to the user who runs the server"),
      ];
    }
    if (nearest !== folder) return [ok("data folder", `"${folder}" is not there yet, and will be made`)];
    return [checkMode("data folder", folder, "written", "700")];
  });

/** The folder itself, or the nearest one above it that exists. */
const nearestFolder = (folder: string): string =>
  existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));

const canWrite = (folder: string): boolean => {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
};

const checkSecret = Effect.fnUntraced(function* (
  config: Config,
  storage: Embedded,
  state: StorageSql.EmbeddedState | null,
) {
  const file = secretFile(storage.folder);
  const isConfigured = config.ACCOUNTLINK_SECRET !== null;
  if (!isConfigured && !existsSync(file) && !StorageSql.hasDatabase(storage.folder)) {
    return [ok("secret", "there is none yet, and one will be made")];
  }
  return yield* resolveSecrets({ config, storage }).pipe(
    Effect.flatMap((secrets) => checkRootKey(config, storage, secrets, state)),
    Effect.map((rootKey) => [
      isConfigured ? ok("secret", "ACCOUNTLINK_SECRET is set") : checkMode("secret", file, "read", "600"),
      ...rootKey,
    ]),
    Effect.catchTag("InvalidConfig", ({ problem }) =>
      Effect.succeed([fail("secret", problem, "Set ACCOUNTLINK_SECRET, or restore the file from a backup")]),
    ),
  );
});

const checkDatabase = (
  folder: string,
): Effect.Effect<{ readonly state: StorageSql.EmbeddedState | null; readonly finding: Finding }> =>
  StorageSql.inspectEmbedded(folder).pipe(
    Effect.map((state) => ({
      state,
      finding: state === null ? ok("database", "there is none yet, and one will be made") : judge(state),
    })),
    Effect.catch((error) =>
      Effect.sync(() => {
        // Where there is no room, nothing shows that the file is damaged.
        const advice = freeSpace(folder) < littleSpace ? makeRoom : "Restore it from a backup";
        return { state: null, finding: fail("database", reasonOf(error), advice) };
      }),
    ),
  );

const judge = ({ path, schema, damage }: StorageSql.EmbeddedState): Finding => {
  if (damage.length > 0)
    return fail("database", `"${path}" is damaged: ${damage.join("; ")}`, "Restore it from a backup");
  const size = `${formatCount(Math.ceil(statSync(path).size / mebibyte))} MiB`;
  return judgeSchema(`"${path}"`, schema, `"${path}" is sound, ${size}`);
};

const freeSpace = (folder: string): number => {
  const { bavail, bsize } = statfsSync(nearestFolder(folder));
  return bavail * bsize;
};

const makeRoom = "Make room";

const checkSpace = (folder: string): Finding => {
  const free = freeSpace(folder);
  const finding = `${formatCount(Math.floor(free / mebibyte))} MiB free where the data folder is`;
  if (free >= enoughSpace) return ok("disk", finding);
  return free < littleSpace ? fail("disk", finding, makeRoom) : warn("disk", finding, makeRoom);
};

/** The system corrects a clock that is a little behind. */
const toleratedLag = 60_000;

const checkClock = (folder: string, now: number): Finding => {
  const database = StorageSql.databaseFile(folder);
  const written = [database, `${database}-wal`]
    .filter((path) => existsSync(path))
    .map((path) => statSync(path).mtimeMs);
  const behind = Math.max(0, ...written) - now;
  const time = formatTimestamp(now);
  return behind > toleratedLag
    ? fail(
        "clock",
        `it says ${time}, and the database was written ${Math.ceil(behind / 1000)} s later`,
        "Set the clock",
      )
    : ok("clock", `it says ${time}`);
};
