import { SessionId } from "@accountlink/core/ids";
import type { SessionStore } from "@accountlink/core/sessions";
import { columnReader } from "../statements/row.ts";
import type { StoreParts } from "../statements/store_operation.ts";
import { completeFlow } from "./flow_completion.ts";

export const sessionStatements = ({
  sql,
  operation,
  transaction,
  isAmong,
}: StoreParts): Pick<SessionStore["Service"], "changedSince" | "complete"> => ({
  // Every node asks for all sessions with open reads, of which few have changed.
  changedSince: operation("changedSince", (at, among) => {
    const isMeant = among === null ? sql`1 = 1` : sql`sid ${isAmong(among)}`;
    return readIds(sql`SELECT sid FROM verification_sessions WHERE changed_at >= ${at} AND ${isMeant}`);
  }),

  complete: transaction("complete", (write) => completeFlow(sql, write)),
});

const readIds = columnReader("verification_sessions", "sid", SessionId);
