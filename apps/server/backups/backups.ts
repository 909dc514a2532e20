/** Backups of embedded storage and of Postgres: files of a folder, of which the oldest are deleted. */
import { existsSync } from "node:fs";
import { link, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf } from "@accountlink/core/errors";
import { StorageSql } from "@accountlink/sql";
import { Clock, Data, Effect, Metric, Schedule } from "effect";
import { newPart, removeAbandoned } from "../files/parts.ts";

/** The folder of the backups cannot be used. */
class BackupFolderUnusable extends Data.TaggedError("BackupFolderUnusable")<{
  readonly folder: string;
  readonly cause: unknown;
}> {
  override readonly message =
    `Cannot write a backup into "${this.folder}": ${reasonOf(this.cause)}, expected a folder that can be made and written to`;
}

/** Writes a copy to an empty file, and returns what it holds, read from the copy. */
interface BackupSource<E> {
  readonly ending: "db" | "dump";
  readonly copy: (file: string) => Effect.Effect<StorageSql.CopyState, E>;
}

const backupName = /^accountlink-(?<identity>[\w-]{22})-(?<time>\d{8}T\d{9}Z)\.(?<ending>db|dump)$/;

const attempt = <A>(folder: string, action: () => Promise<A>) =>
  Effect.tryPromise({ try: action, catch: (cause) => new BackupFolderUnusable({ folder, cause }) });

export const timeText = (millis: number): string => new Date(millis).toISOString().replaceAll(/[-:.]/g, "");

/** Backups that end together take times of the next milliseconds. One that is dated further ahead has a wrong time. */
const mostAhead = 60_000;

/**
 * The backups of a storage in a folder, oldest first. Those that are dated ahead come first: the clock was wrong when they
 * were made.
 */
const backupsIn = async (
  folder: string,
  ending: string,
  identity: string,
  now: number,
): Promise<ReadonlyArray<{ readonly name: string; readonly time: string; readonly isAhead: boolean }>> => {
  const latest = timeText(now + mostAhead);
  const found = (await readdir(folder)).flatMap((name) => {
    const groups = backupName.exec(name)?.groups;
    const isOwn = groups?.["ending"] === ending && groups["identity"] === identity;
    const time = groups?.["time"] ?? "";
    return isOwn ? [{ name, time, isAhead: time > latest }] : [];
  });
  const rank = ({ isAhead, time }: (typeof found)[number]): string => (isAhead ? "" : time);
  return found.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1));
};

/** Gives a part its name, unless another backup of the same millisecond has it. */
const takesName = async (part: string, file: string): Promise<boolean> => {
  try {
    await link(part, file);
  } catch (error) {
    if (existsSync(file)) return false;
    // The folder has no hard links, as on some network drives.
    if (!existsSync(part)) throw error;
    await rename(part, file);
  }
  await rm(part, { force: true });
  return true;
};

/**
 * Writes a backup under a temporary name, reads it, gives it its name, then deletes the oldest ones of the same storage.
 *
 * @param identity of the storage, as `/readyz` tells it
 * @param keep how many backups stay
 */
export const makeBackup = Effect.fn("makeBackup")(function* <E>(
  { ending, copy }: BackupSource<E>,
  { folder, identity, keep }: { readonly folder: string; readonly identity: string; readonly keep: number },
) {
  const begun = yield* Clock.currentTimeMillis;
  const part = newPart(folder);
  yield* attempt(folder, async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await removeAbandoned(folder, begun);
    // The programs that fill it would make a file that everyone can read.
    await writeFile(part, "", { flag: "wx", mode: 0o600 });
  });
  const state = yield* copy(part).pipe(
    Effect.onError(() => Effect.promise(() => rm(part, { force: true }).catch(() => {}))),
  );
  const now = yield* Clock.currentTimeMillis;
  const nameAt = (at: number) => join(folder, `accountlink-${identity}-${timeText(at)}.${ending}`);
  const { at, file } = yield* attempt(folder, async () => {
    const made = await backupsIn(folder, ending, identity, now);
    const newest = made.findLast(({ isAhead }) => !isAhead)?.time ?? "";
    let free = now;
    while (timeText(free) <= newest || !(await takesName(part, nameAt(free)))) free++;
    return { at: free, file: nameAt(free) };
  });
  const deleted = yield* attempt(folder, async () => {
    const old = (await backupsIn(folder, ending, identity, at)).slice(0, -keep);
    for (const { name } of old) await rm(join(folder, name), { force: true });
    return old.map(({ name }) => name);
  });
  const { size } = yield* attempt(folder, () => stat(file));
  return { file, size, deleted, ...state };
});

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
  readonly identity: string;
  /** In milliseconds. */
  readonly every: number;
  readonly keep: number;
}

/** Makes a backup whenever the newest one is old enough, and keeps the metric of its age. A failure is tried again. */
export const runBackups = Effect.fnUntraced(function* (plan: BackupPlan) {
  const { dataFolder, folder, identity } = plan;
  const source = embeddedBackups(dataFolder);
  const startedAt = yield* Clock.currentTimeMillis;
  yield* Metric.update(every, plan.every / 1_000);
  /** The time of the newest backup. One that is dated ahead tells nothing. */
  const newest = (now: number) =>
    Effect.promise(async () => {
      const last = (await backupsIn(folder, source.ending, identity, now).catch(() => [])).at(-1);
      const found = last === undefined ? null : await stat(join(folder, last.name)).catch(() => null);
      return found === null || found.mtimeMs > now ? null : found.mtimeMs;
    });
  let failedAt: number | null = null;
  const look = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis;
    const last = yield* newest(now);
    yield* Metric.update(age, Math.max(0, now - (last ?? startedAt)) / 1_000);
    const isDue = last === null || now - last >= plan.every;
    if (!isDue || (failedAt !== null && now - failedAt < Math.min(plan.every, retryAfter))) return;
    const made = yield* Effect.result(makeBackup(source, plan));
    failedAt = made._tag === "Failure" ? now : null;
    if (made._tag === "Failure") return yield* Effect.logError(`Backup failed: ${made.failure.message}`);
    yield* Metric.update(age, 0);
    yield* Effect.annotateLogs(Effect.logInfo("Backup made"), { file: made.success.file });
  });
  yield* Effect.repeat(look, Schedule.spaced(Math.min(plan.every, 15_000)));
});

/** In milliseconds. */
const retryAfter = 300_000;
