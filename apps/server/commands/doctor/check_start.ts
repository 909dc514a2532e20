/** Tries what a start would do with a port and a folder of backups. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { rm, stat, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { dirname, join } from "node:path";
import { reasonOf } from "@accountlink/core/errors";
import { Effect } from "effect";
import type { Config } from "../../config/config.ts";
import { type Finding, fail, ok } from "./finding.ts";

/** Writes a file into the nearest folder that exists, and removes it again. */
export const checkBackupFolder = ({ ACCOUNTLINK_BACKUP_DIR: folder }: Config) => {
  if (folder === null) return Effect.succeed([]);
  return Effect.tryPromise({
    try: async () => {
      const file = join(await nearest(folder), `.accountlink-${randomUUID()}.part`);
      await writeFile(file, "", { flag: "wx", mode: 0o600 });
      await rm(file);
    },
    catch: reasonOf,
  }).pipe(
    Effect.match({
      onSuccess: (): Finding => ok("backups", `"${folder}" can be written`),
      onFailure: (reason): Finding =>
        fail(
          "backups",
          `"${folder}" cannot be written: ${reason}`,
          "Give the folder to the user of the server",
        ),
    }),
    Effect.map((finding) => [finding]),
  );
};

const nearest = async (folder: string): Promise<string> => {
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" && dirname(folder) !== folder) return null;
    throw error;
  });
  return found === null ? nearest(dirname(folder)) : folder;
};

/** Whether a program listens on a port, also one that answers nothing. */
export const isHeld = (host: string, port: number): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    const socket = createConnection({ host, port });
    try {
      await once(socket, "connect", { signal: AbortSignal.timeout(3_000) });
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  });

/** Both ports are of one process. */
export const equalPorts = ({ ACCOUNTLINK_PORT: port, ACCOUNTLINK_OPERATOR_PORT: operator }: Config) =>
  port === 0 || port !== operator
    ? []
    : [
        fail(
          "configuration",
          `ACCOUNTLINK_PORT and ACCOUNTLINK_OPERATOR_PORT are both ${port}`,
          "Set another ACCOUNTLINK_OPERATOR_PORT",
        ),
      ];
