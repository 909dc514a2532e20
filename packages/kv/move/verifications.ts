/** Sessions and flows, and kept answers of requests. */
import { requests } from "../stores/idempotency_store.ts";
import { bursts } from "../stores/session_store.ts";
import { sessions } from "../stores/verifications.ts";
import { type Unit, unit } from "./unit.ts";

export const verificationUnits: ReadonlyArray<Unit> = [
  unit({
    records: sessions,
    relation: "verification_sessions",
    columns: {
      sid: "session.id",
      key_id: "session.keyId",
      pid: "session.pid",
      client_id: "session.clientId",
      guild_id: "session.guildId",
      chat_id: "session.chatId",
      game_id: "session.gameId",
      redirect: "session.redirect",
      state: "session.state",
      link_changed: ["flag", "session.linkChanged"],
      previous_game_id: "session.previousGameId",
      proof: "session.proof",
      error: "session.error",
      created_at: "session.createdAt",
      expires_at: "session.expiresAt",
      completed_at: "session.completedAt",
      change: "session.change",
      changed_at: "changedAt",
      code_hash: ["optional", "code.hash"],
      sealed_sid: ["optional", "code.sealedSid"],
    },
  }),
  unit({
    records: bursts,
    relation: "session_bursts",
    columns: { key_id: "key", full_at: "fullAt" },
  }),
  unit({
    records: requests,
    relation: "idempotency_keys",
    columns: {
      id: "id",
      fingerprint: "fingerprint",
      answer: "answer",
      chat_ids: ["json", "chatIds"],
      ends_at: "endsAt",
    },
  }),
];
