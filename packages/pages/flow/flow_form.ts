import type { FlowEntry, FlowView, ProofStep } from "@accountlink/core/flow";
import { isGuildId } from "@accountlink/core/ids";
import type { RequestContext } from "@accountlink/http/for_pages";
import { formTo, type html } from "../html.ts";

export const isGiven = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Returns the session or scope that the query names; null if it names none, or a parameter is repeated or malformed. */
export const entryOf = ({ query }: RequestContext): FlowEntry | null => {
  const { sid, pid, guildId, redirect } = query;
  if ([sid, pid, guildId, redirect].some((value) => Array.isArray(value))) return null;
  if (isGiven(sid)) return { sid };
  if (!isGiven(pid) || (isGiven(guildId) && !isGuildId(guildId))) return null;
  return { pid, guildId: isGiven(guildId) ? guildId : null, redirect: isGiven(redirect) ? redirect : null };
};

/** Returns the query of the `/verify` link that opens this session or scope. */
export const queryOf = (entry: FlowEntry): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(entry)) if (typeof value === "string") query.set(name, value);
  return query.toString();
};

/** The address that begins the proof of an account by a sign-in. */
export const startPath = (proof: ProofStep, { entry }: FlowView): string =>
  `/verify/${proof}/start?${queryOf(entry)}`;

/** Makes a form of the flow from a template of its content. */
export const form = (action: string, { sid }: FlowView): typeof html =>
  formTo(action, sid === null ? {} : { sid });
