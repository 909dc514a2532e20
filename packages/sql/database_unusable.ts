import { reasonOf } from "@accountlink/core/errors";
import { Data } from "effect";

/** The database cannot be opened or migrated: no access, a full disk, no network, or a damaged file. */
export class DatabaseUnusable extends Data.TaggedError("DatabaseUnusable")<{
  /** The path of the file, or `host:port/name` on a server. */
  readonly path: string;
  readonly cause: unknown;
}> {
  readonly code = "DATABASE_UNUSABLE";
  readonly details = null;
  override readonly message = `Cannot use database "${this.path}": ${reasonOf(this.cause)}`;
}
