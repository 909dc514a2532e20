import { type ApiKey, type DataScope, guildOf, type VerificationSession } from "@accountlink/core";
import type { VerificationFlow } from "@accountlink/core/flow";
import { type FlowId, SessionId } from "@accountlink/core/ids";
import { uniqueText } from "../world.ts";

/** The deadline of new sessions and flows. */
export const deadline = 300_000;

export const uniqueSessionId = (): SessionId =>
  SessionId.make(`vs_${`${uniqueText()}${uniqueText()}`.slice(0, 43)}`);

export const uniqueFlowId = (): FlowId => uniqueText() as FlowId;

/** A session, not yet stored. */
export const newSession = (
  { id, scope }: ApiKey,
  parts: Partial<VerificationSession> = {},
): VerificationSession => ({
  id: uniqueSessionId(),
  keyId: id,
  pid: scope.pid,
  clientId: "client",
  guildId: guildOf(scope),
  chatId: null,
  gameId: null,
  redirect: null,
  state: "pending",
  linkChanged: false,
  previousGameId: null,
  error: null,
  createdAt: 0,
  expiresAt: deadline,
  completedAt: null,
  change: 1,
  ...parts,
});

/** A flow, not yet stored. */
export const newFlow = (scope: DataScope, parts: Partial<VerificationFlow> = {}): VerificationFlow => ({
  id: uniqueFlowId(),
  session: null,
  pid: scope.pid,
  guildId: guildOf(scope),
  redirect: null,
  chatId: null,
  gameId: null,
  seenVersion: null,
  expiresAt: deadline,
  ...parts,
});
