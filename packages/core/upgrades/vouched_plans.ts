import { Effect, Option } from "effect";
import { type AuditEntry, AuditLog } from "../audit/audit.ts";
import type { GuildId, Pid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { RolePlanStore, RolePlans } from "../roles/mod.ts";

/** How many audit entries are read at once. */
const pageSize = 100;

/**
 * Pauses plans that a key saved last, in an earlier release, with roles that those may not give with whose rights the key
 * acts.
 */
export const makeVouchedPlans = Effect.gen(function* () {
  const keys = yield* KeyStore;
  const log = yield* AuditLog;
  const store = yield* RolePlanStore;
  const plans = yield* RolePlans;

  const checkPlan = Effect.fnUntraced(function* ({ actor, pid, details }: AuditEntry) {
    if (actor.type !== "key") return;
    const guildId = details["guildId"] as GuildId;
    const plan = Option.getOrNull(yield* store.find({ pid: pid as Pid, guildId }));
    if (plan?.state === "on") yield* plans.pauseUnlessNameable(plan, actor);
  });

  const checkAccount = Effect.fnUntraced(function* (account: string) {
    const checked = new Set<string>();
    let before: number | null = null;
    do {
      const page: { readonly entries: ReadonlyArray<AuditEntry>; readonly next: number | null } =
        yield* log.list(account, before, pageSize, { action: "roles.updated", keyId: null });
      for (const entry of page.entries) {
        const place = `${entry.pid} ${entry.details["guildId"]}`;
        const saved = String(entry.details["changed"]).split(", ");
        // Whoever turned the rules on was asked for the rights to all of them.
        if (checked.has(place) || !(saved.includes("rules") || saved.includes("state"))) continue;
        checked.add(place);
        yield* checkPlan(entry);
      }
      before = page.next;
    } while (before !== null);
  });

  return Effect.gen(function* () {
    for (const { name } of yield* keys.listAccounts()) yield* checkAccount(name);
  });
});
