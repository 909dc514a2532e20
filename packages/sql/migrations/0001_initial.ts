/**
 * The first migration. Indexes are named after what they find. `links` and its index begin with `pid`, so that the
 * table can be partitioned by scope.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { accounts } from "./initial/accounts.ts";
import { alts } from "./initial/alts.ts";
import { auditLog } from "./initial/audit.ts";
import { events } from "./initial/events.ts";
import { idempotency } from "./initial/idempotency.ts";
import { limits } from "./initial/limits.ts";
import { links } from "./initial/links.ts";
import { signIns } from "./initial/sign_ins.ts";
import { usage } from "./initial/usage.ts";
import { verification } from "./initial/verification.ts";
import { webhooks } from "./initial/webhooks.ts";

export const initial = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const dialect = dialectOf(sql);
  for (const create of [
    accounts,
    links,
    auditLog,
    events,
    verification,
    alts,
    limits,
    usage,
    signIns,
    idempotency,
    webhooks,
  ]) {
    yield* create(sql, dialect);
  }
});
