import { Data, Predicate } from "effect";

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

/** The innermost message, which comes from the database or the file system. */
const reasonOf = (error: unknown): string => {
  const cause = Predicate.hasProperty(error, "cause") ? error.cause : undefined;
  // An `SqlError` wraps its reason, which wraps the driver's error.
  if (Predicate.hasProperty(cause, "message")) return reasonOf(cause);
  return Predicate.hasProperty(error, "message") ? String(error.message) : String(error);
};
