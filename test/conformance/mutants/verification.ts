/** Mistakes in sessions and flows. */
import type { Mutant } from "./mutant.ts";

const links = "links/link_store.ts";
const sessions = "sessions/session_store.ts";
const ends = "flow/verification_ends.ts";
const flows = "flow/flow_store.ts";

export const mutants: ReadonlyArray<Mutant> = [
  {
    mistake: "a removal fails no session",
    file: links,
    from: "ended: endVerifications(memory, pid, chatId, at) });",
    to: "ended: [] });",
  },
  {
    mistake: "a removal leaves the proofs of the chat user",
    file: ends,
    from: "    memory.flows.set(flow.id, voidedFlow(flow));\n",
    to: "",
  },
  {
    mistake: "a removal spares the session of a flow that proved the chat user",
    file: ends,
    from: "|| proven.has(session.id)",
    to: "",
  },
  {
    mistake: "a removal fails sessions of other scopes",
    file: ends,
    from: "session.pid === pid && (chatId === null",
    to: "(session.pid === pid || chatId !== null) && (chatId === null",
  },
  {
    mistake: "a final session changes again",
    file: sessions,
    from: "if (!canAdvance(session, to, at)) return Option.some({ session, changed: false });",
    to: `if (!canAdvance(session, to, at) && to !== "cancelled") return Option.some({ session, changed: false });`,
  },
  {
    mistake: "lost update: of cancellations at once each answers that it was the one",
    file: sessions,
    from: "advance: (write) => Effect.sync(() => advance(memory, write)),",
    to: `advance: (write) =>
        Effect.suspend(() => {
          const seen = memory.sessions.find(write.id);
          return Effect.andThen(Effect.yieldNow, Effect.sync(() => {
            if (seen !== undefined && seen !== memory.sessions.find(write.id)) memory.sessions.change(seen, write.at);
            return advance(memory, write);
          }));
        }),`,
  },
  {
    mistake: "a completion keeps its flow",
    file: sessions,
    from: "  endFlow(memory, write.flow);\n",
    to: "",
  },
  {
    mistake: "a completion stores no sighting",
    file: sessions,
    from: "  if (address !== null) storeSightings(memory, pid, [{ chatId, address, seenAt: at }]);\n",
    to: "",
  },
  {
    mistake: "a completion does not change its session",
    file: sessions,
    from: "  memory.sessions.change(completed, at);\n",
    to: "",
  },
  {
    mistake: "a completion does not look at what changed since its proofs",
    file: sessions,
    from: "if (refusal !== null) return refusal;",
    to: `if (refusal !== null && refusal._tag !== "LinkChanged") return refusal;`,
  },
  {
    mistake: "a refused creation takes from the burst",
    file: sessions,
    from: `if (taken !== null && "readyAt" in taken) return`,
    to: `if (taken !== null && "readyAt" in taken) memory.burstsFullAt.set(keyId, (memory.burstsFullAt.get(keyId) ?? 0) + 1);
  if (taken !== null && "readyAt" in taken) return`,
  },
  {
    mistake: "a session id is overwritten",
    file: sessions,
    from: "if (memory.sessions.find(id) !== undefined) {",
    to: "if (false) {",
  },
  {
    mistake: "a sweep expires sessions a millisecond early",
    file: sessions,
    from: `memory.sessions.unfinished((session) => canAdvance(session, "expired", at));
  for (const { id } of expired) advance(memory, { id, to: "expired", at });`,
    to: `memory.sessions.unfinished((session) => canAdvance(session, "expired", at + 1));
  for (const { id } of expired) advance(memory, { id, to: "expired", at: at + 1 });`,
  },
  {
    mistake: "a sweep forgets sightings of the very time",
    file: sessions,
    from: "if (seenAt < before)",
    to: "if (seenAt <= before)",
  },
  {
    mistake: "changedSince leaves out the very time",
    file: "state/sessions.ts",
    from: "(this.#changedAt.get(id) ?? -Infinity) >= at",
    to: "(this.#changedAt.get(id) ?? -Infinity) > at",
  },
  {
    mistake: "a challenge can be taken twice",
    file: flows,
    from: "  memory.challenges.delete(stateHash);\n  return Option.some(challenge);",
    to: "  return Option.some(challenge);",
  },
  {
    mistake: "a challenge of another flow can be taken",
    file: flows,
    from: "challenge?.flow !== id ||",
    to: "challenge === undefined ||",
  },
  {
    mistake: "a flow is found at its deadline",
    file: flows,
    from: "at < flow.expiresAt ? flow",
    to: "at <= flow.expiresAt ? flow",
  },
  {
    mistake: "a proven flow keeps the id of its old cookie too",
    file: flows,
    from: "  endFlow(memory, id);\n  memory.flows.set(nextId",
    to: "  memory.flows.set(nextId",
  },
];
