/** A database that cannot be opened. */
import { Data, Predicate } from "effect";

/**
 * The database cannot be opened or migrated: no access, no disk or no network, or something that is not a sound
 * database.
 */
export class DatabaseUnusable extends Data.TaggedError("DatabaseUnusable")<{
  /** The path of its file, or the `host:port/name` of one on a server. */
  readonly path: string;
  readonly cause: unknown;
}> {
  override readonly message = `Cannot use database "${this.path}": ${reasonOf(this.cause)}`;
}

/** The innermost message: what the database or the file system itself said. */
const reasonOf = (error: unknown): string => {
  const cause = Predicate.hasProperty(error, "cause") ? error.cause : undefined;
  // An error of effect/sql has a reason, whose cause in turn is what the driver threw.
  if (Predicate.hasProperty(cause, "message")) return reasonOf(cause);
  return Predicate.hasProperty(error, "message") ? String(error.message) : String(error);
};
