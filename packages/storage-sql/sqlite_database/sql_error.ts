/** Maps rejections to the typed reasons of `effect/sql`, by the messages of SQLite, which every client passes on. */
import { Predicate } from "effect";
import { SqlError } from "effect/sql";

export const sqlErrorOf = (cause: unknown): SqlError.SqlError =>
  new SqlError.SqlError({ reason: reasonOf(cause, messagesOf(cause)) });

const reasonOf = (cause: unknown, messages: string): SqlError.SqlErrorReason => {
  const unique = /UNIQUE constraint failed(?:: ([\w., ]+))?/.exec(messages);
  if (unique !== null) {
    const constraint = unique[1] ?? "unknown";
    const message = "Cannot write: a unique constraint is violated";
    return new SqlError.UniqueViolation({ cause, constraint, message });
  }
  if (/constraint failed/.test(messages)) {
    return new SqlError.ConstraintError({ cause, message: "Cannot write: a constraint is violated" });
  }
  if (/SQLITE_(?:BUSY|LOCKED)|database (?:table )?is locked/.test(messages)) {
    const message = "Cannot use the database: another connection holds its lock";
    return new SqlError.LockTimeoutError({ cause, message });
  }
  if (/syntax error|no such (?:table|column|function)/.test(messages)) {
    const message = "Cannot run the statement: the database refused it";
    return new SqlError.SqlSyntaxError({ cause, message });
  }
  return new SqlError.ConnectionError({ cause, message: "Cannot reach the database" });
};

const messagesOf = (error: unknown): string => {
  if (!Predicate.hasProperty(error, "message")) return String(error);
  const inner = Predicate.hasProperty(error, "cause") ? messagesOf(error.cause) : "";
  return `${String(error.message)} ${inner}`;
};
