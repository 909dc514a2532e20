/** Backups of embedded storage and of Postgres: files of a folder, of which the oldest are deleted. */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { StorageSql } from "@accountlink/sql";
import { Clock, Data, Effect, Metric, Schedule } from "effect";
import { reasonOf } from "../message_text.ts";

/** The folder of the backups cannot be used. */
class BackupFolderUnusable extends Data.TaggedError("BackupFolderUnusable")<{
  readonly folder: string;
  readonly cause: unknown;
}> {
  override readonly message = `Cannot write a backup into "${this.folder}": ${reasonOf(this.cause)}`;
}

/** Writes a copy to a new file, and returns what it holds, read from the copy. */
interface BackupSource<E> {
  readonly ending: "db" | "dump";
  readonly copy: (file: string) => Effect.Effect<StorageSql.CopyState, E>;
}

const backupName = /^accountlink-\d{8}T\d{9}Z\.(?<ending>db|dump)$/;
const partName = /^\.accountlink-[\da-f-]{36}\.part$/;

const attempt = <A>(folder: string, action: () => Promise<A>) =>
  Effect.tryPromise({ try: action, catch: (cause) => new BackupFolderUnusable({ folder, cause }) });

/** Names of the backups in a folder, oldest first. */
const backupsIn = async (folder: string, ending: string): Promise<ReadonlyArray<string>> =>
  (await readdir(folder)).filter((name) => backupName.exec(name)?.groups?.["ending"] === ending).toSorted();

/**
 * Writes a backup under a temporary name, reads it, gives it its name, then deletes the oldest ones.
 *
 * @param keep how many backups stay
 */
export const makeBackup = Effect.fn("makeBackup")(function* <E>(
  { ending, copy }: BackupSource<E>,
  folder: string,
  keep: number,
) {
  yield* attempt(folder, async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // Parts of a process that was killed.
    for (const name of await readdir(folder)) if (partName.test(name)) await rm(join(folder, name));
  });
  const part = join(folder, `.accountlink-${randomUUID()}.part`);
  const state = yield* copy(part).pipe(
    Effect.onError(() => Effect.promise(() => rm(part, { force: true }).catch(() => {}))),
  );
  const at = new Date(yield* Clock.currentTimeMillis);
  const file = join(folder, `accountlink-${at.toISOString().replaceAll(/[-:.]/g, "")}.${ending}`);
  const deleted = yield* attempt(folder, async () => {
    await rename(part, file);
    const old = (await backupsIn(folder, ending)).slice(0, -keep);
    for (const name of old) await rm(join(folder, name));
    return old;
  });
  const { size } = yield* attempt(folder, () => stat(file));
  return { file, size, deleted, ...state };
});

/** Copies of the database of a data folder. */
export const embeddedBackups = (dataFolder: string) =>
  ({ ending: "db", copy: (file: string) => StorageSql.copyEmbedded(dataFolder, file) }) as const;

const age = Metric.gauge("accountlink_backup_age_seconds", {
  description: "The age of the newest backup that the server makes; without one, since its start",
});

const every = Metric.gauge("accountlink_backup_every_seconds", {
  description: "How often the server makes a backup",
});

interface BackupPlan {
  readonly dataFolder: string;
  readonly folder: string;
  /** In milliseconds. */
  readonly every: number;
  readonly keep: number;
}

/** Makes a backup whenever the newest one is old enough, and keeps the metric of its age. A failure is tried again. */
export const runBackups = Effect.fnUntraced(function* (plan: BackupPlan) {
  const { dataFolder, folder, keep } = plan;
  const source = embeddedBackups(dataFolder);
  const startedAt = yield* Clock.currentTimeMillis;
  yield* Metric.update(every, plan.every / 1_000);
  const newest = Effect.promise(async () => {
    const name = (await backupsIn(folder, source.ending).catch(() => [])).at(-1);
    return name === undefined ? null : ((await stat(join(folder, name)).catch(() => null))?.mtimeMs ?? null);
  });
  let failedAt: number | null = null;
  const look = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis;
    const last = yield* newest;
    yield* Metric.update(age, Math.max(0, now - (last ?? startedAt)) / 1_000);
    const isDue = last === null || now - last >= plan.every;
    if (!isDue || (failedAt !== null && now - failedAt < Math.min(plan.every, retryAfter))) return;
    const made = yield* Effect.result(makeBackup(source, folder, keep));
    failedAt = made._tag === "Failure" ? now : null;
    if (made._tag === "Failure") return yield* Effect.logError(`Backup failed: ${made.failure.message}`);
    yield* Metric.update(age, 0);
    yield* Effect.annotateLogs(Effect.logInfo("Backup made"), { file: made.success.file });
  });
  yield* Effect.repeat(look, Schedule.spaced(Math.min(plan.every, 15_000)));
});

/** In milliseconds. */
const retryAfter = 300_000;
