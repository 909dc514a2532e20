/** Mistakes in the other stores. */
import type { Mutant } from "./mutant.ts";

const sightings = "alts/sighting_store.ts";
const reviews = "alts/alt_review_store.ts";
const signIns = "sign_ins/sign_in_store.ts";
const usage = "usage/usage_store.ts";
const ledger = "limits/count_ledger.ts";
const idempotency = "idempotency/idempotency_store.ts";
const audit = "audit/audit_log.ts";
const erasure = "users/erase_user.ts";
const rootKey = "secrets/root_key_store.ts";

export const mutants: ReadonlyArray<Mutant> = [
  {
    mistake: "an older sighting replaces a later one",
    file: "alts/store_sightings.ts",
    from: "if ((known.find(chatId, address.hash)?.seenAt ?? seenAt) <= seenAt) known.put(sighting);",
    to: "known.put(sighting);",
  },
  {
    mistake: "a user at two hashes of an address counts twice",
    file: "state/scope_sightings.ts",
    from: "return new Set(hashes.flatMap((hash) => [...(this.#byHash.get(hash)?.keys() ?? [])])).size;",
    to: "return hashes.flatMap((hash) => [...(this.#byHash.get(hash)?.keys() ?? [])]).length;",
  },
  {
    mistake: "a reprotected sighting keeps its old address too",
    file: sightings,
    from: "    known?.remove(chatId, hash);\n",
    to: "",
  },
  {
    mistake: "a page of sightings repeats the last of the page before",
    file: sightings,
    from: "compare(sighting, after) > 0",
    to: "compare(sighting, after) >= 0",
  },
  {
    mistake: "missing entry: a review is not in the audit log",
    file: reviews,
    from: `  memory.record({ ...write, action: "review.set", scope, details: { chatId, otherChatId, verdict } });\n`,
    to: "",
  },
  {
    mistake: "a pair has two reviews, one of each order",
    file: "state/scope_reviews.ts",
    from: `pair.toSorted().join(" ")`,
    to: `pair.join(" ")`,
  },
  {
    mistake: "a sign-in can be begun once and taken twice",
    file: signIns,
    from: "return memory.begunSignIns.delete(stateHash);",
    to: "return true;",
  },
  {
    mistake: "a sign-in is taken by the wrong site",
    file: signIns,
    from: "begun.site !== site ||",
    to: "",
  },
  {
    mistake: "a browser keeps its sign-in of before",
    file: signIns,
    from: "  if (replaced !== null) memory.signIns.delete(replaced);\n",
    to: "",
  },
  {
    mistake: "two requests claim one idempotency key",
    file: idempotency,
    from: "if (entry !== undefined && at < (entry.heldUntil ?? entry.endsAt))",
    to: "if (entry !== undefined && entry.answer !== null && at < entry.endsAt)",
  },
  {
    mistake: "an answer is kept for good",
    file: idempotency,
    from: "...kept, heldUntil: null }",
    to: "...kept, endsAt: Infinity, heldUntil: null }",
  },
  {
    mistake: "a write without its answer: the answer is lost",
    file: idempotency,
    from: "  memory.idempotent.set(held.id, { ...entry, ...kept, heldUntil: null });\n",
    to: "  memory.idempotent.set(held.id, entry);\n",
  },
  {
    mistake: "a request that failed is forgotten at once",
    file: idempotency,
    from: 'change(memory, held, { heldUntil: 0, requestId: "" })',
    to: "memory.idempotent.delete(held.id)",
  },
  {
    mistake: "a repeated batch counts twice",
    file: "state/usage.ts",
    from: "if (sequence <= (usage.meters.get(meter)?.sequence ?? 0)) return false;",
    to: "if (sequence < (usage.meters.get(meter)?.sequence ?? 0)) return false;",
  },
  {
    mistake: "usage of a day starts at the hour",
    file: "state/usage.ts",
    from: "from: hour - (hour % dayMs)",
    to: "from: hour",
  },
  {
    mistake: "the last use of a key goes back",
    file: usage,
    from: "at - (stored.lastUsedAt ?? -Infinity) >= lastUsePrecision",
    to: "Math.abs(at - (stored.lastUsedAt ?? -Infinity)) >= lastUsePrecision",
  },
  {
    mistake: "a late save of a lower count wins",
    file: ledger,
    from: "Math.max(memory.windows.get(name)?.counted ?? 0, count.counted)",
    to: "count.counted",
  },
  {
    mistake: "an ended node is live",
    file: ledger,
    from: "if (end <= now) memory.nodes.delete(id);",
    to: "if (end < now) memory.nodes.delete(id);",
  },
  {
    mistake: "another root key replaces the first",
    file: rootKey,
    from: "memory.rootKey ??=",
    to: "memory.rootKey =",
  },
  {
    mistake: "a root key is replaced that is not the expected one",
    file: rootKey,
    from: "if (memory.rootKey !== expected) return false;",
    to: "if (memory.rootKey === null) return false;",
  },
  {
    mistake: "the page of an audit log repeats its last entry",
    file: audit,
    from: "sequence < before",
    to: "sequence <= before",
  },
  {
    mistake: "entries of the very time are forgotten",
    file: audit,
    from: "at >= before",
    to: "at > before",
  },
  {
    mistake: "entries of a store share a sequence",
    file: "state/state.ts",
    from: "sequence: ++this.#lastSequence",
    to: "sequence: (this.#lastSequence += at % 2)",
  },
  {
    mistake: "an erased user stays in the audit log",
    file: erasure,
    from: "    log[log.indexOf(entry)] = { ...entry, ...withoutUser(entry, chatId, names) };\n",
    to: "    log.indexOf(entry);\n",
  },
  {
    mistake: "an erased user stays signed in",
    file: erasure,
    from: "if (signIn.chatId === chatId) memory.signIns.delete(signIn.id);",
    to: "",
  },
  {
    mistake: "an erased user stays in kept answers",
    file: erasure,
    from: "  eraseRequests(memory, chatId);\n",
    to: "",
  },
  {
    mistake: "a request under way commits after the erasure of its user",
    file: erasure,
    from: "if (!chatIds.includes(chatId)) continue;",
    to: "if (!chatIds.includes(chatId) || memory.idempotent.get(id)?.answer === null) continue;",
  },
  {
    mistake: "an erased request leaves its key free",
    file: erasure,
    from: "memory.idempotent.set(id, { ...erased, heldUntil: null });",
    to: "memory.idempotent.delete(id);",
  },
  {
    mistake: "an erasure overlooks a scope that was linked meanwhile",
    file: erasure,
    from: "if (holders.some(({ scope }) => !scopes.includes(scope.pid))) return Option.none();",
    to: "",
  },
];
