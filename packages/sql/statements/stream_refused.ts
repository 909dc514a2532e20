import { Stream } from "effect";
import { SqlError } from "effect/sql";

export const streamRefused = Stream.suspend(() => {
  const message = "Cannot stream rows: it would keep the connection busy, expected pages by key";
  return Stream.fail(
    new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: undefined, message }) }),
  );
});
