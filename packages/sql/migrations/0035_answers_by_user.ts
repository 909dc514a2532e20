/** Indexes by the users of kept answers, which an erasure asks for, and of what sweeps and workers look for. */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { changeSchema } from "./change_schema.ts";

export const answersByUser = Effect.gen(function* () {
  const { commitsInOrder } = dialectOf(yield* SqlClient.SqlClient);
  const user = (number: number) =>
    commitsInOrder ? `(chat_ids ->> ${number})` : `((chat_ids::json ->> ${number}))`;
  yield* changeSchema(`
    CREATE INDEX idempotency_keys_by_user ON idempotency_keys (${user(0)}) WHERE ${user(0)} IS NOT NULL;
    CREATE INDEX idempotency_keys_by_second_user ON idempotency_keys (${user(1)}) WHERE ${user(1)} IS NOT NULL;
    CREATE INDEX idempotency_keys_by_third_user ON idempotency_keys (${user(2)}) WHERE ${user(2)} IS NOT NULL;
    CREATE INDEX imports_running ON imports (held_until) WHERE phase = 'running';
    CREATE INDEX imports_by_end ON imports (expires_at)
  `);
});
